"""One visitor's desk: the text in the editor, the run it started, and the last good board.

A desk is a small state machine around one background thread. Every change of the text starts a new run and ends
the old one; the board of the last run that worked stays, marked stale, while the newest text is broken. Whoever
watches waits for `version` to move on.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
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
from workbench.app.checking import Checked, Checking
from workbench.app.comparing import Comparing, keep_version
from workbench.app.engine import Engine, Step
from workbench.app.generating import Generating
from workbench.app.leash import Stopped
from workbench.app.project_files import mirror, read_source
from workbench.app.shelf import Shelf, Source
from workbench.app.shown import NothingScored, Shown, base_after, dressed
from workbench.app.texts import Texts
from workbench.app.view.board import Board
from workbench.app.view.problems import board_problems, load_problem, sample_problems, stopped_problem
from workbench.app.view.rows import View, order
from workbench.app.weighing import Weighing
from workbench.labels import row_digest
from workbench.opening import planned_group_size
from workbench.waiving import add_waiver

WATCHED_S = 25.0
"""Seconds after which a desk that nobody asks for is not looked at; a tab on screen asks at least every 20."""

MAX_GUESTS = 40
"""Rows of no file that are shown at a time; of more, the oldest go."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Resting:
    """What is kept of a desk that made room for others, beside its drafts; scores are made anew from it."""

    shelf: Shelf
    file: str
    source: Source
    weighing: Weighing
    checked: Checked | None


