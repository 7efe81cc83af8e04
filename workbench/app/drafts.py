"""Drafts: what was typed and not yet saved, kept on disk outside the project.

A draft lies in the user's state folder (`$XDG_STATE_HOME/reward-workbench/drafts`), so that a read-only project
folder, a killed server or a closed tab loses nothing. It remembers the digest of the file it was begun from;
when the file has changed since, the app asks instead of choosing. Every desk has a draft of its own of a file, so
that two tabs with different texts keep both.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rewards.errors import UsageError
from rewards.manifest import write_text

ASIDE = "-aside"
"""What the name of a desk ends with under which the text is kept that was given up there for another."""


@dataclass(frozen=True)
class Draft:
    """Unsaved text of one file; `base` is the digest of the file's content when the draft was begun.

    `by` is the desk that wrote it, "" for one that has no name.
    """

    text: str
    base: str
    saved_at: float
    by: str = ""


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
    """The drafts in `folder`, one small JSON file each, named after the edited file's path and the desk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _name(self, path: Path) -> str:
        name = hashlib.blake2b(str(path).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
        return f"{path.stem}-{name}"

    def _place(self, path: Path, by: str) -> Path:
        return self.folder / f"{self._name(path)}{f'.{by}' if by else ''}.json"

    def own(self, path: Path, by: str) -> Draft | None:
        """The draft of `path` that the desk `by` wrote; None where there is none or it cannot be read."""
        return _read(self._place(path, by), by)

    def read(self, path: Path, by: str = "") -> Draft | None:
        """The draft of `path` that `by` wrote, else the newest of all; None where there is none."""
        return self.own(path, by) or max(self._all(path), key=lambda draft: draft.saved_at, default=None)

    def _all(self, path: Path) -> list[Draft]:
        """What is edited of `path` on any desk; texts that were put aside are not among them."""
        start = self._name(path)
        try:
            names = [name for name in os.listdir(self.folder) if name.startswith(start)]
        except OSError:
            return []
        desks = [name.removeprefix(start).removesuffix(".json").removeprefix(".") for name in names]
        found = [
            _read(self.folder / name, by) for name, by in zip(names, desks, strict=True) if ASIDE not in by
        ]
        return [draft for draft in found if draft is not None]

    def write(self, path: Path, text: str, base: str, by: str = "") -> None:
        """Keep `text` as the draft of `path` on the desk `by`, whole or not at all.

        Raises:
            UsageError: the state folder cannot be written.
        """
        place = self._place(path, by)
        found = {"path": str(path), "text": text, "base": base, "saved_at": time.time()}
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise UsageError(f"drafts cannot be kept in {self.folder}: {error.strerror}") from error
        write_text(place, json.dumps(found, ensure_ascii=True))

    def drop(self, path: Path, by: str = "") -> None:
        """Forget the draft of `path` of the desk `by`."""
        try:
            self._place(path, by).unlink(missing_ok=True)
        except OSError:
            return  # a read-only state folder held no draft of this session

    def drop_equal(self, path: Path, text: str) -> None:
        """Forget the drafts of `path`, of whatever desk, that are this very text: it was gone on from, or saved."""
        for draft in self._all(path):
            if draft.text == text:
                self.drop(path, draft.by)

    def retire(self, path: Path, is_there: Callable[[str], bool]) -> Draft | None:
        """Put aside what desks have of `path` that are gone: no other desk finds it, but its own if it comes back.

        The newest of them; None where there is none.
        """
        gone = [draft for draft in self._all(path) if not is_there(draft.by)]
        for draft in gone:
            try:
                self._place(path, draft.by).replace(self._place(path, draft.by + ASIDE))
            except OSError:
                continue  # a read-only state folder, or it was dropped meanwhile
        return max(gone, key=lambda draft: draft.saved_at, default=None)


def _read(place: Path, by: str) -> Draft | None:
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
        return Draft(str(found["text"]), str(found["base"]), float(found["saved_at"]), by)
    except (OSError, ValueError, KeyError, TypeError):
        return None
