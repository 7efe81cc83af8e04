"""Versions of reward code: kept at every scoring, or read from git, and put back for a comparison.

A scoring keeps the files it ran in the project's `.workbench/`: each file once, under the digest of its bytes, and
a line for each version in `versions.jsonl`. The folder ignores itself in git, is small (the oldest versions go),
and is never needed: where it cannot be written nothing is kept, and it may be deleted at any time.

A version is put back into a temporary folder. What is not code (word lists, other data) is linked from the project
as it is now; of small data files whose names the code may make, a version has the digests, so that those that differ
from then can be told.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import importlib.util
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from rewards.errors import TargetError
from rewards.fingerprint import local_files
from rewards.manifest import read_manifest
from rewards.targets import MANIFEST, Target
from workbench.whole_files import write_whole

FOLDER = ".workbench"
KEPT = 200
"""Versions kept; of more, the oldest go."""

NOT_LINKED = frozenset([FOLDER, ".git", ".venv", "venv", "__pycache__", "runs", "node_modules"])

LARGEST_DATA = 1 << 20
"""Bytes of a data file whose digest is kept."""

MOST_DATA = 300
"""Data files of which digests are kept."""

_LOOKED_AT = 3_000
"""Entries of a project's folders among which they are looked for."""

SHOWN = 8
"""Digits of a version's name that are shown."""


@dataclass(frozen=True)
class Version:
    """One state of the code of a target.

    `id` names the content; `target` is the manifest or file by its path below the project; `files` maps each path
    to the digest of its content; `at` is when it was scored; `data` has the digests of data files then.
    """

    id: str
    target: str
    files: dict[str, str]
    at: str = ""
    data: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """How it is called in messages."""
        return f"@{self.id[:SHOWN]}"


@dataclass(frozen=True)
class Code:
    """The files of a target as they are now, by their paths below `root`; those in `made` are not on disk."""

    root: Path
    target: str
    files: Mapping[str, bytes]
    made: frozenset[str] = frozenset()

    @property
    def version(self) -> Version:
        """The version this code is, not yet kept."""
        files = {path: _digest(content) for path, content in sorted(self.files.items())}
        return Version(_digest(json.dumps([self.target, files]).encode()), self.target, files)

    def unchanged(self) -> bool:
        """Whether the files are still the same."""
        try:
            return all(
                (self.root / path).read_bytes() == content
                for path, content in self.files.items()
                if path not in self.made
            )
        except OSError:
            return False


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


# --------------------------------------------------------------------------------------- reading the code


def read_code(target: Target) -> Code | None:
    """The code of a target; None where it has no files of its own (an installed package).

    Raises:
        ManifestError: the manifest cannot be read.
        TargetError: a file of the target cannot be read.
    """
    paths = code_files(target)
    if not paths:
        return None
    root = target.root.resolve()
    try:
        files = {os.path.relpath(path, root): path.read_bytes() for path in paths}
    except OSError as error:
        raise TargetError(f"{error.filename} cannot be read: {error.strerror}") from error
    if target.kind == "module":  # importable only from its project, which a manifest makes of the folder
        files[MANIFEST] = f'[[reward]]\nfunction = "{target.module}:{target.name}"\n'.encode()
        return Code(root, MANIFEST, files, frozenset([MANIFEST]))
    return Code(root, os.path.relpath(paths[0], root), files)


def code_files(target: Target) -> list[Path]:
    """The manifest or the file of a target, then every local file that its rewards use; installed ones are left out."""
    if target.kind == "file":
        main = target.path.resolve()
        return [main, *(path for path in local_files(main, main.parent) if path != main)]
    if target.kind == "module":
        file = _module_file(str(target.module), target.root)
        if file is None:
            return []
        return [file, *(path for path in local_files(file, target.root, dotted=True) if path != file)]
    manifest = read_manifest(target.path)
    found: dict[Path, None] = {target.path.resolve(): None}
    for entry in manifest.reward:
        where, separator, _ = entry.function.partition("::")
        if separator:
            path: Path | None = (manifest.root / where).resolve()
        else:
            path = _module_file(entry.function.partition(":")[0], manifest.root)
        if path is not None and path.is_file():
            found.update(dict.fromkeys(local_files(path, manifest.root, dotted=not separator)))
    return list(found)


