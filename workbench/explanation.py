"""Why rows were paid what they were paid: explanations over samples.

The user's code runs in a worker process; one process explains all rows of a target, and a row that hangs or
ends it is explained as that, its neighbours as usual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.contract import completion_text
from rewards.errors import UsageError, WorkerDied, WorkerError, WorkerTimeout
from rewards.rewardset import RewardDescription, SetDescription
from rewards.running import Runner, Worker
from rewards.tracing.explanation import RewardExplanation
from workbench.samples import Samples

_EXPLAIN = "rewards.tracing.explaining:explain_in_worker"

LOADING_S = 30.0
"""Seconds for loading a target once more, on top of the calls."""


@dataclass(frozen=True)
class RowExplanation:
    """One row: the text that was scored, and what every reward made of it.

    `weights` are those of the set, in the order of `rewards`; `total` is TRL's weighted sum over the rewards
    that gave a number, None where none did.
    """

    row: int
    id: str
    group: str
    text: str
    rewards: tuple[RewardExplanation, ...]
    weights: tuple[float, ...]

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
        return {"row": self.row, "rewards": [reward.to_json() for reward in self.rewards]}


def explain(
    target: str | Path,
    samples: Samples,
    rows: Sequence[int] | None = None,
    runner: Runner | None = None,
    *,
    tokenizer: Callable[[str], Sequence[int]] | None = None,
    explainer: str = _EXPLAIN,
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
    with runner.worker(target, samples.batch(tokenizer)) as worker:
        description = worker.description
        description.require_columns(samples.columns)
        for row in wanted:
            yield _row(worker, description, samples, row, calls[row], explainer)


def _row(
    worker: Worker,
    description: SetDescription,
    samples: Samples,
    row: int,
    together: list[int],
    explainer: str,
) -> RowExplanation:
    return RowExplanation(
        row=row,
        id=samples.ids[row],
        group=samples.groups[row],
        text=completion_text(samples.completions[row]),
        rewards=tuple(
            explain_reward(worker, reward, row, together, explainer) for reward in description.rewards
        ),
        weights=tuple(description.weights),
    )


def explain_reward(
    worker: Worker, reward: RewardDescription, row: int, together: list[int], explainer: str = _EXPLAIN
) -> RewardExplanation:
    """One reward on one row of the worker's batch; a call that hangs or ends its process is tried alone.

    Args:
        worker: holds the target and the rows.
        reward: the reward.
        row: the row's number.
        together: the rows that are called with it.
        explainer: the function that explains inside the worker.
    """
    limit = reward.timeout_s
    failure: WorkerError | None = None
    for rows in (together, [row]):
        seconds = LOADING_S + 4 * limit + 0.1 * len(rows)
        if not worker.alive:
            worker.restart()
        try:
            answer = worker.run(
                explainer,
                timeout_s=seconds,
                reward=reward.name,
                row=row,
                rows=None if len(rows) == len(worker.batch) else rows,
            )
            return RewardExplanation.from_json(answer)
        except WorkerError as error:
            failure = error
    return RewardExplanation(
        name=reward.name, score=None, credits=(), lines=(), exact=False, error=_sentence(failure, limit)
    )


def _sentence(failure: WorkerError | None, limit: float) -> str:
    if isinstance(failure, WorkerTimeout):
        return f"took over {limit:g} s and was ended"
    if isinstance(failure, WorkerDied):
        return f"ended its process: {failure}"
    return str(failure)
