"""Hashes of the code a reward really uses.

A reward's code is its file and every local file it imports, directly or through others. Each is hashed as
a syntax tree without positions, so comments and layout do not count, nor does the version of Python that parses it;
docstrings do not count either, unless one of the files reads `__doc__`. The built-in rewards count as code where a file
imports them, installed packages by their version. Imports are found as Python finds them: the standard library,
installed packages and this product go before a file of the same name. Not covered: data files that the code reads, a
module whose name it computes, and what installed packages import themselves.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.packages import OUR_PACKAGES, find, version_of


def digest(value: Any) -> str:
    """BLAKE2b-128 of a JSON-like value, as 32 hex digits; equal for equal values whatever the order of keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=repr, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class _Import:
    """One imported module: `level` dots before it, its dotted name, and the names taken from it."""

    level: int
    parts: tuple[str, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Code:
    """What a file says: the digest of its code, what it imports, and whether it reads docstrings."""

    digest: str
    imports: tuple[_Import, ...]
    reads_docs: bool = False


@dataclass(frozen=True)
class _Used:
    """Everything a reward's file uses.

    `files`: files of the user's, and whether each is local or elsewhere on the search path; `packages`: installed
    top-level modules; `ours`: modules of our own.
    """

    files: dict[Path, bool]
    packages: frozenset[str]
    ours: frozenset[str]


def local_files(path: Path, root: Path, *, dotted: bool = False) -> list[Path]:
    """`path` and all files below `root` or beside it that it imports, sorted; imports inside functions count too.

    With `dotted` it is imported by its dotted name from `root`, so that the packages on the way count.
    """
    return [file for file, local in _used(path, root, dotted).files.items() if local]


def _used(path: Path, root: Path, dotted: bool) -> _Used:
    bases = dict.fromkeys([root.resolve(), path.resolve().parent])
    found: dict[Path, bool] = {}
    packages: set[str] = set()
    ours: set[str] = set()
    pending = [(path.resolve(), True)]
    if dotted and path.resolve().is_relative_to(root.resolve()):
        names = path.resolve().relative_to(root.resolve()).with_suffix("").parts
        pending += [(file, True) for file in _resolve(names, root.resolve())]
    while pending:
        current, local = pending.pop()
        if current in found:
            continue
        found[current] = local
        for one in _imports_of(current):
            if one.level:
                base = current.parents[min(one.level, len(current.parents)) - 1]
                pending += [(file, local) for file in _files_of(one, base)]
                continue
            if not one.parts:
                continue
            top = one.parts[0]
            module = find(top)
            if module is None:
                pending += [(file, True) for base in bases for file in _files_of(one, base)]
            elif top in OUR_PACKAGES:
                ours |= set(_our_files(one))
            elif module.installed:
                packages.add(top)
            elif module.folder is not None:  # on the search path, but no package: other code of the user's
                beside = module.folder in bases
                pending += [(file, beside) for file in _files_of(one, module.folder)]
    return _Used(dict(sorted(found.items())), frozenset(packages), frozenset(ours))


def _imports_of(path: Path) -> tuple[_Import, ...]:
    try:
        return _read(path).imports
    except OSError:  # what is not there imports nothing
        return ()


def _files_of(one: _Import, base: Path) -> list[Path]:
    files = _resolve(one.parts, base)
    for name in one.names:
        files += _resolve((*one.parts, name), base)
    return files


def _resolve(parts: Sequence[str], base: Path) -> list[Path]:
    """Files that importing the dotted name `parts` from `base` runs: packages on the way and the module."""
    files: list[Path] = []
    folder = base
    for part in parts:
        package = folder / part / "__init__.py"
        module = folder / f"{part}.py"
        if package.is_file():
            files.append(package.resolve())
        elif module.is_file():
            files.append(module.resolve())
            break
        elif not (folder / part).is_dir():
            break
        folder = folder / part
    return files


def _our_files(one: _Import) -> Iterator[str]:
    """The modules of `rewards` that an import of ours uses; marks and credits change no score."""
    dotted = ".".join(one.parts)
    for name in (dotted, *(f"{dotted}.{name}" for name in one.names)):
        if name == "rewards.library" or name.startswith("rewards.library."):
            yield "library"
        elif name == "rewards.completion_text" or name.startswith("rewards.contract"):
            yield "contract.py"
        elif name.startswith(("rewards.groups", "rewards.sandbox")):
            yield "library"  # which rests on them


def code_digest(path: Path) -> str:
    """Digest of a file's code without comments, layout and (unless read) docstrings; of its bytes if unparsable."""
    return _read(path).digest


def _read(path: Path) -> _Code:
    return _read_text(path.read_bytes())


@functools.lru_cache(maxsize=512)
def _read_text(content: bytes) -> _Code:
    """By the text itself: a copy may keep both the time and the size of the file that it replaces."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return _Code(hashlib.blake2b(content, digest_size=16).hexdigest(), ())
    imports = tuple(_imports(tree))
    reads_docs = any(map(_names_docs, ast.walk(tree)))
    if not reads_docs:
        _drop_docstrings(tree)
    return _Code(digest(_plain(tree)), imports, reads_docs)


@functools.lru_cache(maxsize=64)
def _with_docs(content: bytes) -> str:
    """The digest of a text whose docstrings another file may read."""
    try:
        return digest(_plain(ast.parse(content)))
    except (SyntaxError, ValueError, RecursionError):
        return hashlib.blake2b(content, digest_size=16).hexdigest()


def _names_docs(node: ast.AST) -> bool:
    """Whether a node may give somebody's docstring."""
    if isinstance(node, (ast.Attribute, ast.Name)):
        return _name(node) in ("__doc__", "getdoc")
    if isinstance(node, ast.alias):
        return node.name in ("__doc__", "getdoc")
    return isinstance(node, ast.Constant) and node.value == "__doc__"


def _imports(tree: ast.Module) -> Iterator[_Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _Import(0, tuple(alias.name.split(".")))
        elif isinstance(node, ast.ImportFrom):
            parts = tuple(node.module.split(".")) if node.module else ()
            yield _Import(node.level, parts, tuple(alias.name for alias in node.names))
        elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)) and node.args:
            called, first = _name(node.func), node.args[0]
            if called in ("import_module", "__import__") and isinstance(first, ast.Constant):
                dotted = str(first.value)
                if dotted and not dotted.startswith("."):
                    yield _Import(0, tuple(dotted.split(".")))


