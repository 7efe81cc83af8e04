"""The part of its files that each reward uses, as digests, so that a change is told of the rewards it concerns.

A fingerprint covers whole files: an edit breaks the seal of every reward in them. Which of them it really concerns is
read from the code, without running it: the function, what it uses in its file, and what that imports from local files.
A name that is computed while the code runs is not seen, so this decides what is said, never whether a seal holds.
"""

from __future__ import annotations

import ast
from pathlib import Path

from rewards.code_slices import Imported, code_slice, imports_of
from rewards.fingerprint import digest

Part = frozenset[str] | None
"""Names used of a file; None: all of it."""


def code_parts(function: str, root: Path) -> dict[str, str]:
    """The digest of what a reward uses of each local file, by the file's path below `root`.

    {} where that cannot be read: a reward model, an installed module, a file that does not parse.

    Args:
        function: the reference of a manifest, `FILE.py::NAME` or `package.module:NAME`.
        root: the folder that it belongs to.
    """
    where, separator, name = function.partition("::")
    if separator:
        file: Path | None = (root / where).resolve()
    else:
        where, _, name = function.partition(":")
        file = _local(where.split("."), root)
    if file is None or not name:
        return {}
    wanted: dict[Path, Part] = {file: frozenset([name.partition(".")[0]])}
    if not separator:
        wanted |= dict.fromkeys(_packages(where.split(".")[:-1], root), frozenset())
    done: dict[Path, Part] = {}
    found: dict[str, str] = {}
    while wanted:
        path, names = wanted.popitem()
        if path in done:
            if done[path] is None or (names is not None and names <= (done[path] or frozenset())):
                continue
            names = None if names is None else names | (done[path] or frozenset())
        done[path] = names
        try:
            part = code_slice(ast.parse(path.read_bytes()), names)
            text = part.text()
        except (OSError, SyntaxError, ValueError, RecursionError):
            return {}
        found[str(path)] = digest(text)
        inside = [
            what
            for statement in part.statements
            for node in ast.walk(statement)
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for _, what in imports_of(node)
        ]
        for what in [*part.imports.values(), *inside]:
            for other, taken in _of_import(what, path.parent, root):
                known = wanted.get(other, frozenset())
                wanted[other] = None if taken is None or known is None else known | taken
    return {_below(Path(path), root): part for path, part in sorted(found.items())}


def _of_import(what: Imported, folder: Path, root: Path) -> list[tuple[Path, Part]]:
    """The local files behind an import, with the names taken of each."""
    parts = [part for part in what.module.split(".") if part]
    bases = [folder, root]
    if what.level:
        bases = [folder if what.level == 1 else folder.parents[min(what.level, len(folder.parents)) - 2]]
    for base in bases:
        way = [
            (package, None if what.attribute is None else frozenset[str]())
            for package in _packages(parts, base)
        ]
        if what.attribute is not None:
            module = _local([*parts, what.attribute], base)
            if module is not None:
                return [*way, (module, None)]
        file = _local(parts, base) if parts else None
        if file is not None:
            star = what.attribute is None or what.attribute == "*"
            return [*way, (file, None if star else frozenset([str(what.attribute)]))]
    return []


def _packages(parts: list[str], base: Path) -> list[Path]:
    """The packages that run on the way to a dotted name."""
    ways = (base.joinpath(*parts[:end], "__init__.py") for end in range(1, len(parts) + 1))
    return [way.resolve() for way in ways if way.is_file()]


def _local(parts: list[str], base: Path) -> Path | None:
    place = base.joinpath(*parts)
    return next(
        (
            file.resolve()
            for file in (place / "__init__.py", place.with_suffix(".py"))
            if parts and file.is_file()
        ),
        None,
    )


def _below(path: Path, root: Path) -> str:
    resolved = root.resolve()
    return str(path.relative_to(resolved)) if path.is_relative_to(resolved) else path.name


__all__ = ["code_parts"]
