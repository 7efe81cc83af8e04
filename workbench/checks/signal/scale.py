"""RW613: differences so small, or so large, that the trainer's arithmetic distorts them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rewards.groups import EPSILON, ZERO_SPREAD, group_statistics
from workbench.checks.check import SetCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.intervals import wilson
from workbench.checks.signal.table import Table, read_table
from workbench.checks.subject import SetSubject

DAMPED = 10 * EPSILON
"""A spread at which the trainer's epsilon takes a tenth of the advantage."""
LARGE = 20.0
GROUPS = 5


class Scale(SetCheck):
    """The totals of a group differ by so little that they are damped, or by so much that they drown everything.

    TRL divides by the group's deviation plus 0.0001: where the deviation is 0.0001 itself, half of the advantage is
    lost, and noise of the last digits is blown up to full size. Told as a warning where that holds in most groups
    (interval above one half, at least five groups). With `scale_rewards = "none"` the advantage *is* the difference, so
    that totals that differ by hundreds make steps hundreds of times as large as those the learning rate was chosen
    for: a warning there too, where the mean deviation is above 20.

    Example:
        return [0.9999 + quality / 10_000 ...]

    Remedy:
        Spread the reward over 0 to 1.
    """

    code = "RW613"
    name = "scale"
    severity = "warning"
    summary = "totals differ by so little, or so much, that training is distorted"
    cost = Cost.HAMPERS

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """At most one finding."""
        table = read_table(subject)
        if table is None:
            return
        stats = group_statistics(table.scores, table.weights, table.groups)
        live = np.flatnonzero((stats.scorable > 1) & (stats.spread > ZERO_SPREAD))
        if len(live) < GROUPS:
            return
        spread = stats.spread[live]
        small = int((spread < DAMPED).sum())
        divides = table.aggregation == "normalize_then_sum" or table.scaling == "group"
        if divides and wilson(small, len(live))[0] > 0.5:
            lost = float(np.mean(EPSILON / (spread + EPSILON)))
            yield self._tell(
                table, int(live[spread.argmin()]),
                f"In {small} of {len(live)} groups the totals differ by less than {number(DAMPED)} (deviation "
                f"{number(float(np.median(spread)))}): TRL's 0.0001 takes {lost:.0%} of the advantage.",
                "small",
            )  # fmt: skip
        elif table.scaling == "none" and not divides and float(spread.mean()) > LARGE:
            yield self._tell(
                table, int(live[spread.argmax()]),
                f'With scale_rewards = "none" the advantages are the differences themselves: '
                f"{number(float(spread.mean()))} on average, where 1 is usual.",
                "large",
            )  # fmt: skip

    def _tell(self, table: Table, group: int, message: str, cause: str) -> Finding:
        places = np.flatnonzero(table.groups == group)
        place = table.shortest(places.tolist())
        return self.finding(
            message,
            advice="Spread the reward over 0 to 1.",
            cause=cause,
            evidence=table.members[0].evidence(
                table.rows[place],
                got=[float(total) for total in table.totals[places]],
                expected="totals that differ by tenths",
            ),
        )
