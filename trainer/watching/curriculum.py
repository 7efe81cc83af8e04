"""Prompts that teach nothing are passed over for a while (`skip_dead`).

A prompt is *dead* when all its completions earned the same, so that none has an advantage: too hard, or learnt. A visit
at which a reward failed on one of them says nothing and does not count. With `skip_dead = N` a prompt that was dead at
its last N visits is passed over when its turn comes, and its place goes to the next one in the order; after
`retry_dead` steps it is tried again, once, and stays where it teaches something.
Where every prompt is dead the order is kept: there is nothing better to train on.

The order stays the run's own: what is chosen depends on the seed and on what was scored, so a resumed run chooses what
the run that went on would have chosen. What is passed over, tried again and found alive is written to
`curriculum.jsonl`. The next batch is fetched while the last one is learnt, so that a choice knows all batches but the
one before it.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trainer.data.held_out import last_words, prompt_key
from trainer.rewarding.completions import ScoredBatch
from trainer.rundir import append_line
from trainer.watching.listener import Listener

SAME = 1e-5
"""Advantages of a group that differ by no more are the same: what is beyond is no rounding of float32."""


class Curriculum(Listener):
    """Chooses the training row of every place in a stage's order.

    Args:
        rows: the training rows.
        per_batch: prompts of a generation batch.
        group: completions of a prompt.
        seed, shuffle: as for `trainer.data.prompts.order`, which this follows where nothing is dead.
        skip_dead: visits in a row without an advantage after which a prompt is passed over.
        retry_dead: steps until it is tried again.
        path: curriculum.jsonl; None: nothing is written (on other ranks than 0).
        offset: steps of the run before this stage.
    """

    name = "curriculum"

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        *,
        per_batch: int,
        group: int,
        seed: int,
        shuffle: bool,
        skip_dead: int,
        retry_dead: int,
        path: Path | None = None,
        offset: int = 0,
    ) -> None:
        self._rows, self._per_batch, self._group = rows, per_batch, group
        self._skip, self._retry = skip_dead, retry_dead
        self._path, self._step = path, offset
        self._seed, self._shuffle = seed, shuffle
        self._candidates = walk(len(rows), seed=seed, shuffle=shuffle)
        self.chosen: list[int] = []
        """The row of every place so far."""
        self._taken = self._scored = 0
        self._deaths: dict[int, int] = {}
        self._since: dict[int, int] = {}
        self._passed = 0

    def row(self, place: int) -> int:
        """The number of the row at `place`; whole generation batches are chosen at a time."""
        while len(self.chosen) <= place:
            for _ in range(self._per_batch):
                self.chosen.append(self._next())
        return self.chosen[place]

    @property
    def dead(self) -> list[int]:
        """The rows that are passed over now."""
        return sorted(row for row, deaths in self._deaths.items() if deaths >= self._skip)

    def _next(self) -> int:
        all_dead = len(self.dead) == len(self._rows)
        while True:
            row = self._candidate()
            if self._deaths.get(row, 0) < self._skip:
                return row
            if self._step - self._since.get(row, 0) >= self._retry:
                self._note("tried again", row)
                self._since[row] = self._step
                return row
            if all_dead:
                return row
            self._passed += 1
            self._note("passed over", row)

    def _candidate(self) -> int:
        self._taken += 1
        return next(self._candidates)

    def scored(self, batch: ScoredBatch, completion_ids: Sequence[Sequence[int]]) -> None:
        """Learn which prompts of a batch were dead."""
        self._step = batch.step
        for at in range(len(batch) // self._group):
            row = self.row(self._scored + at)
            rows = slice(at * self._group, (at + 1) * self._group)
            if _teaches(batch, rows):
                if self._deaths.pop(row, 0) >= self._skip:
                    self._note("alive", row)
            elif not _failed(batch, rows):
                self._deaths[row] = self._deaths.get(row, 0) + 1
                self._since[row] = batch.step
        self._scored += len(batch) // self._group

    def metrics(self) -> Mapping[str, float]:
        """How many prompts are dead, and how often one was passed over since the last line."""
        passed, self._passed = self._passed, 0
        return {"prompts/dead": float(len(self.dead)), "prompts/passed_over": float(passed)}

    def state(self) -> Any:
        """Everything a choice depends on."""
        return {
            "chosen": self.chosen,
            "taken": self._taken,
            "scored": self._scored,
            "step": self._step,
            "passed": self._passed,
            "deaths": sorted(self._deaths.items()),
            "since": sorted(self._since.items()),
            "written": self._path.stat().st_size if self._path is not None and self._path.exists() else 0,
        }

    def restore(self, values: Any) -> None:
        """Go on where the state was taken."""
        self.chosen = [int(row) for row in values["chosen"]]
        self._taken, self._scored = int(values["taken"]), int(values["scored"])
        self._step, self._passed = int(values["step"]), int(values["passed"])
        self._deaths = {int(row): int(count) for row, count in values["deaths"]}
        self._since = {int(row): int(step) for row, step in values["since"]}
        self._candidates = walk(len(self._rows), seed=self._seed, shuffle=self._shuffle)
        for _ in range(self._taken):
            next(self._candidates)
        if self._path is not None and self._path.exists():
            os.truncate(
                self._path, int(values["written"])
            )  # what was noted after the checkpoint is noted again

    def _note(self, what: str, row: int) -> None:
        if self._path is None:
            return
        prompt = self._rows[row]["prompt"]
        line = {
            "step": self._step,
            "what": what,
            "row": row,
            "dead_visits": self._deaths.get(row, 0),
            "asks": last_words(prompt),
            "prompt": prompt_key(prompt),
        }
        with self._path.open("a", encoding="utf-8") as stream:
            append_line(stream, line)


def _teaches(batch: ScoredBatch, rows: slice) -> bool:
    """Whether the scored completions of a group differ in their advantage.

    Compared with each other, not with 0: under "normalize_then_sum" the mean of the whole batch is taken off, so that
    all completions of a flat group have the rounding of that mean for their advantage.
    """
    pairs = zip(batch.advantages[rows], batch.totals[rows], strict=True)
    known = [float(advantage) for advantage, total in pairs if not math.isnan(total)]
    return bool(known) and max(known) - min(known) > SAME


def _failed(batch: ScoredBatch, rows: slice) -> bool:
    """Whether a completion of the group could not be scored, so that the group says nothing of its prompt."""
    return any(row in batch.errors and math.isnan(batch.totals[row]) for row in range(rows.start, rows.stop))


def walk(rows: int, *, seed: int, shuffle: bool) -> Iterator[int]:
    """Row numbers without end: pass after pass over all, each in the order `trainer.data.prompts.order` gives it."""
    rounds = 0
    while True:
        once = list(range(rows))
        if shuffle:
            random.Random(f"{seed}|{rounds}").shuffle(once)
        yield from once
        rounds += 1


def as_dataset(rows: Any, places: int, curriculum: Curriculum) -> Any:
    """A `datasets.Dataset` of `places` rows, each taken from the dataset `rows` when it is asked for."""
    import datasets

    def fetch(asked: Mapping[str, list[int]]) -> dict[str, list[Any]]:
        found = [rows[curriculum.row(place)] for place in asked["place"]]
        return {name: [row[name] for row in found] for name in rows.column_names}

    return datasets.Dataset.from_dict({"place": list(range(places))}).with_transform(fetch)
