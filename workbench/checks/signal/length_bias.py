"""RW612: longer (or shorter) completions get more, whatever they say."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from rewards.signal import within_group_correlation
from workbench.checks.check import SetCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.intervals import correlation_interval
from workbench.checks.signal.table import Floats, Table, read_table
from workbench.checks.subject import SetSubject

STRONG = 0.5
ROWS = 30
"""Rows beyond one a group that are needed."""


class LengthBias(SetCheck):
    """Within groups the total goes with the length of the completion: training will change the length first.

    Measured is the correlation with the number of characters inside groups, and how much the total changes with a
    hundred of them. Where there are labels it is counted among completions of one label, so that right answers that
    need more words are no bias. Information, told where the 95 % interval lies beyond 0.5 on at least 30 rows; a
    reward that is declared to be about length is left alone.

    Example:
        keywords found, without a limit: the more is said, the more is found

    Remedy:
        Divide by the length, set a limit, or take the length into the set as a reward of its own.
    """

    code = "RW612"
    name = "length-bias"
    severity = "info"
    summary = "the total goes with the length of the completion"
    cost = Cost.TEACHES_WRONG

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """At most one finding."""
        table = read_table(subject)
        if table is None or any(m.description.entry.kind == "length" for m in table.members):
            return
        lengths = table.lengths()
        groups = _groups_by_label(table)
        correlation = float(within_group_correlation(np.column_stack([table.totals, lengths]), groups)[0, 1])
        free = _free_rows(table, groups)
        if math.isnan(correlation) or free < ROWS:
            return
        low, high = correlation_interval(correlation, free + 1)
        if not (low > STRONG or high < -STRONG):
            return
        slope = _slope(table.totals, lengths, groups)
        place = int(np.nan_to_num(table.totals * np.sign(correlation), nan=-np.inf).argmax())
        among = " among completions of one label" if any(table.labels()) else ""
        name = "The total" if len(table.members) > 1 else table.members[0].name
        yield self.finding(
            f"{name} is higher for {'longer' if correlation > 0 else 'shorter'} completions: its correlation with the "
            f"length inside groups is {correlation:.2f}{among} (interval {low:.2f} to {high:.2f}), {slope * 100:+.2g} "
            "for each hundred characters.",
            advice="If that is not meant, divide by the length, set a limit, or make length a reward of its own.",
            cause="length",
            reward=table.members[0].name if len(table.members) == 1 else None,
            evidence=table.members[0].evidence(
                table.rows[place],
                got=float(table.totals[place]),
                expected="a score that does not hang on the length",
            ),
            count=free,
        )


def _groups_by_label(table: Table) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """A number for each prompt and label."""
    keys = list(zip(table.groups.tolist(), table.labels(), strict=True))
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)


def _free_rows(table: Table, groups: np.ndarray[tuple[int], np.dtype[np.intp]]) -> int:
    sizes = np.bincount(groups[~np.isnan(table.totals)])
    return int((sizes[sizes > 1] - 1).sum())


def _slope(totals: Floats, lengths: Floats, groups: np.ndarray[tuple[int], np.dtype[np.intp]]) -> float:
    """Change of the total with a character, inside groups."""
    known = ~np.isnan(totals)
    codes = groups[known]
    counts = np.maximum(1, np.bincount(codes))
    y = totals[known] - (np.bincount(codes, totals[known]) / counts)[codes]
    x = lengths[known] - (np.bincount(codes, lengths[known]) / counts)[codes]
    return float((x * y).sum() / (x * x).sum())
