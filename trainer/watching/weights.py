"""Adaptive weights: a reward that is hardly ever earned weighs more, one that always is weighs less.

`adaptive = { low, high, up, down, min, max }` of a `[[reward]]`. At every logged line the *success* of the reward
over the logging window is looked at: the share of scored completions at the upper end of its declared range. Below
`low` the weight is multiplied by `up`, above `high` by `down`, and kept between `min` and `max`. It moves only where
success has been on the same side at two lines in a row, so that one odd batch moves nothing (hysteresis).

What changes is TRL's own weight (`trainer.reward_weights`), not the score: the record shows what the rewards really
gave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rewards.errors import UsageError
from rewards.manifest import Adaptive
from trainer.rewarding.completions import ScoredBatch
from trainer.rewarding.wrapped import Bound
from trainer.watching.listener import Listener

TOP = 0.01
"""A score within 1 % of the range from its upper end counts as a success."""

IN_A_ROW = 2


class AdaptiveWeights(Listener):
    """Moves the weights of the adaptive rewards of one stage.

    Args:
        bound: all rewards, adaptive ones with a declared range; one of weight 0 only watches, and keeps it.
        apply: takes the new weights of all rewards, in order.

    Raises:
        UsageError: see `check_adaptive_weight`.
    """

    name = "weights"
    by_line = True

    def __init__(self, bound: Sequence[Bound], apply: Callable[[list[float]], None]) -> None:
        self.weights = [one.entry.weight for one in bound]
        self._names = [one.name for one in bound]
        moved = {at: one.entry.adaptive for at, one in enumerate(bound) if one.entry.weight}
        self._rules = {at: rule for at, rule in moved.items() if rule}
        for at, rule in self._rules.items():
            check_adaptive_weight(bound[at].name, self.weights[at], rule)
        self._tops = {at: top_of(bound[at].entry.range or (0.0, 1.0)) for at in self._rules}
        self._apply = apply
        self._rows = dict.fromkeys(self._rules, 0)
        self._successes = dict.fromkeys(self._rules, 0)
        self._sides = dict.fromkeys(self._rules, 0)

    def scored(self, batch: ScoredBatch, completion_ids: Sequence[Sequence[int]]) -> None:
        """Count the successes of a batch."""
        for at in self._rules:
            known = batch.scores[:, at][~np.isnan(batch.scores[:, at])]
            self._rows[at] += len(known)
            self._successes[at] += int((known >= self._tops[at]).sum())

    def metrics(self) -> Mapping[str, float]:
        """Success over the window and the weight that was in force; then the weights move."""
        told: dict[str, float] = {}
        before = list(self.weights)
        for at, rule in self._rules.items():
            told[f"rewards/{self._names[at]}/weight"] = before[at]
            if self._rows[at]:
                success = self._successes[at] / self._rows[at]
                told[f"rewards/{self._names[at]}/success"] = success
                self._move(at, rule, success)
            self._rows[at] = self._successes[at] = 0
        if self.weights != before:
            self._apply(self.weights)
        return told

    def _move(self, at: int, rule: Adaptive, success: float) -> None:
        side = 1 if success < rule.low else -1 if success > rule.high else 0
        same = side != 0 and side * self._sides[at] >= 0
        self._sides[at] = self._sides[at] + side if same else side
        if abs(self._sides[at]) >= IN_A_ROW:
            factor = rule.up if side > 0 else rule.down
            moved = min(max(self.weights[at] * factor, rule.min), rule.max)
            # a weight that was declared beyond the bounds comes towards them, never jumps past
            self.weights[at] = max(moved, self.weights[at]) if side > 0 else min(moved, self.weights[at])
            self._sides[at] = 0

    def state(self) -> Any:
        """Weights, what has been counted since the last line, and the sides."""
        counts = [[self._rows[at], self._successes[at], self._sides[at]] for at in self._rules]
        return {"weights": self.weights, "counts": counts} if self._rules else None

    def restore(self, values: Any) -> None:
        """Go on where the state was taken."""
        self.weights = [float(weight) for weight in values["weights"]]
        for at, (rows, successes, side) in zip(self._rules, values["counts"], strict=True):
            self._rows[at], self._successes[at], self._sides[at] = int(rows), int(successes), int(side)
        self._apply(self.weights)


def check_adaptive_weight(name: str, weight: float, rule: Adaptive) -> None:
    """See that an adaptive reward does not begin below the least weight it may have; one of 0 only watches.

    A penalty would turn into a reward.

    Raises:
        UsageError: it does.
    """
    if weight and weight < rule.min:
        raise UsageError(
            f"reward '{name}' is adaptive and its weight={weight:g} lies below the least it may have, "
            f"min={rule.min:g}; raise the weight, lower min (it is 0 or more), or leave adaptive out"
        )


def top_of(span: tuple[float, float]) -> float:
    """The least score that counts as a success."""
    low, high = span
    return high - TOP * (high - low)