def _plain(tree: ast.Module) -> list[str]:
    """A syntax tree as words that are the same in every version of Python that can parse it.

    A newer Python gives nodes new fields, which are empty for code that an older one reads too; so empty fields are
    left out. The context of a name and the prefix `u` say nothing that its place does not say. `ascii`, because which
    characters `repr` shows as they are depends on the version too.
    """
    words: list[str] = []
    pending: list[Any] = [tree]  # no recursion: a long sum is a deep tree
    while pending:
        item = pending.pop()
        if isinstance(item, ast.Constant):
            words.append(f"={type(item.value).__name__} {item.value!a}")
        elif isinstance(item, ast.AST):
            words.append(f"({type(item).__name__}")
            pending.append(")")
            for name in reversed(item._fields):
                value = getattr(item, name, None)
                if name == "values" and isinstance(item, ast.JoinedStr):
                    value = _folded(item.values)
                if name not in _SILENT and value is not None and value != []:
                    pending += [value, f".{name}"]
        elif isinstance(item, list):
            words.append("[")
            pending += ["]", *reversed(item)]
        else:
            words.append(str(item))
    return words


def _folded(values: list[ast.expr]) -> list[ast.expr]:
    """The parts of an f-string with neighbouring texts as one: versions of Python cut them in different places."""
    folded: list[ast.expr] = []
    for value in values:
        last = folded[-1] if folded else None
        if isinstance(value, ast.Constant) and isinstance(last, ast.Constant):
            folded[-1] = ast.Constant(str(last.value) + str(value.value))
        elif not (isinstance(value, ast.Constant) and value.value == ""):
            folded.append(value)
    return folded


_SILENT = ("ctx", "type_comment", "type_ignores")


def _name(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def _drop_docstrings(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:] or [ast.Pass()]


def code_fingerprint(path: Path, root: Path, *, dotted: bool = False) -> dict[str, str]:
    """What a reward's file uses: `{file relative to root: digest}` for local files, `{package: version}` for installed
    ones, and the files of the built-in rewards where it imports them. `dotted` as for `local_files`.
    """
    root = root.resolve()
    used = _used(path, root, dotted)
    prints: dict[str, str] = {}
    docs = any(_read(file).reads_docs for file in used.files if file.is_file())
    for file in used.files:
        inside = file.is_relative_to(root)
        label = file.relative_to(root).as_posix() if inside else f"../{file.parent.name}/{file.name}"
        prints[label] = _with_docs(file.read_bytes()) if docs else code_digest(file)
    if "library" in used.ours:
        prints |= library_fingerprint()
    elif used.ours:
        prints |= _digests_of(LIBRARY.parent / name for name in sorted(used.ours))
    return prints | module_versions(used.packages)


def module_versions(modules: Iterable[str]) -> dict[str, str]:
    """`{package: version}` for installed top-level modules; one without a version stands for itself."""
    found = ((name, version_of(name)) for name in sorted(modules) if _is_package(name))
    return dict(known if known is not None else (name, "") for name, known in found)


def _is_package(name: str) -> bool:
    module = find(name)
    return module is not None and module.folder is not None


LIBRARY = Path(__file__).resolve().parent / "library"
_LIBRARY_RESTS_ON = ("contract.py", "credits.py", "groups.py", "marks.py", "sandbox")
_LIBRARY_IMPORTS = ("jsonschema", "math_verify", "rapidfuzz")


def library_fingerprint() -> dict[str, str]:
    """`{file: digest}` of the built-in rewards and what they rest on, with the versions of the packages they import.

    By the bytes of the files: they are not the user's to lay out, and reading fifty syntax trees takes longer than
    scoring. Each member stands for all, since importing one imports the others.
    """
    places = (LIBRARY, *(LIBRARY.parent / name for name in _LIBRARY_RESTS_ON))
    files = [
        file for place in places for file in (sorted(place.rglob("*.py")) if place.is_dir() else (place,))
    ]
    return _digests_of(files) | module_versions(_LIBRARY_IMPORTS)


def _digests_of(files: Iterable[Path]) -> dict[str, str]:
    base = LIBRARY.parent.parent
    return {
        file.relative_to(base).as_posix(): hashlib.blake2b(file.read_bytes(), digest_size=16).hexdigest()
        for file in files
    }


def package_versions(packages: Iterable[str]) -> dict[str, str]:
    """`{package: version}` of the installed ones among `packages`."""
    import importlib.metadata  # late: it takes longer than all the rest here

    versions: dict[str, str] = {}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions
