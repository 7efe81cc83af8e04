"""RW606: one member makes nearly all differences within a group."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from workbench.checks.check import SetCheck, number
from workbench.checks.finding import Cost, Evidence, Finding, Severity
from workbench.checks.signal.primary import primary_of
from workbench.checks.signal.table import Floats, Table, read_table
from workbench.checks.subject import SetSubject

LOUD = 0.8
QUIET = 0.02
GROUPS = 8
DRAWS = 200
"""Groups drawn with replacement for the interval."""


class Dominance(SetCheck):
    """A lesser member speaks so loudly that the others are hardly heard, or a member hardly counts at all.

    What a member adds to the differences within a group is its weight times its spread there, whatever its scale was
    meant to be: a length reward of 0 to 10 beside a correctness of 0 to 1 decides nearly everything. Told where a
    member has over 80 % of the summed spreads (95 % interval over groups, at least eight of them): a warning where
    another one is about correctness (as declared, or shown by labels), else information. A member that varies but has
    under 2 % is told as information. Under `normalize_then_sum` each member is scaled to the same spread, so only
    weights can make one dominate, and nothing is told.

    Example:
        correctness 0 or 1, weight 1; effort = words / 25, weight 1

    Remedy:
        Scale the rewards to 0..1, give the lesser one a smaller weight, or set aggregation = "normalize_then_sum".
    """

    code = "RW606"
    name = "dominance"
    severity = "warning"
    summary = "one member makes nearly all differences within a group"
    cost = Cost.TEACHES_WRONG

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding for the loudest member, else one for each that hardly counts."""
        table = read_table(subject)
        if table is None or len(table.members) < 2 or table.aggregation == "normalize_then_sum":
            return
        if table.several < GROUPS:
            return
        low, loudness, high = _loudness(table, subject.options.seed)
        primary = primary_of(table)
        loud = [at for at in range(len(table.members)) if low[at] >= LOUD and at != primary]
        for at in range(len(table.members)):
            if at in loud:
                yield self._loud(table, at, primary, loudness, low)
            elif not loud and loudness[at] > 0 and high[at] < QUIET:
                yield self._quiet(table, at, loudness)

    def _loud(self, table: Table, at: int, primary: int | None, loudness: Floats, low: Floats) -> Finding:
        member = table.members[at]
        beside = f", and {table.members[primary].name} {loudness[primary]:.0%}" if primary is not None else ""
        severity: Severity = "warning" if primary is not None else "info"
        return self.finding(
            f"{member.name} makes {loudness[at]:.0%} of the differences within groups (at least {low[at]:.0%})"
            f"{beside}.",
            advice='Scale the rewards to 0..1, give it a smaller weight, or set aggregation = "normalize_then_sum".',
            cause="loud",
            reward=member.name,
            severity=severity,
            evidence=_widest(table, at),
            line=member.description.line,
        )

    def _quiet(self, table: Table, at: int, loudness: Floats) -> Finding:
        member = table.members[at]
        return self.finding(
            f"{member.name} hardly counts: it makes {loudness[at]:.1%} of the differences within groups.",
            advice=f"Give it more than its weight of {number(table.weights[at])}, or drop it.",
            cause="quiet",
            reward=member.name,
            severity="info",
            evidence=_widest(table, at),
            line=member.description.line,
        )


def _loudness(table: Table, seed: int) -> tuple[Floats, Floats, Floats]:
    """(members,) low, measured and high: weight times within-group spread, as a share; interval over groups."""
    variance = _variance(table)  # (groups, members)
    chosen = np.random.default_rng(seed).integers(0, len(variance), (DRAWS, len(variance)))
    means = np.concatenate([variance.mean(axis=0)[None], variance[chosen].mean(axis=1)])  # (draws, members)
    loud = np.abs(table.weights) * np.sqrt(means)
    with np.errstate(invalid="ignore"):
        shares = np.nan_to_num(loud / loud.sum(axis=1, keepdims=True))
    return np.quantile(shares[1:], 0.025, axis=0), shares[0], np.quantile(shares[1:], 0.975, axis=0)


def _variance(table: Table) -> Floats:
    """(groups, members) variance (ddof 1) of what is added up, in each group of two or more scored rows."""
    known = ~np.isnan(table.added).any(axis=1)
    added, codes = table.added[known], table.groups[known]
    counts = np.bincount(codes, minlength=len(table.sizes))
    sums = np.stack([np.bincount(codes, column, len(counts)) for column in added.T], axis=1)
    centred = added - (sums / np.maximum(1, counts)[:, None])[codes]
    squares = np.stack([np.bincount(codes, column, len(counts)) for column in (centred**2).T], axis=1)
    several = counts > 1
    return np.asarray(squares[several] / (counts[several] - 1)[:, None])


def _widest(table: Table, at: int) -> Evidence:
    """The completion that the member moves furthest from its group's mean."""
    column = table.added[:, at]
    sums = np.bincount(table.groups, np.nan_to_num(column))
    away = np.abs(np.nan_to_num(column) - (sums / table.sizes)[table.groups])
    place = int(away.argmax())
    scores = {member.name: float(table.scores[place, k]) for k, member in enumerate(table.members)}
    return table.members[at].evidence(
        table.rows[place],
        got={name: None if math.isnan(score) else score for name, score in scores.items()},
        expected="members that move the total alike",
    )
