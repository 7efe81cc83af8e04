"""Samples of a run: two groups of completions put aside every so many steps, to be read by a person.

A file for each, `samples/step_00050.jsonl`, a completion a line with its scores, total, advantage, credits and
errors. The workbench opens it like any other samples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trainer.rewarding.completions import ScoredBatch
from trainer.rundir import strict_json, write_whole
from trainer.watching.listener import Listener
from trainer.watching.pace import Pace

GROUPS = 2


class Samples(Listener):
    """Writes samples at the first step of a stage and then every `every` steps of the run; 0: never."""

    name = "samples"

    def __init__(self, folder: Path, every: int, *, offset: int = 0) -> None:
        self._folder, self._pace = folder, Pace(every, first=offset + 1)

    def scored(self, batch: ScoredBatch, completion_ids: Sequence[Sequence[int]]) -> None:
        """Write the batch's first groups where it is time."""
        if not self._pace.due(batch.step):
            return
        self._folder.mkdir(exist_ok=True)
        chosen = list(dict.fromkeys(batch.groups))[:GROUPS]
        rows = [sample(batch, row) for row, group in enumerate(batch.groups) if group in chosen]
        write_whole(
            self._folder / f"step_{batch.step:05d}.jsonl", "".join(strict_json(row) + "\n" for row in rows)
        )

    def state(self) -> Any:
        """The step that was scored last."""
        return {"last": self._pace.last}

    def restore(self, values: Any) -> None:
        """Go on after it."""
        self._pace.last = values["last"]


def sample(batch: ScoredBatch, row: int) -> dict[str, Any]:
    """One completion of a batch with all that is known of it; a score that is missing is null."""
    scores = {name: _known(batch.scores[row, at]) for at, name in enumerate(batch.names)}
    columns = {
        name: _plain(values[row]) for name, values in batch.columns.items() if len(values) == len(batch)
    }
    return {
        **columns,
        "step": batch.step,
        "group": batch.groups[row],
        "prompt": batch.prompts[row],
        "completion": batch.completions[row],
        "scores": scores,
        "total": _known(batch.totals[row]),
        "advantage": float(batch.advantages[row]),
        "credits": batch.credits[row] if batch.credits else [],
        "errors": batch.errors.get(row, {}),
    }


def _known(value: Any) -> float | None:
    return None if math.isnan(value) else float(value)


def _plain(value: Any) -> Any:
    """A data column as JSON has it; what JSON has no form for as text."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
