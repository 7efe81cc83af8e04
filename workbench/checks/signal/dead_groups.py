"""RW602: groups in which every completion earns the same."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rewards.groups import group_statistics
from workbench.checks.check import SetCheck, number
from workbench.checks.finding import Cost, Evidence, Finding, Severity
from workbench.checks.intervals import wilson
from workbench.checks.signal.table import Table, read_table
from workbench.checks.subject import SetSubject

SURE, MOST, SOME = 0.7, 0.5, 0.1
"""Where the interval of the share of dead groups begins: an error (if all are dead), a warning, information."""


class DeadGroups(SetCheck):
    """In a group all completions get the same total, so none of them has an advantage.

    The advantage is the distance from the group's mean: where all totals are equal it is 0, and the group was
    generated for nothing (TRL logs the share as `frac_reward_zero_std`). Members that cancel each other, a
    reward that only looks at the prompt, prompts that are too hard or too easy all end here. Computed with
    TRL's own arithmetic from the weights of the set; groups of one completion and groups nobody scores are
    left out. How severe it is depends on where the 95 % interval of the share begins: all groups dead and the interval
    above 70 % is an error, above 50 % a warning, above 10 % information; some dead groups of a single function, looked
    at outside of a project, are information, since it may be one of several in training. Members that differ while
    their total does not are an error at once. One reward with one score for all samples is RW601's matter.

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
    version = 2

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding about the totals of the set."""
        table = read_table(subject)
        if table is None:
            return
        stats = group_statistics(table.scores, table.weights, table.groups, aggregation=table.aggregation)
        several = stats.scorable >= 2
        flat = stats.zero_spread & several
        dead, judged = int(flat.sum()), int(several.sum())
        alone = len(table.members) == 1
        if not dead or (alone and len(np.unique(table.totals[~np.isnan(table.totals)])) < 2):
            return
        low, high = wilson(dead, judged)
        cancels = _cancelling(table) if dead == judged else []
        if low < SOME and not cancels:
            return
        severity: Severity = "warning" if low >= MOST else "info"
        if cancels or (dead == judged and low >= SURE):
            severity = "error"
        elif alone and subject.description.manifest_path is None:
            severity = "info"
        why = f": {' and '.join(cancels)} differ, but take from each other what they give" if cancels else ""
        share = "" if dead == judged else f" ({dead / judged:.0%}, interval {low:.0%} to {high:.0%})"
        yield self.finding(
            f"In {dead} of {judged} groups{share} every completion has the same total, so nothing is learnt from "
            f"them{why}.",
            advice="Give members that cancel each other different weights, or drop one."
            if cancels
            else "Give partial credit where all completions fail, or leave out prompts that are too hard or too easy.",
            cause="dead",
            reward=table.members[0].name if alone else None,
            severity=severity,
            evidence=_example(table, flat),
            count=int(flat[table.groups].sum()),
        )


def _cancelling(table: Table) -> list[str]:
    """Members that differ within groups although the totals do not; [] where fewer than two do."""
    names = []
    for at, member in enumerate(table.members):
        stats = group_statistics(table.added[:, [at]], [1.0], table.groups)
        if table.weights[at] and not stats.zero_spread[stats.scorable >= 2].all():
            names.append(member.name)
    return names if len(names) >= 2 else []


def _example(table: Table, flat: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Evidence:
    """The dead group with the shortest completion, with the totals of its rows."""
    place = table.shortest(np.flatnonzero(flat[table.groups]).tolist())
    totals = table.totals[table.groups == table.groups[place]]
    shown = [float(number(float(total))) for total in totals]
    return table.members[0].evidence(table.rows[place], got=shown, expected="different totals within a group")
