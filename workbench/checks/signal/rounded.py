"""RW614: different scores that become equal in the trainer's arithmetic."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from workbench.checks.check import SetCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.signal.table import Floats, Table, read_table
from workbench.checks.subject import SetSubject

MATTERS = 1e-4
"""A difference below this is noise of a sum, not a message."""


class Rounded(SetCheck):
    """Two completions of a group have different scores, but TRL computes in float32 and sees the same.

    float32 keeps about seven digits: 100000.01 and 100000.02 are one number, and from 16777216 on not even whole
    numbers are told apart. A reward that adds a large constant, or one of very large scale beside a small one, loses
    the small differences it was meant to make.

    Example:
        return [1e8 + quality ...]

    Remedy:
        Keep rewards between 0 and 1; subtract constants.
    """

    code = "RW614"
    name = "rounded"
    severity = "warning"
    summary = "different scores are equal in float32"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding for each member, and one for the total, that loses differences."""
        table = read_table(subject)
        if table is None:
            return
        told = False
        for at, member in enumerate(table.members):
            pair = _lost(table, table.scores[:, at])
            if pair is not None:
                told = True
                yield self._tell(table, table.scores[:, at], pair, member.name)
        pair = _lost(table, table.totals)
        if pair is not None and not told:
            yield self._tell(table, table.totals, pair, None)

    def _tell(self, table: Table, column: Floats, pair: tuple[int, int], reward: str | None) -> Finding:
        one, other = pair
        member = next((m for m in table.members if m.name == reward), table.members[0])
        return self.finding(
            f"{reward or 'The total'} gives two completions of a prompt {float(column[one])!r} and "
            f"{float(column[other])!r}, which are one number in the trainer's float32: "
            f"{float(np.float32(column[one]))!r}.",
            advice="Keep rewards between 0 and 1; subtract constants.",
            cause="float32",
            reward=reward,
            evidence=member.evidence(
                table.rows[one], got=float(column[one]), expected="differences that float32 keeps"
            ),
            line=member.description.line if reward else None,
        )


def _lost(table: Table, column: Floats) -> tuple[int, int] | None:
    """Two rows of a group whose difference matters and is lost."""
    if not len(column) or not np.nanmax(np.abs(column), initial=0.0) > 16:
        return None
    order = np.lexsort((column, table.groups))
    ordered, groups = column[order], table.groups[order]
    with np.errstate(over="ignore", invalid="ignore"):
        same = ordered[1:].astype(np.float32) == ordered[:-1].astype(np.float32)
        lost = (groups[1:] == groups[:-1]) & same & (np.diff(ordered) >= MATTERS)
    places = np.flatnonzero(lost)
    return (int(order[places[0]]), int(order[places[0] + 1])) if len(places) else None
