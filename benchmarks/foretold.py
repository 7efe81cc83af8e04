"""Whether the selection differential foretells which way a run drifts: the forecasts of one run, and how to judge them.

The differential of a feature, mean_g Cov_g(A, f) / sd(f), says where the next updates push it: a forecast of the first
order, good near the policy that made the completions. So it is taken again and again. A run is cut into windows of
`WINDOW` steps; at the end of each a checkpoint lies, which answers every prompt of the data afresh.

* *Before launch*: the differential of completions of the untrained model, against the drift in the first window.
* *In the run*: the differential of the batches recorded in a window, against the drift in the directly following one.

The drift is the change of the feature's mean between the checkpoints at both ends of a window, paired by prompt, in
completions that no differential was computed from. Nothing is chosen by what came out: a differential counts where it
is clear beyond its own standard error over groups (Student's t), and a drift where it is so over prompts, both held
against `LEVEL` for all of them together (Holm).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Values = dict[str, Floats]
"""Feature or reward: (prompts, samples)."""

WINDOW = 5
LEVEL = 0.05
SAMPLES = 8
"""Completions of a prompt that a level is the mean of; a differential before launch has as many in a group."""
ADVANTAGE = "advantage"


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error and degrees of freedom."""

    value: float
    error: float
    freedom: int

    @property
    def p(self) -> float:
        """The chance of a mean as far from 0 if there were nothing, two-sided; 1 where nothing varies or moves."""
        if self.value == 0 or self.freedom < 1:
            return 1.0
        return tail(abs(self.value) / self.error, self.freedom) if self.error > 0 else 0.0


def mean_of(values: Iterable[float]) -> Estimate:
    """The mean of independent values, NaN left out."""
    known = np.array([value for value in values if value == value])
    if len(known) < 2:
        return Estimate(0.0, 0.0, 0)
    return Estimate(float(known.mean()), float(known.std(ddof=1) / math.sqrt(len(known))), len(known) - 1)


def tail(t: float, freedom: int) -> float:
    """P(|T| > t) of Student's t.

    With T = sqrt(freedom) tan(a) the density is cos(a) ** (freedom - 1) over its integral.

    >>> round(tail(2.086, 20), 3), round(tail(1.0, 1), 3)
    (0.05, 0.5)
    """

    def integral(low: float) -> float:
        angles = np.linspace(low, math.pi / 2, 4001)
        return float(np.trapezoid(np.cos(angles) ** (freedom - 1), angles))

    return min(1.0, integral(math.atan(t / math.sqrt(freedom))) / integral(0.0))


