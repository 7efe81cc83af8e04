"""Installed packages and their versions, told from the names of folders, without importing any of them.

`importlib.metadata` knows the same, but reading the files of every package takes a hundred times longer than
verifying a seal may. Packages on the search path of Python alone count: the folders of users' files, which loading
appends to it, are no place for packages.
"""

from __future__ import annotations

import functools
import importlib.machinery
import sys
from dataclasses import dataclass
from pathlib import Path

USER_FOLDERS: list[str] = []
"""The folders that loading has appended to `sys.path` at the moment."""

OUR_PACKAGES = ("rewards", "workbench", "trainer")
_OURS = Path(__file__).resolve().parent.parent
_SITES = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Module:
    """Where an importable top-level module is: `file` (None: built in, or a folder without code), `site` or not."""

    file: Path | None
    folder: Path | None
    installed: bool


def find(name: str) -> Module | None:
    """The top-level module that `import name` gives before the folders of users' files are searched; None for none.

    Modules of the standard library are installed without a file.
    """
    if name in OUR_PACKAGES:
        return Module(_OURS / name / "__init__.py", _OURS, True)
    if name in sys.stdlib_module_names or name in sys.builtin_module_names:
        return Module(None, None, True)
    path = tuple(entry for entry in sys.path if entry and entry not in USER_FOLDERS)
    return _find(name, path)


@functools.lru_cache(maxsize=1024)
def _find(name: str, path: tuple[str, ...]) -> Module | None:
    spec = importlib.machinery.PathFinder.find_spec(name, list(path))
    for finder in sys.meta_path if spec is None else ():
        # an editable install may bring a finder of its own
        if str(getattr(finder, "__module__", "")).startswith("__editable__"):
            spec = spec or finder.find_spec(name, None)
    if spec is None:
        return None
    file = Path(spec.origin).resolve() if spec.origin and spec.has_location else None
    places = list(spec.submodule_search_locations or ())
    if file is not None:
        folder = file.parent.parent if places else file.parent
    elif places:
        folder = Path(places[0]).resolve().parent
    else:
        return None
    return Module(file, folder, any(part in _SITES for part in folder.parts))


def version_of(name: str) -> tuple[str, str] | None:
    """The distribution that an installed top-level module belongs to, and its version; None where none says so.

    >>> version_of("numpy")[0], version_of("json") is None
    ('numpy', True)
    """
    module = find(name)
    if module is None or not module.installed or module.folder is None or name in OUR_PACKAGES:
        return None
    try:
        changed = module.folder.stat().st_mtime_ns
    except OSError:
        return None
    return _distribution(name, module.folder, changed)


@functools.lru_cache(maxsize=1024)
def _distribution(name: str, folder: Path, changed: int) -> tuple[str, str] | None:
    known = _distributions(folder, changed)
    own = known.get(_plain(name))
    if own is not None and (_top_level(folder / own, name) or _recorded(folder / own, name)):
        return _read_name(own)
    listed = (entry for entry in known.values() if _top_level(folder / entry, name))
    recorded = (entry for entry in known.values() if _recorded(folder / entry, name))
    found = next(listed, None) or next(recorded, None) or own
    return _read_name(found) if found is not None else None


@functools.lru_cache(maxsize=64)
def _distributions(folder: Path, changed: int) -> dict[str, str]:
    """The `NAME-VERSION.dist-info` folders there, by plain name."""
    entries = sorted(path.name for path in folder.glob("*.dist-info"))
    return {_plain(_read_name(entry)[0]): entry for entry in entries}


def _top_level(folder: Path, name: str) -> bool:
    return name in _text(folder / "top_level.txt").split()


def _recorded(folder: Path, name: str) -> bool:
    """Whether the list of a distribution's files has a top-level module; only where no shorter list is there."""
    if (folder / "top_level.txt").is_file():
        return False
    record = "\n" + _text(folder / "RECORD")
    return f"\n{name}/" in record or f"\n{name}.py," in record


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _read_name(entry: str) -> tuple[str, str]:
    name, _, version = entry.removesuffix(".dist-info").partition("-")
    return name.replace("_", "-"), version


def _plain(name: str) -> str:
    return name.replace("-", "_").replace(".", "_").lower()
