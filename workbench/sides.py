"""The two sides of a comparison.

Targets as they are, kept versions (`@1`), git revisions (`REV:path`, `REV`); from Python functions too.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rewards.errors import TargetError
from rewards.targets import MANIFEST, Target, parse_target
from workbench.difference import FileChange
from workbench.inline import Functions, named, source_of
from workbench.revisions import Repository
from workbench.versions import Code, Versions, data_note, put_back, read_code, target_text


@dataclass(frozen=True)
class Side:
    """One side: how it is called, the target to load, its code (None: installed), whether it is the `present` one.

    `note` is what a reader of its scores has to know, "" for nothing.
    """

    label: str
    target: str
    code: Code | None
    present: bool = False
    note: str = ""


@contextlib.contextmanager
def open_sides(old: str, new: str) -> Iterator[tuple[Side, Side]]:
    """Make both sides loadable; what had to be put back is gone afterwards.

    A side that names no place (`@1`, `HEAD~1`) means the target of the other side, and where that names none
    either, the project of the current folder.

    Raises:
        TargetError: a side names nothing; one sentence.
        ManifestError: a manifest cannot be read.
    """
    targets = [_present(text) for text in (old, new)]
    anchor = targets[1] or targets[0]
    sides = []
    with contextlib.ExitStack() as stack:
        for text, target in zip((old, new), targets, strict=True):
            if target is not None:
                sides.append(Side(text, target.text, read_code(target), present=True))
                continue
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="reward-workbench-diff-"))
            put_into = _version if text.startswith("@") else _revision
            sides.append(put_into(text, anchor, Path(folder).resolve()))
        yield sides[0], sides[1]


def _present(text: str) -> Target | None:
    """The target as it is now; None for a version or revision."""
    if text.startswith("@"):
        return None
    left, colon, _ = text.partition(":")
    if colon and not Path(left).exists() and _repository_with(left) is not None:
        return None
    try:
        return parse_target(text)
    except TargetError:
        if colon and not text.startswith(left + "::"):
            return None
        if Path(left).suffix == ".py" or Path(left).exists():
            raise  # meant as a file or folder: its own sentence is the better one
        return None


def _repository_with(revision: str) -> Repository | None:
    repository = Repository.around(Path.cwd())
    return repository if repository is not None and repository.commit(revision) else None


def _anchor(anchor: Target | None, text: str) -> Target:
    if anchor is not None:
        return anchor
    if Path(MANIFEST).is_file():
        return parse_target(".")
    raise TargetError(
        f"'{text}' names no file: name a target on the other side, or start in a project's folder"
    )


def _version(text: str, anchor: Target | None, into: Path) -> Side:
    if anchor is None:
        anchor = parse_target(".") if Path(MANIFEST).is_file() else None
    root = anchor.root if anchor is not None else Path.cwd()
    present = read_code(anchor) if anchor is not None else None
    versions = Versions(root)
    version = versions.find(text, present.version if present else None)
    place = put_back(versions.read(version), into, root)
    name = anchor.name if anchor is not None and anchor.kind == "file" else None
    target = target_text(place, version.target, name)
    label = f"{version.label} of {version.at[:16].replace('T', ' ')}"
    return Side(label, target, read_code(parse_target(target)), note=data_note(version, root))


def _revision(text: str, anchor: Target | None, into: Path) -> Side:
    revision, colon, path = text.partition(":")
    path, function, name = path.partition("::")
    if not colon:
        meant = _anchor(anchor, text)
        where = meant.path if meant.kind != "module" else None
        if where is None:
            raise TargetError(f"'{text}': {meant.text} is no file; write {text}:PATH")
        folder, name = where.parent, meant.name or ""
        function = "::" if name else ""
    else:
        folder, where = Path.cwd(), None
    repository = Repository.around(folder)
    commit = repository.commit(revision) if repository is not None else None
    if repository is None or commit is None:
        raise TargetError(
            f"'{text}' is no target, no kept version (@1) and no git revision (REV or REV:path) here"
        )
    below = _below(repository, commit, path) if where is None else _relative(repository, where, text)
    if not repository.has(commit, below):
        raise TargetError(f"revision {revision} has no {below}")
    if repository.is_folder(commit, below):
        below = below / MANIFEST
        if not repository.has(commit, below):
            raise TargetError(f"revision {revision} has no {below}")
    files = repository.files(commit, below.parent)
    place = put_back(files, into, repository.top / below.parent)
    target = target_text(place, below.name, name or None)
    return Side(f"{revision}:{below}{function}{name}", target, read_code(parse_target(target)))


def _below(repository: Repository, commit: str, path: str) -> PurePosixPath:
    """A path as written after `REV:`: from the current folder, else from the repository's top as in git."""
    here = os.path.normpath(Path.cwd().resolve() / path)
    if Path(here).is_relative_to(repository.top):
        found = PurePosixPath(Path(here).relative_to(repository.top))
        if repository.has(commit, found):
            return found
    return PurePosixPath(os.path.normpath(path) if path else "")


def _relative(repository: Repository, where: Path, text: str) -> PurePosixPath:
    if not where.is_relative_to(repository.top):
        raise TargetError(f"'{text}': {where} is not in the repository {repository.top}")
    return PurePosixPath(where.relative_to(repository.top))


def code_changes(old: Code | None, new: Code | None) -> list[FileChange]:
    """The files that differ, as unified diffs; the main files are compared whatever their names."""
    before, after = (dict(code.files) if code is not None else {} for code in (old, new))
    pairs: list[tuple[str, str]] = []
    if old is not None and new is not None and old.target != new.target and new.target not in before:
        pairs.append((old.target, new.target))
    done = {path for pair in pairs for path in pair}
    pairs += [(path, path) for path in sorted({*before, *after} - done)]
    changes = []
    for left, right in pairs:
        one, other = before.get(left, b""), after.get(right, b"")
        if one != other:
            was, now = one.decode("utf-8", "replace"), other.decode("utf-8", "replace")
            changes.append(FileChange(right, unified(was, now, left, right)))
    return changes


def called(side: Functions | str | Path) -> str:
    """How a side given from Python is called: by its target, else by the names of its functions."""
    return str(side) if isinstance(side, (str, Path)) else ", ".join(named(side))


def given_changes(old: Functions | str | Path, new: Functions | str | Path) -> list[FileChange]:
    """What differs in the code of sides given from Python, where both are targets or both are functions."""
    if isinstance(old, (str, Path)) and isinstance(new, (str, Path)):
        return code_changes(read_code(parse_target(old)), read_code(parse_target(new)))
    if isinstance(old, (str, Path)) or isinstance(new, (str, Path)):
        return []
    before, after = named(old), named(new)
    pairs = [(name, name) for name in dict.fromkeys([*after, *before])]
    if len(before) == len(after) == 1:
        pairs = list(zip(before, after, strict=True))
    changes = []
    for left, right in pairs:
        was, now = (
            source_of(side[name]) if name in side else "" for name, side in ((left, before), (right, after))
        )
        if was != now:
            changes.append(FileChange(right, unified(was, now, left, right)))
    return changes


def unified(before: str, after: str, old: str, new: str) -> str:
    """A unified diff of two texts under these names."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="")
    return "\n".join(lines)
