"""The project as the app edits it: which files, what is on disk, and a copy in which a draft stands in.

A draft is scored without touching the user's file: `mirror` makes a folder that looks like the project,
everything in it a link to the real thing except the edited files, which hold the text from the editor.
"""

from __future__ import annotations

import importlib.machinery
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rewards.errors import TargetError, UsageError
from rewards.manifest import read_manifest, write_text
from rewards.targets import MANIFEST, Target, parse_target

MAX_FILES = 40
MAX_SOURCE = 2_000_000


@dataclass(frozen=True)
class ProjectFiles:
    """An opened target: `files` are the editable files, relative to `root`, the first one shown first.

    `read_as`: have samples read as "chat" or "text"; "": as the manifest says.
    """

    target: Target
    root: Path
    files: tuple[str, ...]
    samples: tuple[Path, ...]
    name: str
    read_as: str = ""

    def path(self, file: str) -> Path:
        """The real path of one of `files`.

        Raises:
            UsageError: `file` is none of them.
        """
        if file not in self.files:
            raise UsageError(f"{file!r} is not a file of this project")
        return self.root / file

    def in_mirror(self, folder: Path) -> str:
        """The same target inside a mirror made at `folder`."""
        if self.target.kind == "project":
            return str(folder)
        name = f"::{self.target.name}" if self.target.name else ""
        return f"{folder / self.files[0]}{name}"


def open_project(target: str | Path, samples: Sequence[Path] = ()) -> ProjectFiles:
    """Take a target apart for editing, without running any of it; `samples` win over the manifest's.

    Raises:
        TargetError, ManifestError: there is nothing to open.
    """
    found = parse_target(target)
    if found.kind == "module":
        found = parse_target(f"{_module_file(str(found.module))}::{found.name}")
    if found.kind == "file":
        place = found.path
        return ProjectFiles(found, place.parent, (place.name,), tuple(samples), place.name)
    manifest = read_manifest(found.path)
    named = [entry.function.partition("::")[0] for entry in manifest.reward]
    sources = [
        name for name in dict.fromkeys(named) if name.endswith(".py") and (found.root / name).is_file()
    ]
    inside = [name for name in sources if _is_inside(found.root, name)]
    beside = sorted(path.name for path in found.root.glob("*.py") if not path.name.startswith("."))
    files = tuple(dict.fromkeys([*inside, *beside]))[:MAX_FILES]
    if not files:
        raise TargetError(f"{found.path} names no Python file in its folder, so there is nothing to edit")
    paths = tuple(samples) or tuple(manifest.sample_paths)
    return ProjectFiles(found, found.root, files, paths, manifest.set.name or found.root.name)


def read_source(path: Path) -> str:
    """The text of a source file, line ends as `\\n`.

    Raises:
        UsageError: it cannot be read, is not UTF-8, or is no source file by its size.
    """
    try:
        if path.stat().st_size > MAX_SOURCE:
            raise UsageError(
                f"{path.name} is larger than {MAX_SOURCE // 1_000_000} MB, too large for the editor"
            )
        return path.read_text(encoding="utf-8")  # text mode reads every line end as \n
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name} is not UTF-8 text (byte {error.start}); convert it first") from error
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror}") from error


def save_source(path: Path, text: str) -> None:
    """Write `text` to the user's file, whole or not at all; line ends stay as they were in the file.

    Raises:
        UsageError: disk full, read-only folder ...; the old file is unchanged.
    """
    path = path.resolve()
    try:
        with path.open("rb") as file:
            windows = b"\r\n" in file.read(65536)
    except OSError:
        windows = False
    write_text(path, text.replace("\n", "\r\n") if windows else text)


def mirror(root: Path, texts: Mapping[str, str], folder: Path) -> None:
    """Make `folder` look like `root`, with the files of `texts` (relative names) holding these texts.

    The manifest is copied, because a link to it would lead whoever resolves it back to `root`.

    Raises:
        UsageError: the temporary folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        own = {Path(name) for name in texts}
        _link(root, folder, Path(), own)
        if (root / MANIFEST).is_file():
            shutil.copyfile(root / MANIFEST, folder / MANIFEST)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", errors="surrogatepass")
    except OSError as error:
        raise UsageError(f"the draft cannot be laid out in {folder}: {error.strerror}") from error


def _link(root: Path, folder: Path, below: Path, own: set[Path]) -> None:
    """Link what is in `root / below`; folders on the way to one of `own` are made, not linked."""
    on_the_way = {parent for name in own for parent in name.parents}
    for entry in (root / below).iterdir():
        name = below / entry.name
        if name in own or name == Path(MANIFEST) or entry.name == "__pycache__":
            continue
        if name in on_the_way:
            (folder / name).mkdir(exist_ok=True)
            _link(root, folder, name, own)
        elif not (folder / name).is_symlink():
            (folder / name).symlink_to(entry)


def _is_inside(root: Path, name: str) -> bool:
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and (root / path).is_file()


def _module_file(dotted: str) -> Path:
    """The file of an importable module, found without importing any package above it."""
    places: list[str] | None = [*sys.path, str(Path.cwd())]
    for part in dotted.split("."):
        spec = importlib.machinery.PathFinder.find_spec(part, places)
        if spec is None:
            raise TargetError(f"there is no module '{dotted}' to open")
        places = list(spec.submodule_search_locations or [])
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        raise TargetError(f"module '{dotted}' has no Python file to edit")
    return Path(spec.origin)
