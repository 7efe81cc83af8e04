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

from rewards.groups import advantages, totals
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
        """Where a row stands; None where it has no finite total."""
        at = self.numbers.index(row)
        own = float(self.totals[at])
        if not math.isfinite(own):
            return None
        members = [
            other
            for other, group in enumerate(self.groups)
            if group == self.groups[at] and math.isfinite(self.totals[other])
        ]
        better = [other for other in members if self.totals[other] > own + 1e-9]
        nearest = min(better, key=lambda other: (self.totals[other], other), default=None)
        gap = float(self.totals[nearest]) - own if nearest is not None else 0.0
        return Standing(
            rows=len(members),
            rank=len(better) + 1,
            total=own,
            mean=float(np.mean(self.totals[members])),
            advantage=float(self.advantages[at]),
            next_row=self.numbers[nearest] if nearest is not None else None,
            gap=round(gap, 12),
            gains=_gains(rewards, weights, gap) if nearest is not None else (),
        )


def _gains(rewards: Sequence[RewardExplanation], weights: Sequence[float], gap: float) -> tuple[Gain, ...]:
    missed = [
        Gain(reward.name, credit.name, round(weight * (credit.of - credit.points), 12))
        for reward, weight in zip(rewards, weights, strict=True)
        for credit in (*reward.credits, *reward.missed)
        if credit.of is not None and weight * (credit.of - credit.points) > 0
    ]
    alone = [gain for gain in missed if gain.points > gap + 1e-9]
    if alone:
        return (min(alone, key=lambda gain: gain.points),)
    return tuple(missed) if sum(gain.points for gain in missed) > gap + 1e-9 else ()


def ceilings(
    rewards: Sequence[RewardExplanation], description: SetDescription, scores: Floats | None
) -> tuple[float | None, ...]:
    """The most each reward can give: as declared, else the larger of what its parts add up to and the best seen."""
    found: list[float | None] = []
    for at, reward in enumerate(rewards):
        declared = description.rewards[at].entry.range
        if declared is not None:
            found.append(declared[1])
            continue
        column = scores[:, at] if scores is not None else np.empty(0)
        known = column[np.isfinite(column)]
        parts = [credit.of for credit in (*reward.credits, *reward.missed)]
        candidates = [float(known.max())] if len(known) else []
        if reward.credits and all(part is not None for part in parts):
            candidates.append(sum(part for part in parts if part is not None))
        found.append(round(max(candidates), 12) if candidates else None)
    return tuple(found)
