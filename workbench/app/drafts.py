"""Drafts: what was typed and not yet saved, kept on disk outside the project.

A draft lies in the user's state folder (`$XDG_STATE_HOME/reward-workbench/drafts`), so that a read-only project
folder, a killed server or a closed tab loses nothing. It remembers the digest of the file it was begun from;
when the file has changed since, the app asks instead of choosing.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from rewards.errors import UsageError
from rewards.manifest import write_text


@dataclass(frozen=True)
class Draft:
    """Unsaved text of one file; `base` is the digest of the file's content when the draft was begun."""

    text: str
    base: str
    saved_at: float


def digest(text: str) -> str:
    """A short name for a text's content.

    >>> digest("x") == digest("x"), digest("x") == digest("y")
    (True, False)
    """
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def state_folder() -> Path:
    """Where this user's drafts are kept."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "reward-workbench" / "drafts"


class Drafts:
    """The drafts in `folder`, one small JSON file each, named after the edited file's path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _place(self, path: Path) -> Path:
        name = hashlib.blake2b(str(path).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
        return self.folder / f"{path.stem}-{name}.json"

    def read(self, path: Path) -> Draft | None:
        """The draft of `path`; None where there is none or it cannot be read."""
        try:
            found = json.loads(self._place(path).read_text(encoding="utf-8"))
            return Draft(str(found["text"]), str(found["base"]), float(found["saved_at"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, path: Path, text: str, base: str) -> None:
        """Keep `text` as the draft of `path`, whole or not at all.

        Raises:
            UsageError: the state folder cannot be written.
        """
        place = self._place(path)
        found = {"path": str(path), "text": text, "base": base, "saved_at": time.time()}
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise UsageError(f"drafts cannot be kept in {self.folder}: {error.strerror}") from error
        write_text(place, json.dumps(found, ensure_ascii=True))

    def drop(self, path: Path) -> None:
        """Forget the draft of `path`."""
        try:
            self._place(path).unlink(missing_ok=True)
        except OSError:
            return  # a read-only state folder held no draft of this session
