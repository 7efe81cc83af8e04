"""RW602: groups in which every completion earns the same."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from rewards.groups import group_statistics
from workbench.checks.check import SetCheck, number
from workbench.checks.finding import Cost, Evidence, Finding
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
        members = subject.members
        if not members or subject.batch is None:
            return
        rows = sorted(set.intersection(*(set(member.usable) for member in members)))
        weights = [member.description.entry.weight for member in members]
        if not rows or not any(weights):
            return
        table = np.column_stack([member.column(rows) for member in members])
        table = np.where(np.isfinite(table), table, np.nan)
        stats = group_statistics(table, weights, [subject.batch.groups[row] for row in rows])
        judged = stats.scorable >= 2
        if not judged.any():
            return
        dead = stats.zero_spread & judged
        share = float(dead.sum() / judged.sum())
        yield from self._say(
            subject, share, int(judged.sum()), str(stats.names[int(np.argmax(dead))]), table, rows
        )

    def _say(
        self,
        subject: SetSubject,
        share: float,
        groups: int,
        example: str,
        table: npt.NDArray[np.float64],
        rows: list[int],
    ) -> Iterable[Finding]:
        all_dead = share == 1.0 and (groups >= 2 or len(rows) >= 4)
        if not all_dead and (share < SOME or groups < 4):
            return
        severity = "error" if all_dead else "warning" if share >= MOST else "info"
        members, batch = subject.members, subject.batch
        assert batch is not None
        inside = [place for place, row in enumerate(rows) if batch.groups[row] == example]
        weights = np.array([member.description.entry.weight for member in members])
        totals = np.nansum(table[inside] * weights, axis=1)
        row = members[0].smallest([rows[place] for place in inside])
        varied = [member.name for place, member in enumerate(members) if len(_values(table[:, place])) > 1]
        cancels = all_dead and len(varied) >= 2
        why = f": {' and '.join(varied)} differ, but take from each other what they give" if cancels else ""
        dead = round(share * groups)
        yield self.finding(
            f"In {dead} of {groups} groups every completion has the same total, so nothing is learnt from them{why}.",
            advice="Give members that cancel different weights or drop one."
            if cancels
            else "Give partial credit where all completions fail, or leave out prompts that are too hard or too easy.",
            cause="constant" if all_dead and len(members) == 1 else "dead",
            reward=members[0].name if len(members) == 1 else None,
            severity="error" if severity == "error" else "warning" if severity == "warning" else "info",
            evidence=Evidence(
                prompt=batch.prompts[row],
                completion=batch.completions[row],
                columns={name: values[row] for name, values in batch.columns.items()},
                got=[float(number(total)) for total in totals],
                expected="different totals within a group",
            ),
            count=dead,
            shared=all_dead and len(members) == 1,
        )


def _values(column: npt.NDArray[np.float64]) -> set[float]:
    return set(column[~np.isnan(column)].tolist())
