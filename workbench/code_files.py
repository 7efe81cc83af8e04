"""The local files behind a reward set, each read once for one scoring, and what their text says.

What is read of a text is kept by the text itself, never by a file's time or size: a copy that keeps both would pass
for the file it replaced.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.machinery
import os
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from rewards.code_slices import (
    HARMLESS_CALLS,
    CodeSlice,
    Imported,
    code_slice,
    imports_of,
    last_name,
    names_in,
    words,
)
from rewards.packages import USER_FOLDERS
from workbench.shared_objects import depths_of
from workbench.state_keeping import State, changed_names, kept_state

_READING = words(
    "open read read_text read_bytes readlines splitlines Path resolve joinpath load loads get getenv now time "
    "getLogger print strip split sorted next iter enumerate zip map filter items keys values array compile"
)
"""Calls that read or make something and reach into no other module."""


@dataclass(frozen=True)
class Part:
    """What some names need of a file: its code, the digest of that, and the imports that run with it."""

    code: CodeSlice
    digest: str
    used: tuple[Imported, ...]
    unused: tuple[Imported, ...]
    inside: tuple[Imported, ...]
    names: frozenset[str]


@dataclass(frozen=True)
class Place:
    """Where an import leads: `packages` run on the way, `modules` are what is named, `attribute` is left of a name."""

    packages: tuple[Path, ...] = ()
    modules: tuple[Path, ...] = ()
    attribute: str | None = None
    unknown: bool = False


@functools.lru_cache(maxsize=512)
def tree_of(content: bytes) -> ast.Module:
    """The syntax tree of a text; nobody changes it. SyntaxError or ValueError where it has none."""
    return ast.parse(content)


@functools.lru_cache(maxsize=2048)
def part_of(content: bytes, names: frozenset[str] | None) -> Part:
    """What these names need of a text; None: all of it."""
    found = code_slice(tree_of(content), names)
    text = found.text().encode("utf-8", "surrogatepass")
    used = set(found.modules) if names is None else set(found.imports.values())
    used |= {what for what in found.modules if what.attribute == "*"}
    inside = [
        what
        for statement in found.statements
        for node in ast.walk(statement)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for _, what in imports_of(node)
    ]
    return Part(
        code=found,
        digest=hashlib.blake2b(text, digest_size=16).hexdigest(),
        used=tuple(sorted(used, key=repr)),
        unused=tuple(sorted({*found.modules} - used, key=repr)),
        inside=tuple(inside),
        names=frozenset(name for statement in found.statements for name in names_in(statement)),
    )


@functools.lru_cache(maxsize=512)
def depths_in(content: bytes) -> Mapping[str, float]:
    """The depth (`workbench.shared_objects`) of every name of a text."""
    return depths_of(tree_of(content).body)


@functools.lru_cache(maxsize=512)
def changed_in(content: bytes) -> Mapping[str, int]:
    """The names that functions of a text change while they run, with a line of each."""
    return changed_names(tree_of(content))


@functools.lru_cache(maxsize=512)
def imports_in(content: bytes) -> tuple[tuple[str, Imported], ...]:
    """Every import of a text, those inside functions too, with the name it binds."""
    return tuple(
        bound
        for node in ast.walk(tree_of(content))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for bound in imports_of(node)
    )


@functools.lru_cache(maxsize=2048)
def state_in(
    content: bytes, names: frozenset[str] | None, imported: frozenset[tuple[str, float]]
) -> State | None:
    """The first sign of state in a part of a text, with the depths of what it imports."""
    return kept_state(part_of(content, names).code, dict(imported))


@functools.lru_cache(maxsize=512)
def reaches_out(content: bytes) -> bool:
    """Whether loading the text may change other modules, as far as its module-level code says."""
    own = {one.name for one in tree_of(content).body if isinstance(one, (ast.FunctionDef, ast.ClassDef))}
    return any(_reaches_out(statement, own) for statement in part_of(content, frozenset()).code.statements)


def _reaches_out(statement: ast.stmt, own: Collection[str]) -> bool:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        # only a decorator, a base class or a default value of it runs
        return bool(statement.decorator_list) or isinstance(statement, ast.ClassDef)
    for node in ast.walk(statement):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.Call):
            name = last_name(node.func)
            if name in own or name not in HARMLESS_CALLS | _READING:
                return True
    return False


# ------------------------------------------------------------------------------------------------ files on disk


class Files:
    """The local files of a set in the folder `root`, each read once."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.abspath(root))
        self._contents: dict[Path, bytes | None] = {}
        self._places: dict[tuple[Imported, Path], Place | None] = {}
        self._tops: dict[str, bool | None] = {}

    @property
    def paths(self) -> list[Path]:
        """The files that were read."""
        return [path for path, content in self._contents.items() if content is not None]

    def content(self, path: Path) -> bytes | None:
        """The bytes of a file; None where it cannot be read or is no Python."""
        if path not in self._contents:
            try:
                found: bytes | None = path.read_bytes()
                tree_of(found or b"")
            except (OSError, SyntaxError, ValueError):
                found = None
            self._contents[path] = found
        return self._contents[path]

    def place(self, what: Imported, folder: Path) -> Place | None:
        """Where an import by a file of `folder` leads; None where it is none of the local files."""
        key = (what, folder)
        if key not in self._places:
            self._places[key] = self._find(what, folder)
        return self._places[key]

    def _find(self, what: Imported, folder: Path) -> Place | None:
        parts = what.module.split(".") if what.module else []
        if what.level:
            base = folder
            for _ in range(what.level - 1):
                base = base.parent
            found = _below(base, parts, what.attribute)
            own = base / "__init__.py"
            if found is None or not own.is_file():
                return found
            if not parts and not found.modules:
                return Place((), (own,), what.attribute, found.unknown)
            return Place((own, *found.packages), found.modules, found.attribute, found.unknown)
        elsewhere = self._is_elsewhere(parts[0])
        if elsewhere:
            return None
        # the search path has the folders in the order in which files were loaded: both are looked into
        both = [_below(base, parts, what.attribute) for base in dict.fromkeys([folder, self.root])]
        places = [place for place in both if place is not None]
        if not places:
            return None
        return Place(
            tuple(path for place in places for path in place.packages),
            tuple(path for place in places for path in place.modules),
            places[0].attribute if len({place.attribute for place in places}) == 1 else None,
            elsewhere is None or any(place.unknown for place in places),
        )

    def _is_elsewhere(self, top: str) -> bool | None:
        """Whether a module comes from the standard library or is installed; None: other code of the user's may."""
        if top not in self._tops:
            self._tops[top] = self._search(top)
        return self._tops[top]

    def _search(self, top: str) -> bool | None:
        if top in sys.stdlib_module_names or top == "rewards":
            return True
        path = [entry for entry in sys.path if entry not in USER_FOLDERS]
        try:
            found = importlib.machinery.PathFinder.find_spec(top, path)
        except (ImportError, ValueError):
            return None
        if found is None or not found.origin or not found.has_location:
            return False
        origin = Path(found.origin)
        if {"site-packages", "dist-packages"} & set(origin.parts):
            return True
        return False if Path(os.path.realpath(origin)).is_relative_to(os.path.realpath(self.root)) else None

    def depths(self, code: CodeSlice, folder: Path) -> frozenset[tuple[str, float]]:
        """The depth of what a slice imports from local files, by the name it has there."""
        found: dict[str, float] = {}
        for name, what in code.imports.items():
            place = self.place(what, folder)
            for module in place.modules if place is not None else ():
                content = self.content(module)
                inner = depths_in(content) if content is not None else {}
                if place is not None and place.attribute is not None and place.attribute != "*":
                    found[name] = max(found.get(name, 0), inner.get(place.attribute, 0))
                else:
                    base = (
                        what.module if what.attribute is None and name == what.module.split(".")[0] else name
                    )
                    found |= {f"{base}.{one}": depth for one, depth in inner.items()}
        return frozenset(found.items())


