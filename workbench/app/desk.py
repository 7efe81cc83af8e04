"""One visitor's desk: the text in the editor, the run it started, and the last good board.

A desk is a small state machine around one background thread. Every change of the text starts a new run and ends
the old one; the board of the last run that worked stays, marked stale, while the newest text is broken. Whoever
watches waits for `version` to move on.
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rewards.errors import RewardWorkbenchError, UsageError
from rewards.manifest import read_manifest, update_reward
from workbench.app.checking import Checking
from workbench.app.comparing import Comparing, keep_version
from workbench.app.drafts import digest
from workbench.app.engine import Engine
from workbench.app.generating import Generating
from workbench.app.leash import Stopped
from workbench.app.project_files import mirror, read_source, save_source
from workbench.app.shelf import Shelf, Source
from workbench.app.shown import Shown, base_after, dressed
from workbench.app.view.board import Board
from workbench.app.view.problems import board_problems, load_problem, sample_problems
from workbench.app.view.rows import View, order
from workbench.app.watched import Watched
from workbench.app.weighing import Weighing
from workbench.opening import planned_group_size
from workbench.waiving import add_waiver

PATIENCE_S = 0.4
"""Seconds an explanation may keep the next one waiting before it is ended."""

MAX_GUESTS = 40
"""Rows of no file that are shown at a time; of more, the oldest go."""

log = logging.getLogger(__name__)


@dataclass
class Sheet:
    """One file on the desk: the text being edited and what is known of the file itself."""

    text: str
    disk: str  # digest of the file's content as last seen
    placed: int = 0  # counts texts that came from elsewhere than the editor, which the editor must take over
    conflict: bool = False

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        return digest(self.text) != self.disk


class Desk(Watched):
    """See the module's docstring; every public method may be called from any thread.

    Whoever reads several attributes that belong together holds `lock` meanwhile. `engine` scores what is edited, the
    `other` what it is compared with.
    """

    def __init__(self, key: str, shelf: Shelf, engine: Engine, other: Engine) -> None:
        super().__init__()
        self.key = key
        self.shelf = shelf
        self.engine = engine
        self.file = shelf.project.files[0]
        self.run = 0
        self.status = "running"  # running | scored | broken | nothing
        self.progress: tuple[int, str] | None = None
        self.problem: dict[str, Any] | None = None
        self.notice: str | None = None
        self.shown: Shown | None = None
        self._wake = threading.Condition(self.lock)
        self._wanted = 0
        self._behind = False  # the text moved on without a run
        self._explaining = threading.Lock()
        self._order = lru_cache(maxsize=8)(self._make_order)
        self.source: Source = shelf.source()
        self.weighing = Weighing()
        self._base: Board | None = None
        self._edition = 0
        self.sheets = {file: self._sheet(file) for file in shelf.project.files}
        self._seen = shelf.stamps(self.source)
        self.checking = Checking(self.touch)
        self.comparing = Comparing(other, self.touch)
        self.generating = Generating(self.touch)
        self._thread = threading.Thread(target=self._work, name=f"desk-{key}", daemon=True)
        self._thread.start()
        self.start_run()

    # ---------------------------------------------------------------- text

    def _sheet(self, file: str) -> Sheet:
        path = self.shelf.project.path(file)
        try:
            text = read_source(path)
        except UsageError as error:
            self.notice = str(error)
            return Sheet("", digest(""))
        draft = self.shelf.drafts.read(path)
        if draft is None or digest(draft.text) == digest(text):
            return Sheet(text, digest(text))
        return Sheet(draft.text, digest(text), conflict=draft.base != digest(text))

    def open(self, file: str) -> None:
        """Put another file of the project under the editor."""
        with self.lock:
            self.shelf.project.path(file)
            self.file = file
            self._changed()

    def edit(
        self, file: str, text: str, *, run: bool = True, force: bool = False, base: str | None = None
    ) -> int:
        """Take the editor's text, keep it as a draft, and score it; returns the number of the run.

        An unchanged text starts no run unless `force`. `base` is the digest of the file the text was written
        on; where the file is another by now, the draft is marked as in conflict with it.
        """
        with self.lock:
            sheet = self._known(file)
            same = text == sheet.text
            if not same:
                sheet.text = text
                sheet.conflict = sheet.dirty and (sheet.conflict or base not in (None, sheet.disk))
                self._keep_draft(file, sheet)
            if run and (not same or force or self._behind):
                return self.start_run()
            self._behind = self._behind or not same
            self._changed()
            return self.run

    def save(self, file: str, text: str, *, force: bool = False) -> str | None:
        """Write the text to the user's file; None when done, else the sentence that says why not.

        With `force` a file that changed on disk meanwhile is overwritten.
        """
        with self.lock:
            sheet = self._known(file)
            path = self.shelf.project.path(file)
            if text != sheet.text:
                sheet.text = text
                self.start_run()
            kept = self._keep_draft(file, sheet)
            self._look_at(file, sheet)
            if sheet.conflict and not force:
                self._changed()
                return f"{file} was changed by another program since you began; nothing was written"
            try:
                save_source(path, text)
            except RewardWorkbenchError as error:
                self._changed()
                return f"{error}. " + (
                    "Your text is kept as a draft." if kept else "Your text is only in this tab."
                )
            sheet.disk, sheet.conflict = digest(text), False
            self.shelf.drafts.drop(path)
            self._seen = self.shelf.stamps(self.source)
            if self.shown is not None and self._is_saved(self.shown.sources):
                self._base = self.shown.board.reweighted({})
                self.shown = replace(self.shown, saved=True)
                self._dress()
            self._changed()
            return None

    def take_file(self, file: str) -> None:
        """Drop the draft: the text becomes what is in the file."""
        with self.lock:
            sheet = self._known(file)
            text = read_source(self.shelf.project.path(file))
            sheet.text, sheet.disk, sheet.conflict = text, digest(text), False
            sheet.placed += 1
            self.shelf.drafts.drop(self.shelf.project.path(file))
            self.start_run()

    def keep_draft(self, file: str) -> None:
        """Settle a conflict in favour of the draft; the file is overwritten when it is saved."""
        with self.lock:
            self._known(file).conflict = False
            self._changed()

    def look_at_disk(self) -> None:
        """Take over what other programs changed: files without a draft at once, samples and helpers by a new run."""
        stamps = self.shelf.stamps(self.source)
        with self.lock:
            if stamps == self._seen:
                return
            moved = {
                path for path in stamps.keys() | self._seen.keys() if stamps.get(path) != self._seen.get(path)
            }
            self._seen = stamps
            if moved == {self.shelf.labels}:
                self._take_labels()
                return
            for file, sheet in self.sheets.items():
                if self.shelf.project.path(file) in moved:
                    self._look_at(file, sheet)
            self.start_run()

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
            sheet.text = text
            sheet.placed += 1
        else:
            sheet.conflict = sheet.dirty

    def _known(self, file: str) -> Sheet:
        self.shelf.project.path(file)
        return self.sheets[file]

    def _keep_draft(self, file: str, sheet: Sheet) -> bool:
        path = self.shelf.project.path(file)
        if not sheet.dirty:
            self.shelf.drafts.drop(path)
            return True
        try:
            self.shelf.drafts.write(path, sheet.text, sheet.disk)
        except RewardWorkbenchError as error:
            self.notice = f"Drafts are not kept: {error}. Keep this tab open until you have saved."
            return False
        self.notice = None
        return True

    def _is_saved(self, sources: Mapping[str, str]) -> bool:
        return all(digest(text) == self.sheets[file].disk for file, text in sources.items())

    # ---------------------------------------------------------------- weights

    def weigh(self, weighing: Weighing) -> None:
        """Add the scores up anew under other weights; nothing is scored again."""
        with self.lock:
            self.weighing = weighing
            self._dress()
            self._changed()

    def keep_weights(self) -> list[str]:
        """Write the typed weights into the manifest, comments kept; the rewards that were changed.

        Raises:
            UsageError: there is no manifest to write them to, or nothing to write.
            ManifestError: it cannot be read or written.
        """
        target = self.shelf.project.target
        with self.lock:
            shown = self.require_shown()
            own = {column.name: column.declared_weight for column in shown.board.columns}
            new = {n: w for n, w in self.weighing.typed.items() if n in own and w != own[n]}
            if target.kind != "project":
                raise UsageError(
                    "there is no rewardset.toml to keep weights in; write @reward(weight=...) in the file"
                )
            if not new:
                raise UsageError("all weights are as the manifest has them")
            for name, weight in new.items():
                update_reward(target.path, name, weight=weight)
            typed = {name: weight for name, weight in self.weighing.typed.items() if name not in new}
            self.weighing = replace(self.weighing, typed=typed)
            self._seen = self.shelf.stamps(self.source)
            self.start_run()
            return sorted(new)

    def waive(self, check: str, reward: str | None, reason: str) -> None:
        """Accept what a check found, with a reason, in the manifest.

        Raises:
            UsageError: there is no manifest, or no reason.
            ManifestError: it cannot be read or written.
        """
        target = self.shelf.project.target
        if target.kind != "project":
            raise UsageError(
                "there is no rewardset.toml to write the waiver in; make one, or repair the reward"
            )
        add_waiver(target.path, check, reward, reason)
        with self.lock:
            self._seen = self.shelf.stamps(self.source)  # a waiver changes no score
        self.checking.waived(check, reward, " ".join(reason.split()))

    # ---------------------------------------------------------------- rows

    def use(self, source: Source) -> None:
        """Take the rows from elsewhere and score them."""
        with self.lock:
            self.source = source
            self._base = None
            self._seen = self.shelf.stamps(source)
            self.start_run()

    def show_guest(self, record: Mapping[str, Any]) -> None:
        """Show a row that is in no file, behind all others; it is gone when other rows are opened."""
        guest = json.dumps(record, sort_keys=True)
        guests = [kept for kept in self.source.guests if kept != guest]
        self.use(replace(self.source, guests=(*guests, guest)[-MAX_GUESTS:]))

    def say(self, row: int, *, label: str | None, expected: Mapping[str, float | None] | None) -> None:
        """Keep a label or expected scores of a row of the shown board.

        Raises:
            UsageError: no such row, nothing said, or it cannot be written.
        """
        with self.lock:
            self.require_shown()
            self.shelf.say(self.source, row, label=label, expected=expected)
            self._take_labels()

    def unsay(self, row: int) -> None:
        """Drop what was said of a row."""
        with self.lock:
            self.require_shown()
            self.shelf.unsay(self.source, row)
            self._take_labels()

    def keep_row(self, prompt: Any, completion: Any, columns: Mapping[str, Any], label: str | None) -> None:
        """Keep a completion that is in no sample file, and score it with the others."""
        with self.lock:
            self.shelf.keep_row(self.source, prompt, completion, columns, label)
            self._take_labels()

    def _take_labels(self) -> None:
        """Take over what is said of the rows; a new run only where rows came or went."""
        self._seen = self.shelf.stamps(self.source)
        try:
            rows = self.shelf.rows(self.source)
        except RewardWorkbenchError:
            self.start_run()  # which tells what is wrong
            return
        shown = self.shown
        if shown is None or rows.samples.ids != shown.rows.samples.ids or self.status == "running":
            self.start_run()
            return
        self.shown = replace(shown, rows=rows)
        self._dress()
        self._changed()

    def _dress(self) -> None:
        """Give the board the weights in force, what is said of its rows, and what changed since the saved file."""
        if self.shown is None:
            return
        self._edition += 1
        board = dressed(self.shown, self.weighing, self._base)
        self.shown = replace(self.shown, board=board, edition=self._edition)
        self._order.cache_clear()

    # ---------------------------------------------------------------- runs

    def start_run(self) -> int:
        """End what runs and score the current texts; returns the number of the new run."""
        with self.lock:
            self.run += 1
            self._wanted = self.run
            self.status, self.progress, self._behind = "running", None, False
            self.engine.stop()
            self._changed()
            self._wake.notify_all()
            return self.run

    def _work(self) -> None:
        done = 0
        while True:
            with self.lock:
                while self._wanted == done and not self._closed:
                    self._wake.wait()
                if self._closed:
                    return
                done = self._wanted
                sources = {file: sheet.text for file, sheet in self.sheets.items()}
            self._one_run(done, sources)

    def _one_run(self, run: int, sources: Mapping[str, str]) -> None:
        try:
            shown, problem = self._score(run, sources)
            if shown is None and self.shown is None and (saved := self._saved()) != sources:
                shown, _ = self._score(run, saved)  # a broken draft on a good file: its scores, marked stale
        except Stopped:
            return
        except Exception:  # a fault of ours must not leave the page waiting for ever
            log.exception("run %d failed", run)
            text = "Reward Workbench itself failed; the terminal it was started in shows the traceback"
            shown, problem = None, load_problem(text, self.file)
        self._publish(run, shown, problem)

    def _score(self, run: int, sources: Mapping[str, str]) -> tuple[Shown | None, dict[str, Any] | None]:
        started = time.perf_counter()
        folder = self.shelf.scratch / f"{self.key}-{run}"
        shown = None
        try:
            rows = self.shelf.rows(self.source)
            mirror(self.shelf.project.root, sources, folder)
            target = self.shelf.project.in_mirror(folder)
            board = self.engine.score(target, rows.samples, lambda *step: self._progress(run, step))
            shown = Shown(run, board, time.perf_counter() - started, folder, target, sources, rows)
        except RewardWorkbenchError as error:
            return None, load_problem(self._real_paths(str(error), folder), self.file)
        finally:
            if shown is None:
                shutil.rmtree(folder, ignore_errors=True)
        return shown, None

    def _saved(self) -> dict[str, str]:
        """The files as they are on disk, those that cannot be read as they are on the desk."""
        found = {}
        for file, sheet in self.sheets.items():
            try:
                found[file] = read_source(self.shelf.project.path(file))
            except UsageError:
                found[file] = sheet.text
        return found

    def _progress(self, run: int, step: tuple[int, str]) -> None:
        with self.lock:
            if run == self._wanted:
                self.progress = step
                self._changed()

    def _publish(self, run: int, shown: Shown | None, problem: dict[str, Any] | None) -> None:
        with self.lock:
            if run != self._wanted:  # a newer text is waiting; the board of this one is not what is asked for
                old = shown
            else:
                old = None
                if shown is not None:
                    old, self.shown = self.shown, replace(shown, saved=self._is_saved(shown.sources))
                    self._base = base_after(self._base, old, self.shown)
                    self._dress()
                self.progress, self.problem = None, problem
                self.status = "scored" if problem is None else "broken"
                self._changed()
        if old is not None:
            shutil.rmtree(old.folder, ignore_errors=True)
        if shown is not None and self._is_saved(shown.sources):
            keep_version(self)

    def own_words(self, sentence: str) -> str:
        """A sentence without the places of temporary folders."""
        return re.sub(rf"{re.escape(str(self.shelf.scratch))}/[^/\s]*/?", "", sentence)

    def _real_paths(self, sentence: str, folder: Path) -> str:
        return sentence.replace(f"{folder}/", "").replace(str(folder), str(self.shelf.project.root))

    # ---------------------------------------------------------------- reading

    @property
    def stale(self) -> bool:
        """Whether the shown scores are of another text than the one in the editor, and no run is under way."""
        return self.shown is not None and (self.status == "broken" or self._behind)

    def rows(self, view: View) -> tuple[Shown, NDArray[np.intp]]:
        """The shown board and its rows in the order of `view`.

        Raises:
            UsageError: nothing has been scored yet.
        """
        with self.lock:
            shown = self.require_shown()
            return shown, self._order(shown.edition, view)

    def _make_order(self, edition: int, view: View) -> NDArray[np.intp]:
        assert self.shown is not None
        assert self.shown.edition == edition
        return order(self.shown.board, view)

    def require_shown(self) -> Shown:
        """The last good result.

        Raises:
            UsageError: nothing has been scored yet.
        """
        if self.shown is None:
            raise UsageError("nothing has been scored yet")
        return self.shown

    def group_size(self) -> int | None:
        """Completions of a prompt in the training that the manifest plans; None where it plans none."""
        target = self.shelf.project.target
        try:
            return planned_group_size(read_manifest(target.path) if target.kind == "project" else None)
        except RewardWorkbenchError:
            return None  # the manifest is broken just now, which the run says

    def explain(self, row: int) -> tuple[Shown, Mapping[str, Any]]:
        """The partial credit of a row of the shown board, made once and kept; runs the rewards in a worker.

        Raises:
            UsageError: no such row.
            Stopped: the text changed meanwhile.
        """
        shown = self.require_shown()
        if not 0 <= row < len(shown.board):
            raise UsageError(f"there is no row {row}")
        if row in shown.explained:
            return shown, shown.explained[row]
        if not self._explaining.acquire(timeout=PATIENCE_S):
            self.engine.stop_explaining()  # a row that hangs must not keep the next one waiting
            self._explaining.acquire()
        try:
            shown.explained[row] = self.engine.explain(shown.target, shown.rows.samples, row)
        finally:
            self._explaining.release()
        return shown, shown.explained[row]

    def problems(self) -> list[dict[str, Any]]:
        """The diagnostics of the newest text and, where it runs, of its rows."""
        if self.status == "broken" and self.problem is not None:
            return [self.problem]
        found = [] if self.shown is None else board_problems(self.shown.board, self.file)
        return found + sample_problems(self.shelf.skipped(self.source))

    def mirrored(self, name: str) -> str:
        """The target with the texts of the desk, laid out in a folder of this desk that is called `name`."""
        with self.lock:
            sources = {file: sheet.text for file, sheet in self.sheets.items()}
        folder = self.shelf.scratch / f"{self.key}-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        mirror(self.shelf.project.root, sources, folder)
        return self.shelf.project.in_mirror(folder)

    def drop_mirror(self, name: str) -> None:
        """Remove what `mirrored` laid out."""
        shutil.rmtree(self.shelf.scratch / f"{self.key}-{name}", ignore_errors=True)

    @property
    def is_busy(self) -> bool:
        """Whether checks or a generation are under way, which its end would cut short."""
        return "running" in (self.checking.state, self.generating.state)

    def close(self) -> None:
        """End the desk's thread and processes; drafts stay."""
        with self.lock:
            self._closed = True
            self._changed()
            self._wake.notify_all()
        self.engine.close()
        self.checking.close()
        self.comparing.close()
        self.generating.close()
        self._thread.join(timeout=5)
