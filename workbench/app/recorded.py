"""What a run recorded of its completions, read a step at a time; a run of a thousand steps is never read whole."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from rewards.contract import completion_text
from rewards.errors import UsageError
from trainer.rundir import RESERVED, RunDir

STEP = re.compile(r"step_(\d+)\.parquet")
HELD_OUT = re.compile(r"eval_(\d+)_(\d+)\.parquet")
MINOR = ("format", "length", "style", "diversity")
"""Kinds that bear no witness to whether a completion is right."""


@dataclass(frozen=True)
class Reward:
    """One reward of the run as its manifest has it: weight, kind and declared range, None where there is none."""

    name: str
    weight: float
    kind: str | None = None
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class RecordedStep:
    """The completions of one step with what each was paid; all sequences have one entry a completion.

    `scores` maps rewards to their scores, None where there was none; `credits` are lists of
    `{reward, name, points, of}`; `errors` map rewards to sentences. `held_out`: the prompts are those the run did not
    train on, asked in an evaluation after this step.
    """

    step: int
    rewards: tuple[Reward, ...]
    prompts: Sequence[Any]
    completions: Sequence[Any]
    groups: Sequence[str]
    scores: Mapping[str, Sequence[float | None]]
    totals: Sequence[float | None]
    advantages: Sequence[float | None]
    credits: Sequence[Sequence[Mapping[str, Any]]]
    errors: Sequence[Mapping[str, str]]
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    held_out: bool = False

    def __len__(self) -> int:
        return len(self.completions)

    @cached_property
    def texts(self) -> list[str]:
        """The text each completion is judged by."""
        return [completion_text(completion) for completion in self.completions]

    @property
    def oracles(self) -> list[Reward]:
        """The rewards that witness whether a completion is right: of kind correctness, or of weight 0.

        What watches form or length alone counts where there is nothing better.
        """
        asked = [each for each in self.rewards if each.weight == 0 or each.kind == "correctness"]
        return [each for each in asked if each.kind not in MINOR] or asked

    @cached_property
    def doubt(self) -> list[float]:
        """How much more a completion was paid than its oracles vouch for, in [-1, 1], for each completion.

        The total's place between the step's lowest and highest, less the mean of the oracles' scores on their own
        scales; without an oracle the place of the total alone.
        """
        paid = _placed(self.totals, None)
        vouched = [_placed(self.scores[each.name], each.range) for each in self.oracles]
        if not vouched:
            return paid
        return [pay - sum(each[row] for each in vouched) / len(vouched) for row, pay in enumerate(paid)]

    @cached_property
    def suspects_first(self) -> list[int]:
        """The rows, those paid most for what the oracles do not vouch for first; then by what they were paid."""
        return sorted(range(len(self)), key=lambda row: (-self.doubt[row], -(self.totals[row] or 0.0), row))


def _placed(values: Sequence[float | None], bounds: tuple[float, float] | None) -> list[float]:
    """Values on a scale from 0 to 1, by their bounds or by the lowest and highest; 0 where there is none."""
    known = [value for value in values if value is not None]
    low, high = bounds or (min(known, default=0.0), max(known, default=0.0))
    if not low < high:
        return [0.5 if value is not None else 0.0 for value in values]
    return [0.0 if value is None else min(1.0, max(0.0, (value - low) / (high - low))) for value in values]


def recorded_steps(run: RunDir) -> list[int]:
    """The steps whose completions were recorded, in their order; nothing is opened."""
    found = (STEP.fullmatch(path.name) for path in run.completions.glob("step_*.parquet"))
    return sorted(int(match.group(1)) for match in found if match)


def held_out_steps(run: RunDir) -> list[int]:
    """The steps after which held-out prompts were asked and recorded, in their order; nothing is opened."""
    found = (HELD_OUT.fullmatch(path.name) for path in run.completions.glob("eval_*.parquet"))
    return sorted({int(match.group(1)) for match in found if match})


def step_files(run: RunDir, step: int, *, held_out: bool = False) -> tuple[Path, ...]:
    """The file of a step; of an evaluation after it the files of all batches, in their order.

    Raises:
        UsageError: there is none.
    """
    pattern = f"eval_{step:05d}_*.parquet" if held_out else f"step_{step:05d}.parquet"
    found = tuple(sorted(run.completions.glob(pattern), key=lambda path: (len(path.name), path.name)))
    if not found:
        what = "held-out completions" if held_out else "completions"
        raise UsageError(f"{run.name} has no {what} of step {step}")
    return found


def read_step(run: RunDir, step: int, *, held_out: bool = False) -> RecordedStep:
    """Everything recorded of one step, or of the evaluation after it.

    Raises:
        UsageError: there is none, or a file is damaged.
    """
    files = step_files(run, step, held_out=held_out)
    stamps = tuple((facts.st_mtime_ns, facts.st_size) for facts in (place.stat() for place in files))
    return _read(run, step, files, stamps)


@lru_cache(maxsize=4)
def _read(
    run: RunDir, step: int, files: tuple[Path, ...], _stamps: tuple[tuple[int, int], ...]
) -> RecordedStep:
    """The step as long as its files stay as they are; one opens row after row of it."""
    table = _joined([_columns(path) for path in files])
    names = list(table)
    try:
        rewards = names[names.index("completion") + 1 : names.index("advantage")]
        count = len(table["completion"])
        return RecordedStep(
            step=step,
            rewards=tuple(_reward(name, _declared(run)) for name in rewards),
            prompts=table["prompt"],
            completions=table["completion"],
            groups=[str(group) for group in table.get("group", [""] * count)],
            scores={name: table[name] for name in rewards},
            totals=table.get("total", [None] * count),
            advantages=table["advantage"],
            credits=[row or [] for row in table.get("credits", [[]] * count)],
            errors=[{k: v for k, v in (row or {}).items() if v} for row in table.get("errors", [{}] * count)],
            values={name: table[name] for name in names if name not in (*RESERVED, *rewards)},
            held_out=HELD_OUT.fullmatch(files[0].name) is not None,
        )
    except (KeyError, ValueError) as error:
        raise UsageError(f"{files[0]} is no record of completions: {error}") from error


def _joined(tables: Sequence[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """The rows of all tables under each other; a column that some lack is None there."""
    if len(tables) == 1:
        return tables[0]
    names = list(dict.fromkeys(name for table in tables for name in table))
    lengths = [max(map(len, table.values()), default=0) for table in tables]
    return {
        name: [
            value
            for table, length in zip(tables, lengths, strict=True)
            for value in table.get(name, [None] * length)
        ]
        for name in names
    }


def read_texts(run: RunDir, step: int) -> tuple[list[str], list[float | None]]:
    """Texts and advantages of a step; the other columns stay unread.

    Raises:
        UsageError: it is missing or damaged.
    """
    table = _columns(step_files(run, step)[0], ["completion", "advantage"])
    return [completion_text(completion) for completion in table["completion"]], table["advantage"]


def _columns(path: Path, names: list[str] | None = None) -> dict[str, list[Any]]:
    """A Parquet file as lists; a NaN among numbers is None."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(path, columns=names, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        why = str(error).split("\n", 1)[0]
        raise UsageError(f"{path} cannot be read: {why}") from error
    lists = {name: table.column(name).to_pylist() for name in table.column_names}
    return {
        name: [None if isinstance(value, float) and value != value else value for value in values]
        for name, values in lists.items()
    }


def _declared(run: RunDir) -> Mapping[str, Mapping[str, Any]]:
    return {str(entry.get("name")): entry for entry in run.manifest().get("reward", [])}


def _reward(name: str, declared: Mapping[str, Mapping[str, Any]]) -> Reward:
    entry = declared.get(name, {})
    bounds = entry.get("range")
    return Reward(
        name,
        float(entry.get("weight", 1.0)),
        entry.get("kind"),
        (float(bounds[0]), float(bounds[1])) if bounds else None,
    )
