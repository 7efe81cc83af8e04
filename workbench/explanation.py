"""Why rows were paid what they were paid: explanations over samples.

The user's code runs in a worker process; one process explains all rows of a target. A row that hangs or ends it is
explained as that, its neighbours as usual: `workbench.explained_calls` sees to the deadlines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rewards.contract import CallResult, Status, completion_text
from rewards.errors import UsageError
from rewards.rewardset import SetDescription
from rewards.running import Runner
from rewards.tracing.explanation import RewardExplanation, strict
from workbench.explained_calls import EXPLAINER, Calls
from workbench.other_form import other_form_note
from workbench.samples import Samples
from workbench.standing import Field, Floats, Standing, ceilings


@dataclass(frozen=True)
class RowExplanation:
    """One row: the text that was scored, and what every reward made of it.

    `weights` are those of the set, in the order of `rewards`; `total` is TRL's weighted sum over the rewards
    that gave a number, None where none did. `ceilings` has the most each reward can give any row, None where nobody
    knows; `standing` is the row's place in its group, None where it has no total.
    """

    row: int
    id: str
    group: str
    text: str
    rewards: tuple[RewardExplanation, ...]
    weights: tuple[float, ...]
    ceilings: tuple[float | None, ...] = ()
    standing: Standing | None = None

    @property
    def total(self) -> float | None:
        """The weighted sum of the scores; None where no reward gave a number."""
        scores = [
            weight * reward.score
            for weight, reward in zip(self.weights, self.rewards, strict=True)
            if isinstance(reward.score, (int, float))
        ]
        return sum(scores) if scores else None

    def to_json(self) -> dict[str, Any]:
        """The row as `explain --format json` prints it."""
        known = self.ceilings or (None,) * len(self.rewards)
        rewards = [
            {**reward.to_json(), "most": strict(most)} if most is not None else reward.to_json()
            for reward, most in zip(self.rewards, known, strict=True)
        ]
        values: dict[str, Any] = {"row": self.row, "rewards": rewards}
        if self.standing is not None:
            values["group"] = self.standing.to_json()
        return values


def explain(
    target: str | Path,
    samples: Samples,
    rows: Sequence[int] | None = None,
    runner: Runner | None = None,
    *,
    tokenizer: Callable[[str], Sequence[int]] | None = None,
    explainer: str = EXPLAINER,
) -> Iterator[RowExplanation]:
    """Explain rows of samples, one after another.

    Args:
        target: a project, file or function.
        samples: all rows; the score explained is that of a call with all of them (of one step where there
            are steps), as `score` makes it.
        rows: the numbers of the rows to explain; None for all.
        runner: where to run the rewards; None: a runner of its own.
        tokenizer: gives `completion_ids`, as in `score`.
        explainer: the function that explains inside the worker, for targets that are in no file.

    Raises:
        UsageError: a row that the samples do not have.
        LoadError, TargetError, ManifestError: the target cannot be loaded.
        MissingColumnError: the samples lack a column that a reward requires.
    """
    wanted = list(range(len(samples))) if rows is None else list(rows)
    for row in wanted:
        if not 0 <= row < len(samples):
            raise UsageError(f"there is no row {row}: the samples have rows 0 to {len(samples) - 1}")
    if runner is None:
        with Runner() as own:
            yield from _explain(own, target, samples, wanted, tokenizer, explainer)
    else:
        yield from _explain(runner, target, samples, wanted, tokenizer, explainer)


def _explain(
    runner: Runner,
    target: str | Path,
    samples: Samples,
    wanted: list[int],
    tokenizer: Any,
    explainer: str,
) -> Iterator[RowExplanation]:
    calls = {row: rows for rows in samples.step_rows() for row in rows}
    fields: dict[int, tuple[Floats, Field]] = {}
    misread: dict[str, str | None] = {}
    with runner.worker(target, samples.batch(tokenizer)) as worker:
        description = worker.description
        description.require_columns(samples.columns)
        known = Calls(worker, explainer)
        for row in wanted:
            explained = _row(known, description, samples, row, calls[row])
            first = calls[row][0]
            if first not in fields:
                fields[first] = _field(known, description, samples, calls[row])
            for reward in explained.rewards:
                if reward.error is not None and reward.name not in misread:
                    misread[reward.name] = _misread(known, description, samples, reward.name, calls[row])
            yield _placed(_noted(explained, misread), description, fields[first])


def _misread(
    known: Calls, description: SetDescription, samples: Samples, name: str, together: list[int]
) -> str | None:
    """The sentence for a reward that raises on every row of the call because it reads the other form; else None."""
    reward = description.reward(name)
    if not _raised_throughout(known.scored(reward, together)):
        return None
    return other_form_note(known.worker, reward, samples, together)


def _raised_throughout(result: CallResult) -> bool:
    """Whether a call raised on every row on which it did not abstain, and on one at least."""
    raised = result.status == Status.RAISED
    return bool(raised.any() and (raised | (result.status == Status.ABSTAINED)).all())


def _noted(explained: RowExplanation, notes: Mapping[str, str | None]) -> RowExplanation:
    """The row with a note at each reward that fails and has one."""
    rewards = tuple(
        replace(reward, notes=(*reward.notes, note))
        if reward.error is not None and (note := notes.get(reward.name))
        else reward
        for reward in explained.rewards
    )
    return replace(explained, rewards=rewards)


def _placed(
    explained: RowExplanation, description: SetDescription, known: tuple[Floats, Field]
) -> RowExplanation:
    """The row with its ceilings and its place in its group."""
    scores, field = known
    return replace(
        explained,
        ceilings=ceilings(explained.rewards, description, scores),
        standing=field.place(explained.row, explained.rewards, explained.weights),
    )


def _field(
    known: Calls, description: SetDescription, samples: Samples, together: list[int]
) -> tuple[Floats, Field]:
    """The scores of a whole call and the places they give its rows."""
    scores = np.column_stack([known.scored(reward, together).scores for reward in description.rewards])
    groups = [samples.groups[row] for row in together]
    return scores, Field(scores, together, groups, description)


def _row(
    known: Calls, description: SetDescription, samples: Samples, row: int, together: list[int]
) -> RowExplanation:
    return RowExplanation(
        row=row,
        id=samples.ids[row],
        group=samples.groups[row],
        text=completion_text(samples.completions[row]),
        rewards=tuple(known.explain(reward, row, together) for reward in description.rewards),
        weights=tuple(description.weights),
    )
