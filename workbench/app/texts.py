"""The texts of a desk: what is typed, the file on disk, and what other tabs of the same person make of it.

Two desks on one file are two editors of one text: what is typed in one is taken by the other at once, as long as
that one has typed nothing of its own meanwhile. Where both have, each keeps its text and its draft, both are told,
and a person chooses; what is given up by that is put aside and can be put back. Nothing is merged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from rewards.errors import RewardWorkbenchError, UsageError
from workbench.app.drafts import ASIDE, digest
from workbench.app.project_files import read_source, save_source
from workbench.app.shelf import Shelf
from workbench.app.watched import Watched


@dataclass
class Sheet:
    """One file on the desk: the text being edited and what is known of the file itself.

    `placed` counts the texts that came from elsewhere than the editor, which the editor must take over. `other` is
    what another tab has made of the file while this one has a text of its own; `parted` says that both are meant to
    stay, so that nobody is asked again. `aside` is the text that was given up last.
    """

    text: str
    disk: str  # digest of the file's content as last seen
    placed: int = 0
    conflict: bool = False
    other: str | None = None
    parted: bool = False
    aside: str | None = None

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        return digest(self.text) != self.disk

    def place(self, text: str) -> None:
        """Take a text from elsewhere."""
        if text != self.text:
            self.text = text
            self.placed += 1
        self.other, self.parted = None, False

    def hear(self, text: str, before: str | None) -> bool:
        """Another tab has `text` now, which it made of `before`; whether it was taken over here.

        >>> sheet = Sheet("a", digest("a"))
        >>> sheet.hear("ab", "a"), sheet.text
        (True, 'ab')
        >>> sheet.text = "abc"
        >>> sheet.hear("abX", "ab"), sheet.text, sheet.other
        (False, 'abc', 'abX')
        """
        if text == self.text:
            self.other, self.parted = None, False
            return False
        if before == self.text:
            self.place(text)
            self.conflict = self.conflict and self.dirty  # a change on disk is no less there
            return True
        if digest(text) == self.disk or not self.dirty:
            self.other = None  # one of the two has nothing of its own
        elif not self.parted:
            self.other = text
        return False


class Texts(Watched, ABC):
    """See the module's docstring; `file` is the one under the editor. `start_run` scores the texts."""

    def __init__(self, key: str, shelf: Shelf) -> None:
        super().__init__()
        self.key = key
        self.shelf = shelf
        self.notice: str | None = None
        self.file = shelf.project.files[0]
        self.sheets = {file: self._sheet(file) for file in shelf.project.files}

    @abstractmethod
    def start_run(self) -> int:
        """Score the current texts."""

    @abstractmethod
    def _took_over(self) -> None:
        """Called when a text came from another desk: it is scored when somebody looks."""

    @abstractmethod
    def look_at_disk(self) -> None:
        """Take over what changed on disk."""

    @abstractmethod
    def _saved_now(self) -> None:
        """Called when a file was saved."""

    def _sheet(self, file: str) -> Sheet:
        path = self.shelf.project.path(file)
        try:
            text = read_source(path)
        except UsageError as error:
            self.notice = str(error)
            return Sheet("", digest(""))
        aside = self.shelf.drafts.own(path, self.key + ASIDE)
        sheet = Sheet(text, digest(text), aside=aside.text if aside else None)
        draft = self.shelf.drafts.read(path, self.key)
        if draft is not None and digest(draft.text) != digest(text):
            sheet.text, sheet.conflict = draft.text, draft.base != digest(text)
        return sheet

    def _known(self, file: str) -> Sheet:
        self.shelf.project.path(file)
        return self.sheets[file]

    # ---------------------------------------------------------------- typed here

    def _take_typed(
        self, file: str, text: str, *, base: str | None, placed: int | None
    ) -> tuple[bool, str | None]:
        """Take what the editor has: whether it is new, and the text it was made of.

        What the editor began before it had heard of a text from elsewhere is a text of its own beside that, made of
        nothing that others have.
        """
        sheet = self._known(file)
        before = sheet.text
        if text == before:
            return False, None
        late = placed is not None and placed != sheet.placed
        overtaken = late and not sheet.dirty  # the file was another when this was typed
        if late and sheet.dirty and not sheet.parted:
            sheet.other = before
        sheet.text = text
        sheet.conflict = sheet.dirty and (sheet.conflict or overtaken or base not in (None, sheet.disk))
        self._forget_aside(file, sheet)
        if self._keep_draft(file, sheet) and not late:
            self.shelf.drafts.drop_equal(self.shelf.project.path(file), before)
        return True, None if late else before

    def _keep_draft(self, file: str, sheet: Sheet) -> bool:
        path = self.shelf.project.path(file)
        if not sheet.dirty:
            self.shelf.drafts.drop(path, self.key)
            return True
        try:
            self.shelf.drafts.write(path, sheet.text, sheet.disk, self.key)
        except RewardWorkbenchError as error:
            self.notice = f"Drafts are not kept: {error}. Keep this tab open until you have saved."
            return False
        self.notice = None
        return True

    def save(self, file: str, text: str, *, force: bool = False, placed: int | None = None) -> str | None:
        """Write the text to the user's file; None when done, else the sentence that says why not.

        With `force` a file that changed on disk meanwhile is overwritten. `placed` is the `Sheet.placed` the text
        was typed on, as for `edit`: what another tab has made of the file since stays that tab's.
        """
        with self.lock:
            moved, before = self._take_typed(file, text, base=None, placed=placed)
            if moved:
                self.start_run()
            why = self._write(file, text, force=force)
            self._changed()
        if moved or why is None:
            self._tell_others(file, text, before)
        if why is None:
            for other in self.shelf.others(self):
                other.look_at_disk()
            self._retire_drafts(file)
        return why

    def _write(self, file: str, text: str, *, force: bool) -> str | None:
        """Write the text the desk has; the lock is held."""
        sheet, path = self._known(file), self.shelf.project.path(file)
        kept = self._keep_draft(file, sheet)
        self._look_at(file, sheet)
        moved = sheet.text != text  # there was nothing to save, and the file is another now
        if (sheet.conflict or moved) and not force:
            return f"{file} was {self.changed_by(file)} since you began; nothing was written"
        try:
            save_source(path, text)
        except RewardWorkbenchError as error:
            return f"{error}. " + (
                "Your text is kept as a draft." if kept else "Your text is only in this tab."
            )
        sheet.text, sheet.disk, sheet.conflict = text, digest(text), False
        sheet.other, sheet.parted = None, False
        self.shelf.saved[file] = sheet.disk
        self.shelf.drafts.drop(path, self.key)
        self.shelf.drafts.drop_equal(path, text)
        self._see_disk()
        self._saved_now()
        return None

    def _retire_drafts(self, file: str) -> None:
        """Once a file is saved, the texts of desks that are gone are put aside, lest every new desk begins with them.

        The newest is offered here. Nobody's lock may be held.
        """
        left = self.shelf.drafts.retire(self.shelf.project.path(file), self.shelf.is_there)
        with self.lock:
            sheet = self._known(file)
            if left is not None and left.text.strip() and sheet.aside is None:
                sheet.aside = left.text
                self._changed()

    @abstractmethod
    def _see_disk(self) -> None:
        """Take what is on disk now as seen."""

    def _is_saved(self, sources: Mapping[str, str]) -> bool:
        return all(digest(text) == self.sheets[file].disk for file, text in sources.items())

    # ---------------------------------------------------------------- from elsewhere

    def changed_by(self, file: str) -> str:
        """Who changed the file on disk, in words."""
        own = self.shelf.saved.get(file) == self._known(file).disk
        return "saved in another tab" if own else "changed by another program"

    def hear(self, file: str, text: str, before: str | None) -> None:
        """Another desk has this text now, made of `before`."""
        with self.lock:
            sheet = self._known(file)
            if sheet.hear(text, before):
                self.shelf.drafts.drop(self.shelf.project.path(file), self.key)
                self._took_over()
            self._changed()

    def _tell_others(self, file: str, text: str, before: str | None) -> None:
        """Tell the other desks; nobody's lock may be held, as each takes its own."""
        for other in self.shelf.others(self):
            other.hear(file, text, before)

    def _look_at(self, file: str, sheet: Sheet) -> None:
        try:
            text = read_source(self.shelf.project.path(file))
        except UsageError:
            return  # gone or half written; saving will say so
        if digest(text) == sheet.disk:
            return
        clean = not sheet.dirty
        sheet.disk = digest(text)
        if clean:
            sheet.place(text)
        else:
            sheet.conflict = sheet.dirty
            sheet.other, sheet.parted = None, False  # what is on disk is asked about, once

    # ---------------------------------------------------------------- choosing

    def take_file(self, file: str) -> None:
        """The text becomes what is in the file; the draft is put aside."""
        text = read_source(self.shelf.project.path(file))
        with self.lock:
            self._known(file).disk = digest(text)
        self._replace(file, text)

    def take_other(self, file: str) -> None:
        """The text becomes what another tab made of the file; this desk's own is put aside."""
        with self.lock:
            other = self._known(file).other
        if other is not None:
            self._replace(file, other)

    def put_back(self, file: str) -> None:
        """The text becomes again what was put aside, and what it was given up for is put aside."""
        with self.lock:
            aside = self._known(file).aside
        if aside is not None:
            self._replace(file, aside)

    def _replace(self, file: str, text: str) -> None:
        with self.lock:
            sheet = self._known(file)
            before = sheet.text
            kept = self._put_aside(file, sheet, text)
            sheet.place(text)
            sheet.placed += before == text  # the editor may have more than it had sent
            sheet.conflict = False
            if self._keep_draft(file, sheet) and kept and text != before:
                self.shelf.drafts.drop_equal(self.shelf.project.path(file), before)  # it was given up for all
            self.start_run()
        self._tell_others(file, text, before)

    def _put_aside(self, file: str, sheet: Sheet, instead: str) -> bool:
        """Keep the text that is given up; False where it could not be written."""
        if sheet.text == instead or not sheet.text.strip():
            return True
        path = self.shelf.project.path(file)
        sheet.aside = sheet.text
        try:
            self.shelf.drafts.write(path, sheet.text, sheet.disk, self.key + ASIDE)
        except RewardWorkbenchError as error:
            self.notice = f"Drafts are not kept: {error}. Keep this tab open until you have saved."
            return False
        return True

    def _forget_aside(self, file: str, sheet: Sheet) -> None:
        if sheet.aside is not None:
            sheet.aside = None
            self.shelf.drafts.drop(self.shelf.project.path(file), self.key + ASIDE)

    def drop_aside(self, file: str) -> None:
        """Forget the text that was put aside."""
        with self.lock:
            self._forget_aside(file, self._known(file))
            self._changed()

    def keep_draft(self, file: str) -> None:
        """Settle a conflict in favour of the text of this desk; a file is overwritten when it is saved."""
        with self.lock:
            sheet = self._known(file)
            sheet.parted = sheet.parted or sheet.other is not None
            sheet.conflict, sheet.other = False, None
            self._changed()
