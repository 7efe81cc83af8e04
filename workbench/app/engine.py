"""What the app needs done in processes of their own: scoring a target and explaining a row of it.

`Engine` is all a desk knows of it. `ProcessEngine` does it with `rewards.running`: every piece of work forks its
workers over a `Leash`, and cutting the leash ends them at once, whatever the user's code is doing.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rewards.contract import Batch
from rewards.errors import RewardWorkbenchError
from rewards.manifest import read_manifest
from rewards.running import Runner
from rewards.targets import parse_target
from workbench.app.view.board import Board, Column, bounds
from workbench.samples import Samples
from workbench.tokenizing import Tokenizer, tokenizer_for

if TYPE_CHECKING:
    from workbench.scoring import ScoreTable

Progress = Callable[[int, str], None]
"""Called with the number of rewards done and the name of the one that runs now."""

JOBS = min(4, os.cpu_count() or 1)
PRELOAD = ("numpy", "math_verify", "rewards.tracing.explaining")
"""What many rewards import: loaded once in the template process, so that a run does not pay for it."""


class Stopped(Exception):
    """Work that was ended because its result is no longer wanted."""


class Engine(Protocol):
    """Scores and explanations, with the user's code kept out of this process."""

    def score(self, target: str, samples: Samples, progress: Progress) -> Board:
        """Score all rows.

        Raises:
            RewardWorkbenchError: the target cannot be loaded or called; one sentence for the page.
            Stopped: `stop` was called meanwhile.
        """

    def explain(self, target: str, samples: Samples, row: int) -> Mapping[str, Any]:
        """The partial credit of one row, as `explain --format json` gives it; raises as `score` does."""

    def stop(self) -> None:
        """End what runs, now, from any thread; a `score` or `explain` under way raises Stopped."""


class Leash(Runner):
    """A runner for one piece of work: forks from `runner`'s template, and can be cut from any thread."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner  # not Runner.__init__: the template is the other runner's
        self._pids: set[int] = set()
        self._guard = threading.Lock()
        self.is_cut = False

    def fork(self, batch: Batch | None) -> tuple[int, socket.socket, socket.socket]:
        """A worker as of the runner.

        Raises:
            Stopped: the leash was cut.
        """
        if self.is_cut:
            raise Stopped
        pid, connection, life = self._runner.fork(batch)
        if not self._hold_pid(pid):
            self._runner.end(pid)
            connection.close()
            life.close()
            raise Stopped
        return pid, connection, life

    def _hold_pid(self, pid: int) -> bool:
        with self._guard:
            self._pids.add(pid)
            return not self.is_cut

    def end(self, pid: int) -> None:
        """Kill a worker."""
        with self._guard:
            self._pids.discard(pid)
        self._runner.end(pid)

    def cut(self) -> None:
        """Kill all workers now, and let no more be made."""
        with self._guard:
            self.is_cut = True
            pids, self._pids = self._pids, set()
        for pid in pids:
            self._runner.end(pid)

    def close(self) -> None:
        """Nothing to end: the template belongs to the runner."""


class ProcessEngine:
    """The engine that runs rewards in workers of `runner`, which several engines may share."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._lock = threading.Lock()
        self._leashes: set[Leash] = set()

    def score(self, target: str, samples: Samples, progress: Progress) -> Board:
        """See `Engine`."""
        from workbench.scoring import score

        left: dict[str, bool] = {}

        def step(name: str, done: int, calls: int) -> None:
            left[name] = done < calls
            unfinished = [name for name, open_ in left.items() if open_]
            if unfinished:
                progress(len(left) - len(unfinished), unfinished[0])

        with self._leash() as leash:
            table = score(
                target, samples, runner=leash, tokenizer=_tokenizer(target), progress=step, jobs=JOBS
            )
        return board_of(table, samples)

    def explain(self, target: str, samples: Samples, row: int) -> Mapping[str, Any]:
        """See `Engine`."""
        from workbench.explanation import explain

        with self._leash() as leash:
            found = list(explain(target, samples, [row], leash, tokenizer=_tokenizer(target)))
        return found[0].to_json()

    def stop(self) -> None:
        """See `Engine`."""
        with self._lock:
            leashes = list(self._leashes)
        for leash in leashes:
            leash.cut()

    @contextmanager
    def _leash(self) -> Iterator[Leash]:
        leash = Leash(self._runner)
        with self._lock:
            self._leashes.add(leash)
        try:
            yield leash
        except RewardWorkbenchError as error:
            if leash.is_cut:  # what a killed worker looks like from outside
                raise Stopped from error
            raise
        finally:
            with self._lock:
                self._leashes.discard(leash)
        if leash.is_cut:
            raise Stopped


def _tokenizer(target: str) -> Tokenizer | None:
    place = parse_target(target)
    return tokenizer_for(read_manifest(place.path) if place.kind == "project" else None)


class HeldSamples(Samples):
    """Samples that make their batch once, so that the template process is sent the rows once a file, not once a run."""

    def batch(self, tokenizer: Callable[[str], Sequence[int]] | None = None) -> Batch:
        """As `Samples.batch`; the tokenizer of a project does not change while its samples are open."""
        kept = self.__dict__.get("_batch")
        if kept is None or kept[0] != (tokenizer is None):
            kept = (tokenizer is None, super().batch(tokenizer))
            self.__dict__["_batch"] = kept
        batch: Batch = kept[1]
        return batch


def held(samples: Samples) -> HeldSamples:
    """The same samples with a batch that is made once."""
    return HeldSamples(**{each.name: getattr(samples, each.name) for each in fields(samples)})


def board_of(table: ScoreTable, samples: Samples) -> Board:
    """The page's form of a score table."""
    columns = []
    for index, reward in enumerate(table.description.rewards):
        low, high = bounds(table.scores[:, index], reward.entry.range)
        declared = reward.entry.range is not None
        seconds = table.seconds.get(reward.name)
        file = _inside(reward.file, table.description.root)
        columns.append(Column(reward.name, table.weights[index], low, high, declared, seconds, file))
    printed = [f"{name}:\n{text}" for name, text in table.printed.items() if text]
    return Board(
        columns=columns,
        scores=table.scores,
        status=table.status,
        errors=table.errors,
        totals=table.totals,
        advantages=table.advantages,
        groups=table.groups,
        labels=table.labels,
        ids=table.ids,
        prompts=samples.prompts,
        completions=samples.completions,
        values=samples.columns,
        aggregation=table.description.aggregation,
        scale_rewards=table.description.scale_rewards,
        printed="\n".join(printed),
        notes=tuple(table.notes),
    )


def _inside(file: str | None, root: Path) -> str | None:
    """A reward's file as the project names it, None where it lies elsewhere."""
    if file is None or not Path(file).is_relative_to(root):
        return None
    return Path(file).relative_to(root).as_posix()