def _module_file(dotted: str, root: Path) -> Path | None:
    """The file of a module that lies in the project, None for one that is installed."""
    base = root.joinpath(*dotted.split("."))
    for file in (base.with_suffix(".py"), base / "__init__.py"):
        if file.is_file() and not _installed(dotted.partition(".")[0]):
            return file.resolve()
    return None


def _installed(package: str) -> bool:
    try:
        found = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return False
    return found is not None and "site-packages" in Path(found.origin or "").parts


# -------------------------------------------------------------------------------------------------- keeping


class Versions:
    """The versions kept in a project.

    Args:
        root: the project's folder.
    """

    def __init__(self, root: Path) -> None:
        self.folder = root / FOLDER
        self.list_file = self.folder / "versions.jsonl"
        self.code_folder = self.folder / "code"

    def keep(self, code: Code, *, now: datetime.datetime | None = None) -> Version | None:
        """Keep this code as the newest version; None where it cannot be written.

        Nothing is written where it is the newest version already, with the same data.
        """
        version = replace(code.version, data=data_digests(code))
        newest = next(iter(self.all()), None)
        if newest is not None and (newest.id, newest.data) == (version.id, version.data):
            return newest
        moment = now or datetime.datetime.now(datetime.UTC)
        version = replace(version, at=moment.isoformat(timespec="seconds"))
        try:
            make_folder(self.folder)
            for path, digest in version.files.items():
                if not self._place(digest).exists():
                    write_whole(self._place(digest), zlib.compress(code.files[path]))
            with self.list_file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(version), ensure_ascii=False) + "\n")
            self._prune()
        except OSError:
            return None
        return version

    def _place(self, digest: str) -> Path:
        return self.code_folder / digest[:2] / digest[2:]

    def all(self) -> list[Version]:
        """Every version, newest first; what is damaged is left out."""
        try:
            lines = self.list_file.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError):
            return []
        found = []
        for line in lines:
            with contextlib.suppress(ValueError, TypeError, AttributeError):
                version = Version(**json.loads(line))
                digests = [*version.files.values(), *version.data.values()]
                if all(isinstance(digest, str) for digest in digests):
                    found.append(version)
        return found[::-1]

    def of(self, present: Version | None) -> list[Version]:
        """The versions of one target, newest first, each content once; all there are where `present` is None.

        Those of a file are what was scored of it alone, and what was scored with a manifest that names it: of these
        only the files count that the reward uses now.
        """
        found: dict[object, Version] = {}
        for version in self.all():
            if present is None or version.target == present.target:
                own = present is not None and present.target != MANIFEST
                found.setdefault(_used(version, present) if own else version.id, version)
            elif version.target == MANIFEST and present.target in version.files:
                found.setdefault(_used(version, present), replace(version, target=present.target))
        return list(found.values())

    def find(self, text: str, present: Version | None = None) -> Version:
        """The version that `@2` or `@3fa9` names.

        `@1` is the newest version of the same target that differs from the `present` code, `@2` the one before it, and
        so on; else the digits a version's id begins with, of whatever target.

        Raises:
            TargetError: there is none, or several; the sentence lists what is kept.
        """
        wanted = text.removeprefix("@")
        distinct = self.of(present)
        if wanted.isdigit() and len(wanted) < 4:
            now = _used(present, present)
            earlier = [version for version in distinct if present is None or _used(version, present) != now]
            matching = earlier[int(wanted) - 1 : int(wanted)] if int(wanted) else []
        else:
            everything = {version.id: version for version in [*self.all()[::-1], *distinct]}.values()
            matching = [version for version in everything if wanted and version.id.startswith(wanted)]
        if len(matching) == 1:
            return matching[0]
        kept = ", ".join(
            f"{version.label} ({version.at[:16].replace('T', ' ')})" for version in distinct[:10]
        )
        problem = "is not kept" if not matching else "names several versions"
        of = f" of {present.target}" if present is not None else ""
        raise TargetError(
            f"version '{text}' {problem}: "
            + (
                f"kept{of} in {self.folder} are {kept}"
                if kept
                else f"there are none{of} yet in {self.folder}"
            )
        )

    def read(self, version: Version) -> dict[str, bytes]:
        """The files of a version.

        Raises:
            TargetError: a file of it is gone or damaged.
        """
        files = {}
        for path, digest in version.files.items():
            try:
                content = zlib.decompress(self._place(digest).read_bytes())
            except (OSError, zlib.error):
                content = b""
            if _digest(content) != digest:
                raise TargetError(f"version {version.label} is damaged: {path} of it is not in {self.folder}")
            files[path] = content
        return files

    def _prune(self) -> None:
        versions = self.all()
        if len(versions) <= KEPT:
            return
        kept = versions[: KEPT * 3 // 4][::-1]
        lines = "".join(json.dumps(asdict(version), ensure_ascii=False) + "\n" for version in kept)
        write_whole(self.list_file, lines.encode())
        used = {digest for version in kept for digest in version.files.values()}
        for file in self.code_folder.glob("*/*"):
            if file.parent.name + file.name not in used:
                file.unlink(missing_ok=True)


def _used(version: Version | None, present: Version | None) -> object:
    """What tells a version from others of the target: of a file, the files it uses now."""
    if version is None or present is None:
        return None
    if present.target == MANIFEST:
        return version.id
    return tuple((path, version.files.get(path)) for path in sorted(present.files))


def make_folder(folder: Path) -> None:
    """Make a project's `.workbench/`, which git ignores. OSError where that cannot be done."""
    folder.mkdir(exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        write_whole(ignore, b"# made by reward-workbench; may be deleted at any time\n*\n")


# ------------------------------------------------------------------------------------------------------ data


def data_digests(code: Code) -> dict[str, str]:
    """The digests of small files below the project that are no code and that the code may read, by their paths.

    It may read a file where its name, its ending or a folder it lies in occurs in the code.
    """
    text = b"\n".join(content for path, content in code.files.items() if path.endswith(".py"))
    found: dict[str, str] = {}
    looked_at = 0
    for folder, folders, names in os.walk(code.root):
        folders[:] = sorted(name for name in folders if name not in NOT_LINKED and not name.startswith("."))
        looked_at += len(folders) + len(names)
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), code.root)
            if path in code.files or not _may_read(path, text):
                continue
            digest = _data_digest(code.root / path)
            if digest is not None:
                found[path] = digest
        if looked_at > _LOOKED_AT or len(found) >= MOST_DATA:
            break
    return dict(list(found.items())[:MOST_DATA])


