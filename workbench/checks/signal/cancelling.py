"""RW608: two members take from each other what they give."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rewards.groups import group_statistics
from workbench.checks.check import SetCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.signal.pairs import Together, move_together_on_made_up, together
from workbench.checks.signal.table import Table, read_table
from workbench.checks.subject import SetSubject

OPPOSED = -0.9
LEFT = 0.25
"""What may be left of the smaller spread where two members cancel."""


class Cancelling(SetCheck):
    """Two members move against each other within groups, and with their weights hardly anything is left of both.

    "The more detail the better" beside "the shorter the better" adds up to no opinion at all. Told where the
    correlation inside groups is below -0.9 and under a quarter of the smaller spread is left of their weighted sum, on
    the samples and on made-up completions. Where *every* group is dead because of it, RW602 says so.

    Example:
        detail = min(1, words / 40), weight 1; brevity = 1 - min(1, words / 50), weight 1

    Remedy:
        Give them different weights, or write one reward that is best at the length that is wanted.
    """

    code = "RW608"
    name = "cancelling"
    severity = "warning"
    summary = "two members take from each other what they give"
    cost = Cost.TEACHES_NOTHING
    quick = False

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding for each such pair."""
        table = read_table(subject)
        if table is None or len(table.members) < 2:
            return
        if group_statistics(
            table.scores, table.weights, table.groups, aggregation=table.aggregation
        ).zero_spread.all():
            return
        for pair in together(table):
            if pair.correlation > OPPOSED or not pair.left < LEFT:
                continue
            elsewhere, _ = move_together_on_made_up(table, pair.one, pair.other)
            if elsewhere <= OPPOSED:
                yield self._tell(table, pair)

    def _tell(self, table: Table, pair: Together) -> Finding:
        names = [table.members[at].name for at in (pair.one, pair.other)]
        column = np.nan_to_num(table.added[:, pair.one])
        place = int(np.abs(column - column.mean()).argmax())
        got = {
            name: float(table.scores[place, at])
            for name, at in zip(names, (pair.one, pair.other), strict=True)
        }
        return self.finding(
            f"{names[0]} and {names[1]} take from each other what they give: their correlation inside groups is "
            f"{pair.correlation:.2f}, and {pair.left:.0%} of the smaller spread is left of their sum "
            f"(weights {number(table.weights[pair.one])} and {number(table.weights[pair.other])}).",
            advice="Give them different weights, or write one reward that is best where it should be.",
            cause=f"{names[0]} against {names[1]}",
            evidence=table.members[pair.one].evidence(
                table.rows[place], got=got, expected="members that do not undo each other"
            ),
            count=pair.rows,
        )