def _below(base: Path, parts: list[str], attribute: str | None) -> Place | None:
    """What importing a dotted name runs below a folder, as Python looks for it: a package before a module."""
    packages: list[Path] = []
    module: Path | None = None
    folder: Path | None = base
    for part in parts:
        if folder is None:
            return None
        module, folder, unknown = _one(folder, part)
        if unknown:
            return Place(unknown=True)
        if module is None and folder is None:
            return None
        if module is not None and folder is not None:
            packages.append(module)
    if attribute not in (None, "*") and folder is not None:
        inner, _, unknown = _one(folder, str(attribute))
        if unknown:
            return Place(unknown=True)
        if inner is not None:
            return Place(tuple(packages), (inner,))
    if module is None:
        return Place(tuple(packages)) if packages or (parts and attribute is None) else None
    return Place(tuple(path for path in packages if path != module), (module,), attribute)


def _one(folder: Path, part: str) -> tuple[Path | None, Path | None, bool]:
    """The file of one name in a folder, the folder where it is a package, and whether it is no Python text."""
    place = folder / part
    package = place / "__init__.py"
    if package.is_file():
        return package, place, False
    if any(os.path.exists(f"{place}{end}") for end in importlib.machinery.EXTENSION_SUFFIXES):
        return None, None, True
    module = folder / f"{part}.py"
    if module.is_file():
        return module, None, False
    return None, place if place.is_dir() else None, False
