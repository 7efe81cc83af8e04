"""Hashes of the code a reward really uses.

A reward's code is its file and every local file it imports, directly or through others. Each is hashed as
a syntax tree without positions, so comments and layout do not count; docstrings do not count either, unless
a file reads `__doc__`. Code of installed packages counts by the package's version.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def digest(value: Any) -> str:
    """BLAKE2b-128 of a JSON-like value, as 32 hex digits; equal for equal values whatever the order of keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=repr, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def local_files(path: Path, root: Path) -> list[Path]:
    """`path` and all files below `root` or beside it that it imports, sorted; imports inside functions count too."""
    found: set[Path] = set()
    pending = [path.resolve()]
    root = root.resolve()
    folder = path.resolve().parent
    while pending:
        current = pending.pop()
        if current in found:
            continue
        found.add(current)
        tree = _parse(current)
        if tree is not None:
            for base in {root, folder}:
                pending += _imports(tree, current, base)
    return sorted(found)


def _parse(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def _imports(tree: ast.Module, path: Path, root: Path) -> list[Path]:
    files: list[Path] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                files += _resolve(alias.name.split("."), root)
        elif isinstance(node, ast.ImportFrom):
            base = root
            if node.level:
                base = path.parent
                for _ in range(node.level - 1):
                    base = base.parent
            parts = node.module.split(".") if node.module else []
            files += _resolve(parts, base)
            for alias in node.names:
                files += _resolve([*parts, alias.name], base)
    return files


def _resolve(parts: list[str], base: Path) -> list[Path]:
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


def code_digest(path: Path) -> str:
    """Digest of a file's code without comments, layout and (unless read) docstrings; of its bytes if unparsable."""
    stat = path.stat()
    return _code_digest(path, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=512)
def _code_digest(path: Path, _modified: int, _size: int) -> str:
    tree = _parse(path)
    if tree is None:
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    reads_doc = any(
        isinstance(node, (ast.Attribute, ast.Name)) and _name(node) == "__doc__" for node in ast.walk(tree)
    )
    if not reads_doc:
        _drop_docstrings(tree)
    return digest(ast.dump(tree, include_attributes=False))


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


def code_fingerprint(path: Path, root: Path) -> dict[str, str]:
    """`{file relative to root: digest}` for a reward's file and its local imports.

    A file of an installed package stands as the package's name and version.
    """
    root = root.resolve()
    prints: dict[str, str] = {}
    for file in local_files(path, root):
        label = file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name
        prints[label] = code_digest(file)
    return prints


LIBRARY = Path(__file__).resolve().parent / "library"
_LIBRARY_RESTS_ON = ("contract.py", "credits.py", "marks.py", "sandbox")


def library_fingerprint() -> dict[str, str]:
    """`{file: digest}` of the built-in rewards and what they rest on, for a checkout of this project.

    By the bytes of the files: they are not the user's to lay out, and reading fifty syntax trees takes longer than
    scoring. Each member stands for all, since importing one imports the others.
    """
    package = LIBRARY.parent
    places = (LIBRARY, *(package / name for name in _LIBRARY_RESTS_ON))
    files = [
        file for place in places for file in (sorted(place.rglob("*.py")) if place.is_dir() else (place,))
    ]
    return {
        file.relative_to(package.parent).as_posix(): hashlib.blake2b(
            file.read_bytes(), digest_size=16
        ).hexdigest()
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
