"""RW611: at the planned group size few prompts would teach anything."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rewards.errors import RewardWorkbenchError
from rewards.signal import dead_probability
from workbench.checks.check import SetCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.intervals import share_interval
from workbench.checks.signal.table import Table, read_table
from workbench.checks.subject import SetSubject
from workbench.opening import manifest_of, planned_group_size

USUAL = 8
PROMPTS = 8
FEW, HARDLY = 0.5, 0.2


class FewUseful(SetCheck):
    """Of the prompts, few are expected to have any difference in totals at the group size of the training.

    A group without a difference has advantage 0 for all and is generated for nothing. Its chance is counted from the
    samples without bias: over all subsets of the planned size of a prompt's completions, how many have a single total
    (Chen et al., arXiv 2107.03374). The group size is `num_generations` of `[train]`, else 8, and no larger than what
    the samples have a prompt. Information where the 95 % interval over prompts lies below one half, a warning below a
    fifth (not for a single function outside of a project); from eight prompts on.

    Example:
        2 % right answers, 8 completions a prompt: 15 of 100 groups hold a right one

    Remedy:
        Easier prompts, partial credit, a larger group, or a first stage that teaches the format.
    """

    code = "RW611"
    name = "few-useful"
    severity = "warning"
    summary = "few prompts would teach anything at the planned group size"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """At most one finding."""
        table = read_table(subject)
        if table is None:
            return
        planned = planned_size(subject)
        size = min(planned, int(np.sort(table.sizes)[-PROMPTS]) if len(table.sizes) >= PROMPTS else 0)
        if size < 2:
            return
        useful = _useful(table, size)
        mean, low, high = share_interval([chance for _, chance in useful])
        if len(useful) < PROMPTS or not high < FEW or mean <= 0:
            return
        in_training = len(table.members) > 1 or subject.description.manifest_path is not None
        dead = [
            place
            for group, chance in useful
            if chance == 0
            for place in np.flatnonzero(table.groups == group).tolist()
        ]
        place = table.shortest(dead or range(len(table)))
        smaller = f" (planned are {planned}, the samples have fewer)" if size < planned else ""
        yield self.finding(
            f"At {size} completions a prompt{smaller} {mean:.0%} of the prompts are expected to teach anything "
            f"(interval {max(0.0, low):.0%} to {high:.0%}, {len(useful)} prompts).",
            advice="Easier prompts, partial credit, a larger group, or a first stage that teaches the format.",
            cause="few useful",
            severity="warning" if high < HARDLY and in_training else "info",
            evidence=table.members[0].evidence(
                table.rows[place],
                got=float(table.totals[place]),
                expected="different totals within its group",
            ),
            count=len(dead) or len(table),
        )


def planned_size(subject: SetSubject) -> int:
    """Completions of a prompt in the training that the project plans; 8 where it plans none."""
    try:
        manifest = manifest_of(subject.description.target)
    except RewardWorkbenchError:
        return USUAL
    return planned_group_size(manifest) or USUAL


def _useful(table: Table, size: int) -> list[tuple[int, float]]:
    """(group, chance of a difference) of each group with enough scored rows."""
    found = []
    for group in np.flatnonzero(table.sizes >= size):
        own = table.ranked[table.groups == group]
        if (~np.isnan(own)).sum() >= size:
            codes = np.zeros(len(own), dtype=np.intp)
            found.append((int(group), 1 - dead_probability(own, codes, size)))
    return found
