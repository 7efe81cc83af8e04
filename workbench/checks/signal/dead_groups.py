"""RW602: groups in which every completion earns the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rewards.groups import group_statistics
from workbench.checks.check import SetCheck, number
from workbench.checks.finding import Cost, Evidence, Finding, Severity
from workbench.checks.subject import SetSubject

MOST = 0.8
SOME = 0.3


class DeadGroups(SetCheck):
    """In a group all completions get the same total, so none of them has an advantage.

    The advantage is the distance from the group's mean: where all totals are equal it is 0, and the group was
    generated for nothing (TRL logs the share as `frac_reward_zero_std`). Members that cancel each other, a
    reward that only looks at the prompt, prompts that are too hard or too easy all end here. Computed with
    TRL's own arithmetic from the weights of the set; groups of one completion and groups nobody scores are
    left out.

    Example:
        detail = min(1, words / 40), brevity = 1 - min(1, words / 40): the total is 1 for every completion

    Remedy:
        Look at each member's spread. Members that take from each other what they give need different weights; a reward
        that is 0 everywhere needs partial credit; prompts without any difference can go.
    """

    code = "RW602"
    name = "dead-groups"
    severity = "error"
    summary = "groups in which all completions get the same total"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding about the totals of the set."""
        seen = _look(subject)
        if seen is None:
            return
        dead, judged = len(seen.dead), seen.judged
        all_dead = dead == judged and (judged >= 2 or len(seen.rows) >= 4)
        if not all_dead and (dead < SOME * judged or judged < 4):
            return
        severity: Severity = "error" if all_dead else "warning" if dead >= MOST * judged else "info"
        alone = len(subject.members) == 1
        varied = [
            member.name
            for place, member in enumerate(subject.members)
            if len(_values(seen.table[:, place])) > 1
        ]
        cancels = all_dead and len(varied) >= 2
        why = f": {' and '.join(varied)} differ, but take from each other what they give" if cancels else ""
        yield self.finding(
            f"In {dead} of {judged} groups every completion has the same total, so nothing is learnt from them{why}.",
            advice="Give members that cancel each other different weights, or drop one."
            if cancels
            else "Give partial credit where all completions fail, or leave out prompts that are too hard or too easy.",
            cause="constant" if all_dead and alone else "dead",
            reward=subject.members[0].name if alone else None,
            severity=severity,
            evidence=_example(subject, seen),
            count=sum(group in seen.dead for group in seen.groups),
            shared=all_dead and alone,
        )


@dataclass(frozen=True)
class _Seen:
    """The scores of the rows that every member scored, their groups, and which groups are dead."""

    rows: list[int]
    groups: list[str]
    table: npt.NDArray[np.float64]
    totals: npt.NDArray[np.float64]
    dead: frozenset[str]
    judged: int


def _look(subject: SetSubject) -> _Seen | None:
    """None where there is no group of two scored completions, or every weight is 0."""
    members = subject.members
    if not members or subject.batch is None:
        return None
    everything = set(range(len(subject.batch)))
    rows = sorted(set.intersection(*(everything - (set(m.concerned) - set(m.usable)) for m in members)))
    weights = np.array([member.description.entry.weight for member in members])
    if not rows or not weights.any():
        return None
    table = np.column_stack([member.column(rows) for member in members])
    table = np.where(np.isfinite(table), table, np.nan)
    groups = [subject.batch.groups[row] for row in rows]
    stats = group_statistics(table, weights, groups)
    judged = stats.scorable >= 2
    if not judged.any():
        return None
    dead = frozenset(
        str(name) for name, flat in zip(stats.names, stats.zero_spread & judged, strict=True) if flat
    )
    return _Seen(rows, groups, table, np.nansum(table * weights, axis=1), dead, int(judged.sum()))


def _example(subject: SetSubject, seen: _Seen) -> Evidence:
    """The dead group with the shortest completion, with the totals of its rows."""
    first = subject.members[0]
    places = [place for place, group in enumerate(seen.groups) if group in seen.dead]
    row = first.smallest([seen.rows[place] for place in places])
    group = seen.groups[seen.rows.index(row)]
    totals = [
        float(number(total)) for total, name in zip(seen.totals, seen.groups, strict=True) if name == group
    ]
    return first.evidence(row, got=totals, expected="different totals within a group")


def _values(column: npt.NDArray[np.float64]) -> set[float]:
    return set(column[~np.isnan(column)].tolist())
