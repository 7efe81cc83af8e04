"""RW607: two members of a set measure the same."""

from __future__ import annotations

import math
from collections.abc import Iterable

from workbench.checks.check import SetCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.signal.pairs import Together, move_together_on_made_up, together
from workbench.checks.signal.table import Table, read_table
from workbench.checks.subject import SetSubject

ALIKE = 0.95
ROWS = 20
"""Rows from which samples alone are worth a word."""


class Redundant(SetCheck):
    """Two members move together within groups, so that one matter counts twice and the diversity is only seeming.

    Measured is the correlation inside groups, where the trainer compares. Samples alone can mislead: right answers
    that happen to be well laid out make correctness and format look like one. So both members also score made-up
    completions (parts dropped, repeated, moved, numbers and tags changed). Where they move together there as well it
    is a warning; on the samples alone, from 20 rows on, it is information.

    Example:
        exact_match and numeric_match, both weight 1: the answer counts 2, whatever the weights say

    Remedy:
        Drop one of them, or give both together the weight that was meant for one.
    """

    code = "RW607"
    name = "redundant"
    severity = "warning"
    summary = "two members measure the same"
    cost = Cost.TEACHES_WRONG
    quick = False

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding for each such pair."""
        table = read_table(subject)
        if table is None or len(table.members) < 2:
            return
        for pair in together(table):
            if pair.correlation < ALIKE:
                continue
            if not all(table.members[at].steadiness.reliable for at in (pair.one, pair.other)):
                continue
            elsewhere, texts = move_together_on_made_up(table, pair.one, pair.other)
            if not math.isnan(elsewhere) and elsewhere >= ALIKE:
                yield self._tell(table, pair, elsewhere, texts)
            elif pair.rows >= ROWS and pair.low >= 0.9:
                yield self._tell(table, pair, None, 0)

    def _tell(self, table: Table, pair: Together, elsewhere: float | None, texts: int) -> Finding:
        one, other = table.members[pair.one].name, table.members[pair.other].name
        also = f", and {elsewhere:.2f} on {texts} made-up completions" if elsewhere is not None else ""
        only = (
            ""
            if elsewhere is not None
            else " (not on made-up completions: the samples may lack those that differ)"
        )
        row = table.rows[table.shortest(range(len(table)))]
        weights = table.weights[pair.one] + table.weights[pair.other]
        return self.finding(
            f"{one} and {other} measure the same: their correlation inside groups is {pair.correlation:.2f} on "
            f"{pair.rows} samples{also}{only}. Together they weigh {weights:.3g}.",
            advice=f"Drop one of them, or give both together the weight of one ({_least(table, pair):.3g}).",
            cause=f"{one} with {other}",
            severity="warning" if elsewhere is not None else "info",
            evidence=table.members[pair.one].evidence(
                row,
                got={
                    one: _plain(table.members[pair.one].scores.get(row)),
                    other: _plain(table.members[pair.other].scores.get(row)),
                },
                expected="members that see different things",
            ),
            count=pair.rows,
        )


def _least(table: Table, pair: Together) -> float:
    return float(max(table.weights[pair.one], table.weights[pair.other]))


def _plain(score: float | None) -> float | None:
    return None if score is None or math.isnan(score) else score