def clear(ps: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Which of many tests stand: with probability 1 - `level` none of them does by chance (Holm).

    >>> clear([0.2, 0.001, 0.02])
    [False, True, True]
    """
    stand = [False] * len(ps)
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda at: ps[at])):
        if ps[place] > level / (len(ps) - rank):
            break
        stand[place] = True
    return stand


@dataclass(frozen=True)
class Forecast:
    """A feature's differential in a window (0: before launch), and the drift in the one that follows.

    `same` is the drift in the window itself, `whole` from the untrained model to the end of the run; both only told.
    """

    feature: str
    window: int
    differential: Estimate
    following: Estimate
    same: Estimate | None = None
    whole: Estimate | None = None


@dataclass(frozen=True)
class Judged:
    """Forecasts whose differential is clear: those a clear drift bore out, or refuted, and those without one.

    `same_sign` counts all of them whose drift has the sign foretold, clear or not.
    """

    borne_out: tuple[Forecast, ...]
    refuted: tuple[Forecast, ...]
    unmoved: tuple[Forecast, ...]
    same_sign: int

    @property
    def moved(self) -> int:
        """How many drifted clearly."""
        return len(self.borne_out) + len(self.refuted)

    @property
    def all(self) -> int:
        """How many differentials were clear."""
        return self.moved + len(self.unmoved)


def judge(
    forecasts: Sequence[Forecast], drift: Callable[[Forecast], Estimate | None] = lambda one: one.following
) -> Judged:
    """What became of the clear ones among `forecasts`, which are one family of tests."""
    told = [one for one in forecasts if drift(one) is not None]
    sure = [
        one for one, stands in zip(told, clear([one.differential.p for one in told]), strict=True) if stands
    ]
    drifts = [found for one in sure if (found := drift(one)) is not None]
    moved = clear([found.p for found in drifts])
    right = [one.differential.value * found.value > 0 for one, found in zip(sure, drifts, strict=True)]
    rows = list(zip(sure, moved, right, strict=True))
    return Judged(
        tuple(one for one, stands, agrees in rows if stands and agrees),
        tuple(one for one, stands, agrees in rows if stands and not agrees),
        tuple(one for one, stands, _ in rows if not stands),
        sum(right),
    )


# ------------------------------------------------------------------------------------- measured on a run


def differential(feature: Floats, advantages: Floats) -> Estimate | None:
    """The selection differential of (groups, completions) arrays, groups as the sample; None where nothing varies."""
    known = ~(np.isnan(feature) | np.isnan(advantages))
    spread = float(feature[known].std()) if known.any() else 0.0
    if spread <= 1e-12:
        return None
    terms = []
    for values, own, kept in zip(feature, advantages, known, strict=True):
        if kept.sum() > 1:
            values, own = values[kept], own[kept]
            terms.append(float(np.mean((values - values.mean()) * (own - own.mean()))) / spread)
    return mean_of(terms)


def drift(before: Values, after: Values, name: str) -> Estimate:
    """The change of a feature's mean, paired by prompt."""
    return mean_of((np.nanmean(after[name], axis=1) - np.nanmean(before[name], axis=1)).tolist())


def forecasts_of(first: Values, recorded: Sequence[Values], levels: Sequence[Values]) -> tuple[Forecast, ...]:
    """Every forecast of a run.

    Args:
        first: completions of the untrained model, with their advantages.
        recorded: the batches of each window, (groups, completions), with their advantages.
        levels: other completions of the untrained model and of the checkpoint at the end of each window.
    """
    found = []
    for name in (name for name in levels[0] if name != ADVANTAGE):
        before = differential(first[name], first[ADVANTAGE])
        if before is not None:
            found.append(
                Forecast(
                    name,
                    0,
                    before,
                    drift(levels[0], levels[1], name),
                    whole=drift(levels[0], levels[-1], name),
                )
            )
        for window in range(1, len(recorded)):
            batches = recorded[window - 1]
            here = differential(batches[name], batches[ADVANTAGE])
            if here is not None:
                following = drift(levels[window], levels[window + 1], name)
                same = drift(levels[window - 1], levels[window], name)
                found.append(Forecast(name, window, here, following, same))
    return tuple(found)


Features = Callable[[str, Any], dict[str, float]]
Answer = Callable[[Path], list[list[str]]]


def scored_values(
    job: Any, prompts: Sequence[Any], texts: Sequence[Sequence[str]], features: Features
) -> Values:
    """Features, rewards and advantages of completions of prompts, scored in calls of the size training makes."""
    from rewards.contract import Batch
    from rewards.running import Crew
    from trainer.rewarding.wrapped import Scoring, bind

    flat = [(number, row, text) for number, row in enumerate(prompts) for text in texts[number]]
    names = [name for name in prompts[0] if name != "prompt"]
    values: dict[str, list[float]] = {}
    with Crew(job.description.target, job.rewards) as crew:
        bound = bind(job.description, job.rewards)
        scoring = Scoring(bound, crew.call_all, group=len(texts[0]), record=lambda scored: None)
        for start in range(0, len(flat), job.sizes.rows):
            part = flat[start : start + job.sizes.rows]
            batch = Batch(
                prompts=[row["prompt"] for _, row, _ in part],
                completions=[[{"role": "assistant", "content": text}] for _, _, text in part],
                completion_ids=[list(text.encode()) for _, _, text in part],
                columns={name: [row[name] for _, row, _ in part] for name in names},
                groups=[str(number) for number, _, _ in part],
            )
            scored = scoring.score(batch, step=0, split="eval")
            values.setdefault(ADVANTAGE, []).extend(scored.advantages.tolist())
            for column, name in enumerate(scored.names):
                values.setdefault(f"reward {name}", []).extend(scored.scores[:, column].tolist())
    for _, row, text in flat:
        for name, value in features(text, row["answer"]).items():
            values.setdefault(name, []).append(value)
    return {name: np.array(column).reshape(len(prompts), -1) for name, column in values.items()}


def recorded_values(run: Any, steps: Iterable[int], names: Sequence[str], features: Features) -> Values:
    """Features, rewards and advantages of the completions that these steps of a run recorded, a row for each group."""
    import pandas as pd

    from rewards.contract import completion_text

    frames = [pd.read_parquet(run.completions / f"step_{step:05d}.parquet") for step in steps]
    groups: dict[str, dict[tuple[int, str], list[float]]] = {}
    for number, frame in enumerate(frames):
        for row in frame.to_dict("records"):
            text = completion_text([dict(message) for message in row["completion"]])
            values = {
                **features(text, row["answer"]),
                **{f"reward {name}": row[name] for name in names},
                ADVANTAGE: row["advantage"],
            }
            for name, value in values.items():
                groups.setdefault(name, {}).setdefault((number, row["group"]), []).append(value)
    return {name: np.array(list(rows.values()), dtype=float) for name, rows in groups.items()}


def follow(
    job: Any,
    run: Any,
    prompts: Sequence[Any],
    drawn: Sequence[Sequence[str]],
    answer: Answer,
    features: Features,
) -> tuple[Forecast, ...]:
    """The forecasts of a finished run that left a checkpoint at the end of each window.

    Args:
        drawn: twice `SAMPLES` completions a prompt of the untrained model: for its differential, and for its level.
        answer: gives `SAMPLES` completions a prompt of a checkpoint.
    """
    checkpoints = run.whole_checkpoints(0)[: run.stages()[0].step // WINDOW]
    levels = [scored_values(job, prompts, [group[SAMPLES:] for group in drawn], features)]
    levels += [scored_values(job, prompts, answer(one), features) for one in checkpoints]
    first = scored_values(job, prompts, [group[:SAMPLES] for group in drawn], features)
    recorded = [
        recorded_values(run, range(at * WINDOW + 1, (at + 1) * WINDOW + 1), job.rewards, features)
        for at in range(len(checkpoints))
    ]
    return forecasts_of(first, recorded, levels)