def _may_read(path: str, text: bytes) -> bool:
    place = Path(path)
    parts = [place.name, place.stem, place.suffix, *place.parts[:-1]]
    return place.suffix not in (".py", ".pyc") and any(part.encode() in text for part in parts if part)


def _data_digest(path: Path) -> str | None:
    try:
        return _digest(path.read_bytes()) if path.stat().st_size <= LARGEST_DATA else None
    except OSError:
        return None


def data_note(version: Version, root: Path) -> str:
    """Which data files of a project differ from those of a version; "" where none does."""
    other = [path for path, digest in sorted(version.data.items()) if _data_digest(root / path) != digest]
    if not other:
        return ""
    shown = ", ".join(other[:5]) + (f" and {len(other) - 5} more" if len(other) > 5 else "")
    differ = "differs" if len(other) == 1 else "differ"
    return f"{version.label}: data files are those of now; {shown} {differ} from then"


# ---------------------------------------------------------------------------------------------- putting back


def put_back(files: Mapping[str, bytes], into: Path, present: Path | None) -> Path:
    """Write code below a fresh folder and link what else the project has; returns the folder paths are below.

    A path may lead out of the project (`../shared.py`): the project then stands as deep in the folder as needed.

    Args:
        files: content by path below the project.
        into: an empty folder.
        present: the project as it is now, whose other files are linked; None: nothing is.

    Raises:
        TargetError: a path leads somewhere else.
    """
    depth = max((Path(path).parts.count("..") for path in files), default=0)
    root = into.joinpath(*[f"above{level}" for level in range(depth)], "project") if depth else into
    root.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        place = Path(os.path.normpath(root / path))
        if os.path.isabs(path) or not place.is_relative_to(into):
            raise TargetError(f"a version has a file outside its project: {path}")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    if present is not None and present.is_dir():
        _link_others(present, root)
    return root


def _link_others(present: Path, into: Path) -> None:
    """Link every entry of a folder that is not there yet; into folders that are there, go down."""
    with contextlib.suppress(OSError):
        for entry in sorted(present.iterdir()):
            place = into / entry.name
            if entry.name in NOT_LINKED or entry.suffix == ".py":
                continue
            if place.is_dir() and not place.is_symlink():
                _link_others(entry, place)
            elif not place.exists():
                place.symlink_to(entry)


def target_text(root: Path, target: str, name: str | None) -> str:
    """The target to load after `put_back`."""
    path = root / target
    return f"{path}::{name}" if name else str(path)