class Desk(Texts):
    """See the module's docstring; every public method may be called from any thread.

    Whoever reads several attributes that belong together holds `lock` meanwhile. `engine` scores what is edited, the
    `other` what it is compared with.
    """

    def __init__(
        self, key: str, shelf: Shelf, engine: Engine, other: Engine, rest: Resting | None = None
    ) -> None:
        super().__init__(key, shelf)
        self.engine = engine
        self._prefix = f"{key}-{secrets.token_hex(4)}"  # of its folders: a later desk of this name has others
        self.run = 0
        self.status = "running"  # running | scored | broken | stopped
        self.progress: Step | None = None
        self._began = time.monotonic()
        self._halted = 0  # the run that was stopped by hand
        self.problem: dict[str, Any] | None = None
        self.shown: Shown | None = None
        self._wake = threading.Condition(self.lock)
        self._wanted = 0
        self._behind = False  # the text moved on without a run
        self._unseen = False  # it moved on in another tab while nobody looked
        self._order = lru_cache(maxsize=8)(self._make_order)
        self.source: Source = rest.source if rest else shelf.source()
        self.weighing = rest.weighing if rest else Weighing()
        self._base: Board | None = None
        self._edition = 0
        self._seen = shelf.stamps(self.source)
        self.checking = Checking(self.touch, rest.checked if rest else None)
        if rest is not None and rest.file in self.sheets:
            self.file = rest.file
        self.comparing = Comparing(other, self.touch)
        self.generating = Generating(self.touch)
        self._thread = threading.Thread(target=self._work, name=f"desk-{key}", daemon=True)
        self._thread.start()
        self.start_run()
        shelf.join(self)

    # ---------------------------------------------------------------- text

    def open(self, file: str) -> None:
        """Put another file of the project under the editor."""
        with self.lock:
            self.shelf.project.path(file)
            self.file = file
            self._changed()

    def edit(
        self,
        file: str,
        text: str,
        *,
        run: bool = True,
        force: bool = False,
        base: str | None = None,
        placed: int | None = None,
    ) -> int:
        """Take the editor's text, keep it as a draft, and score it; returns the number of the run.

        An unchanged text starts no run unless `force`. `base` is the digest of the file the text was written
        on, `placed` the `Sheet.placed` it was: where either is another by now, both texts are kept.
        """
        with self.lock:
            moved, before = self._take_typed(file, text, base=base, placed=placed)
            if run and (moved or force or self._behind):
                number = self.start_run()
            else:
                self._behind = self._behind or moved
                self._changed()
                number = self.run
        if moved:
            self._tell_others(file, text, before)
        return number

    def _took_over(self) -> None:
        if time.monotonic() - self.touched < WATCHED_S:
            self.start_run()
        else:
            self._unseen = True

    def look(self) -> None:
        """Somebody looks at this desk: what came from other tabs meanwhile is scored now."""
        self.touched = time.monotonic()
        with self.lock:
            if self._unseen:
                self.start_run()

    def _see_disk(self) -> None:
        self._seen = self.shelf.stamps(self.source)

    def _saved_now(self) -> None:
        """The texts on the desk are the files now: what is shown may be of the saved files by that."""
        if self.shown is not None and self._is_saved(self.shown.sources):
            self._base = self.shown.board.reweighted({})
            self.shown = replace(self.shown, saved=True)
            self._dress()

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
        """Accept what a check found, and what its finding speaks for, with a reason, in the manifest.

        Raises:
            UsageError: there is no manifest, or no reason.
            ManifestError: it cannot be read or written.
        """
        target = self.shelf.project.target
        if target.kind != "project":
            raise UsageError(
                "there is no rewardset.toml to write the waiver in; make one, or repair the reward"
            )
        codes = self.checking.spoken_for(check, reward)
        for code in codes:
            add_waiver(target.path, code, reward, reason)
        with self.lock:
            self._seen = self.shelf.stamps(self.source)  # a waiver changes no score
        self.checking.waived(codes, reward, " ".join(reason.split()))

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

    def say(
        self,
        row: int,
        *,
        label: str | None,
        expected: Mapping[str, float | None] | None,
        of: str | None = None,
    ) -> None:
        """Keep a label or expected scores of a row of the shown board; `of` is its digest where somebody saw it.

        Raises:
            UsageError: no such row, another by now, nothing said, or it cannot be written.
        """
        with self.lock:
            shown = self.shown_with(row, of)
            said = self.shelf.say(shown.rows, row, label=label, expected=expected)
            self.shown = replace(shown, rows=said)
            self._take_labels()

    def unsay(self, row: int, *, of: str | None = None) -> None:
        """Drop what was said of a row of the shown board; raises as `say` does."""
        with self.lock:
            self.shelf.unsay(self.shown_with(row, of).rows, row)
            self._take_labels()

    def shown_with(self, row: int, of: str | None) -> Shown:
        """The shown board, in which `row` still is the row with the digest `of`; None: whichever it is.

        Raises:
            UsageError: it is another, which came while the page had not heard of it.
        """
        shown = self.require_shown()
        samples = shown.rows.samples
        if of is not None and not (0 <= row < len(samples) and row_digest(samples, row) == of):
            raise UsageError(f"row {row} is another completion by now, so nothing was written; look again")
        return shown

    def keep_row(self, prompt: Any, completion: Any, columns: Mapping[str, Any], label: str | None) -> None:
        """Keep a completion that is in no sample file, and score it with the others."""
        with self.lock:
            self.shelf.keep_row(self.source, prompt, completion, columns, label)
            self._take_labels()

    def _take_labels(self) -> None:
        """Take over what is said of the rows shown; a new run only where rows came or went, or others are wanted."""
        stamps = self.shelf.stamps(self.source)  # of which the labels alone are taken over here
        self._seen = {**self._seen, **{path: stamps[path] for path in (self.shelf.labels,) if path in stamps}}
        rows = self.shelf.again(self.shown.rows) if self.shown is not None else None
        if self.shown is not None and rows is not None:
            self.shown = replace(self.shown, rows=rows)
        self._dress()
        self._changed()
        if rows is None or rows.source != self.source or self.status == "running":
            self.start_run()  # which tells where they cannot be read

    def _dress(self) -> None:
        """Give the board the weights in force, what is said of its rows, and what changed since the saved file."""
        if self.shown is None:
            return
        self._edition += 1
        board = dressed(self.shown, self.weighing, self._base).knowing(self.shown.board)
        self.shown = replace(self.shown, board=board, edition=self._edition)
        self._order.cache_clear()

    # ---------------------------------------------------------------- runs

    def start_run(self) -> int:
        """End what runs and score the current texts; returns the number of the new run."""
        with self.lock:
            self.run += 1
            self._wanted = self.run
            self.status, self.progress = "running", None
            self._behind = self._unseen = False
            self._began = time.monotonic()
            self.engine.stop()
            self._changed()
            self._wake.notify_all()
            return self.run

    def stop_run(self) -> None:
        """End the scoring under way and its processes, now; the scores shown before stay, marked stale."""
        with self.lock:
            if self.status != "running":
                return
            self._halted = self.run
            self.problem = stopped_problem(
                self.elapsed, self.progress, self.shown.run if self.shown else None
            )
            self.status, self.progress = "stopped", None
            self.engine.stop()
            self._changed()

    @property
    def elapsed(self) -> float:
        """Seconds since the run under way began."""
        return time.monotonic() - self._began

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
        folder = self.shelf.scratch / f"{self._prefix}-{run}"
        shown = None
        try:
            rows = self.shelf.rows(self.source)
            mirror(self.shelf.project.root, sources, folder)
            target = self.shelf.project.in_mirror(folder)
            if self._is_over(run):
                raise Stopped  # while the rows were read
            board = self.engine.score(target, rows.samples, lambda step: self._progress(run, step))
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

    def _is_over(self, run: int) -> bool:
        """Whether nobody waits for this run any more."""
        return self._closed or run != self._wanted or run == self._halted

    def _progress(self, run: int, step: Step) -> None:
        with self.lock:
            if self._is_over(run):
                raise Stopped  # it was ended before it had a process that could be
            self.progress = step
            self._changed()

    def _publish(self, run: int, shown: Shown | None, problem: dict[str, Any] | None) -> None:
        with self.lock:
            if self._is_over(run):  # the board of this one is not what is asked for any more
                old = shown
            else:
                old = None
                if shown is not None:
                    old, self.shown = self.shown, replace(shown, saved=self._is_saved(shown.sources))
                    self._base = base_after(self._base, old, self.shown)
                    shown.board.knowing(old.board if old is not None else None)
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
        sentence = sentence.replace(f"{folder}/", "").replace(str(folder), str(self.shelf.project.root))
        return sentence.replace(folder.name, self.shelf.project.root.name)

    # ---------------------------------------------------------------- reading

    @property
    def stale(self) -> bool:
        """Whether the shown scores are of another text than the one in the editor, and no run is under way."""
        return self.shown is not None and (
            self.status in ("broken", "stopped") or self._behind or self._unseen
        )

    def rows(self, view: View) -> tuple[Shown, NDArray[np.intp]]:
        """The shown board and its rows in the order of `view`.

        Raises:
            NothingScored: there are no scores yet.
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
            NothingScored: there are no scores yet.
        """
        if self.shown is None:
            raise NothingScored("nothing has been scored yet")
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
            Stopped: the text changed meanwhile, or the row took long and another was asked for.
        """
        shown = self.require_shown()
        if not 0 <= row < len(shown.board):
            raise UsageError(f"there is no row {row}")
        if row in shown.explained:
            return shown, shown.explained[row]
        try:
            shown.explained[row] = self.engine.explain(shown.target, shown.rows.samples, row)
        except RewardWorkbenchError as error:
            if self._closed or self.require_shown().folder != shown.folder:  # which is removed then
                raise Stopped from error
            raise
        return shown, shown.explained[row]

    def problems(self) -> list[dict[str, Any]]:
        """The diagnostics of the newest text and, where it runs, of its rows."""
        if self.status in ("broken", "stopped") and self.problem is not None:
            return [self.problem]
        found = [] if self.shown is None else board_problems(self.shown.board, self.file)
        return found + sample_problems(self.shelf.skipped(self.source))

    def mirrored(self, name: str) -> str:
        """The target with the texts of the desk, laid out in a folder of this desk that is called `name`."""
        with self.lock:
            sources = {file: sheet.text for file, sheet in self.sheets.items()}
        folder = self.shelf.scratch / f"{self._prefix}-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        mirror(self.shelf.project.root, sources, folder)
        return self.shelf.project.in_mirror(folder)

    def drop_mirror(self, name: str) -> None:
        """Remove what `mirrored` laid out."""
        shutil.rmtree(self.shelf.scratch / f"{self._prefix}-{name}", ignore_errors=True)

    @property
    def is_busy(self) -> bool:
        """Whether checks or a generation are under way, which its end would cut short."""
        return "running" in (self.checking.state, self.generating.state)

    def to_rest(self) -> Resting:
        """What is needed to go on with this desk after its end, as it is now."""
        return Resting(self.shelf, self.file, self.source, self.weighing, self.checking.kept())

    def close(self) -> None:
        """End the desk's thread and processes; drafts stay."""
        self.shelf.leave(self)
        with self.lock:
            self._closed = True
            self._changed()
            self._wake.notify_all()
        self.engine.close()
        self.checking.close()
        self.comparing.close()
        self.generating.close()
        self._thread.join(timeout=5)
        if self.shown is not None:
            shutil.rmtree(self.shown.folder, ignore_errors=True)
