"""Files of a git revision, read with git's own plumbing; nothing is checked out and nothing of the repository runs."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rewards.errors import TargetError
from workbench.versions import NOT_LINKED

LARGEST = 1 << 20
"""Bytes of a file that is taken; larger ones are no code."""

MOST = 5_000
"""Files that are taken."""


@dataclass(frozen=True)
class Repository:
    """A git repository by the folder at its top."""

    top: Path

    @classmethod
    def around(cls, folder: Path) -> Repository | None:
        """The repository that a folder lies in; None where there is none, or no git."""
        answer = _git(folder, "rev-parse", "--show-toplevel")
        return cls(Path(answer.decode().rstrip("\n")).resolve()) if answer else None

    def commit(self, revision: str) -> str | None:
        """The commit that a revision names; None where it names none."""
        if revision.startswith("-"):
            return None
        answer = _git(
            self.top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        )
        return answer.decode().strip() if answer else None

    def has(self, commit: str, path: PurePosixPath) -> bool:
        """Whether there was a file or folder of this path (below the top)."""
        return _git(self.top, "cat-file", "-t", _object(commit, path)) is not None

    def is_folder(self, commit: str, path: PurePosixPath) -> bool:
        """Whether the path was a folder then."""
        return _git(self.top, "cat-file", "-t", _object(commit, path)) == b"tree\n"

    def files(self, commit: str, folder: PurePosixPath) -> dict[str, bytes]:
        """The files below a folder by their paths below it, as they were; large ones are left out.

        Raises:
            TargetError: there are too many of them.
        """
        below = [f"{folder}/"] if folder.parts else []
        listed = _git(self.top, "ls-tree", "-r", "-z", "-l", "--full-tree", commit, "--", *below) or b""
        wanted: dict[str, str] = {}
        for line in listed.decode("utf-8", "surrogateescape").split("\0"):
            facts, _, path = line.partition("\t")
            parts = facts.split()
            if len(parts) != 4 or parts[1] != "blob" or parts[0] == "120000":
                continue
            inside = PurePosixPath(path).relative_to(folder)
            if int(parts[3]) <= LARGEST and NOT_LINKED.isdisjoint(inside.parts):
                wanted[str(inside)] = parts[2]
        if len(wanted) > MOST:
            raise TargetError(
                f"{folder} has {len(wanted)} files in git, more than {MOST}: name a smaller folder"
            )
        return dict(zip(wanted, self._blobs(list(wanted.values())), strict=True))

    def _blobs(self, names: list[str]) -> list[bytes]:
        answer = (
            _git(self.top, "cat-file", "--batch", said="".join(f"{name}\n" for name in names).encode()) or b""
        )
        found, at = [], 0
        for _ in names:
            end = answer.index(b"\n", at)
            size = int(answer[at:end].split()[2])
            found.append(answer[end + 1 : end + 1 + size])
            at = end + size + 2
        return found


def _object(commit: str, path: PurePosixPath) -> str:
    return f"{commit}:{path}" if path.parts else f"{commit}^{{tree}}"


def _git(folder: Path, *arguments: str, said: bytes = b"") -> bytes | None:
    """What git answers, None where it refuses or is not installed."""
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", *arguments]
    try:
        done = subprocess.run(command, input=said, capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
