"""Where a row stands in its group, and what it would take to overtake the next better one.

A score by itself teaches nothing: the advantage is the distance from the group, so an explanation ends with the
group. Totals and advantages are those of `score` (`rewards.groups`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rewards.groups import advantages, ranked_by, totals
from rewards.rewardset import SetDescription
from rewards.tracing.explanation import RewardExplanation

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Gain:
    """Something a row missed: `points` of the total that it would have added."""

    reward: str
    name: str
    points: float


@dataclass(frozen=True)
class Standing:
    """A row among the `rows` of its group.

    `rank` counts from 1, rows with the same total share the best; `mean` is the group's mean total. `next_row` is the
    nearest row with a higher total, `gap` how far it is ahead (None and 0 where there is none); `gains` are missed
    parts that would overtake it: one that does alone comes first, else all that do together, else none.
    """

    rows: int
    rank: int
    total: float
    mean: float
    advantage: float
    next_row: int | None
    gap: float
    gains: tuple[Gain, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What `explain --format json` has under `group`."""
        return {
            "rows": self.rows,
            "rank": self.rank,
            "total": self.total,
            "mean": self.mean,
            "advantage": self.advantage,
            "next": None if self.next_row is None else {"row": self.next_row, "gap": self.gap},
            "overtake": [
                {"reward": gain.reward, "name": gain.name, "points": gain.points} for gain in self.gains
            ],
        }


class Field:
    """The totals and advantages of one call, in which its rows are placed.

    Args:
        scores: (rows, rewards) of the call, NaN where there is no number.
        numbers: the row number of each.
        groups: the group of each.
        description: weights and aggregation.
    """

    def __init__(
        self, scores: Floats, numbers: Sequence[int], groups: Sequence[str], description: SetDescription
    ) -> None:
        weights = description.weights
        self.numbers = list(numbers)
        self.groups = list(groups)
        self.totals = totals(scores, weights)
        self.by_total = description.aggregation == "sum_then_normalize"
        self.ranked = ranked_by(scores, weights, groups, aggregation=description.aggregation)
        self.advantages = advantages(
            scores,
            weights,
            groups,
            aggregation=description.aggregation,
            scale_rewards=description.scale_rewards,
        )

    def place(
        self, row: int, rewards: Sequence[RewardExplanation], weights: Sequence[float]
    ) -> Standing | None:
        """Where a row stands; None where it has no finite total.

        Under "normalize_then_sum" ranks and the gap are those of the sum of the normalised rewards, of which missed
        points say nothing.
        """
        at = self.numbers.index(row)
        own = float(self.totals[at])
        if not math.isfinite(own):
            return None
        members = [
            other
            for other, group in enumerate(self.groups)
            if group == self.groups[at] and math.isfinite(self.totals[other])
        ]
        better = [other for other in members if self.ranked[other] > self.ranked[at]]
        nearest = min(better, key=lambda other: (self.ranked[other], other), default=None)
        standing = self.totals if self.by_total else self.ranked
        gap = float(standing[nearest] - standing[at]) if nearest is not None else 0.0
        return Standing(
            rows=len(members),
            rank=len(better) + 1,
            total=own,
            mean=float(np.mean(self.totals[members])),
            advantage=float(self.advantages[at]),
            next_row=self.numbers[nearest] if nearest is not None else None,
            gap=round(gap, 12),
            gains=_gains(rewards, weights, gap) if nearest is not None and self.by_total else (),
        )


def _gains(rewards: Sequence[RewardExplanation], weights: Sequence[float], gap: float) -> tuple[Gain, ...]:
    missed = [
        Gain(reward.name, name, round(weight * points, 12))
        for reward, weight in zip(rewards, weights, strict=True)
        for name, points in _lacking(reward)
        if weight * points > 0
    ]
    alone = [gain for gain in missed if gain.points > gap + 1e-9]
    if alone:
        return (min(alone, key=lambda gain: gain.points),)
    return tuple(missed) if sum(gain.points for gain in missed) > gap + 1e-9 else ()


def _lacking(reward: RewardExplanation) -> list[tuple[str, float]]:
    """What a reward might have given more, by name.

    Where another branch than the one that ran would have paid more, this stands among the missed, and as `of` at what
    the branch that ran gave: it counts once.
    """
    lacking = [(credit.name, credit.of) for credit in reward.missed if credit.of is not None]
    told = [points for _, points in lacking]
    for credit in reward.credits:
        points = credit.of - credit.points if credit.of is not None else 0.0
        same = next((one for one in told if math.isclose(one, points, abs_tol=1e-9)), None)
        if same is not None:
            told.remove(same)
        elif points > 0:
            lacking.append((credit.name, points))
    return lacking


def ceilings(
    rewards: Sequence[RewardExplanation], description: SetDescription, scores: Floats | None
) -> tuple[float | None, ...]:
    """The most each reward can give any row: as declared, else as its code says; None where neither does.

    A row that got more than that moves it up.
    """
    found: list[float | None] = []
    for at, reward in enumerate(rewards):
        declared = description.rewards[at].entry.range
        most = declared[1] if declared is not None else reward.most
        column = scores[:, at] if scores is not None else np.empty(0)
        known = column[np.isfinite(column)]
        if most is not None and len(known):
            most = max(most, float(known.max()))
        found.append(round(most, 12) if most is not None else None)
    return tuple(found)
