"""RW605: few different totals in a group."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rewards.signal import distinct_values, tied_pairs
from workbench.checks.check import SetCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.signal.table import Table, read_table
from workbench.checks.subject import SetSubject

TIED = 0.8
GROUPS = 8
SIZE = 4
"""Rows a group needs to be counted."""


class Ties(SetCheck):
    """Most completions of a group have the same total, so a group of eight is worth as much as one of two.

    Two completions with equal totals teach nothing about each other. Told are the share of equal pairs, how many
    different totals a group has, and the *effective group size*: as many equally frequent totals would tie as often.
    It is information: a single right-or-wrong reward ties half of its pairs at best. Groups of four completions and
    more are counted, from eight of them on; groups with one total only are RW602's matter.

    Example:
        return [1.0 if answer == gold else 0.0 ...]      # 7 of 8 wrong: 75 % of the pairs tie

    Remedy:
        Add partial credit, or a second reward that differs where this one does not.
    """

    code = "RW605"
    name = "ties"
    severity = "info"
    summary = "few different totals in a group"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """At most one finding."""
        table = read_table(subject)
        if table is None:
            return
        live = _live_rows(table)
        groups = table.groups[live]
        if len(set(groups.tolist())) < GROUPS:
            return
        share = tied_pairs(table.ranked[live], groups)
        if share < TIED:
            return
        place = table.shortest(live.tolist())
        group = table.totals[table.groups == table.groups[place]]
        row = table.members[0].evidence(
            table.rows[place], got=[float(total) for total in group], expected="more different totals"
        )
        yield self.finding(
            f"{share:.0%} of the pairs in a group have equal totals: {distinct_values(table.ranked[live], groups):.1f} "
            f"different totals a group of {np.mean(table.sizes[np.unique(groups)]):.1f}, an effective size of "
            f"{_effective(table, live):.1f}.",
            advice="Partial credit, or a second reward that differs where this one does not, makes more of each group.",
            cause="ties",
            evidence=row,
            count=len(live),
        )


def _live_rows(table: Table) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Rows of groups that are large enough and have two different values to be ranked by."""
    kept = []
    for group in np.flatnonzero(table.sizes >= SIZE):
        rows = np.flatnonzero((table.groups == group) & ~np.isnan(table.ranked))
        if len(rows) >= SIZE and np.ptp(table.ranked[rows]) > 0:
            kept += rows.tolist()
    return np.array(kept, dtype=np.intp)


def _effective(table: Table, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> float:
    """The mean over groups of 1 / sum of squared shares of each total."""
    sizes = []
    for group in np.unique(table.groups[rows]):
        own = table.ranked[rows][table.groups[rows] == group]
        _, counts = np.unique(own, return_counts=True)
        sizes.append(1 / float(((counts / counts.sum()) ** 2).sum()))
    return float(np.mean(sizes))
