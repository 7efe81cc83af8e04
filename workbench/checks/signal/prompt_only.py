"""RW604: a reward that is the same for all completions of a prompt."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rewards.contract import Status
from rewards.groups import group_statistics
from workbench.checks.check import SetCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.intervals import wilson
from workbench.checks.signal.table import Table, read_table
from workbench.checks.subject import RewardSubject, SetSubject

SHARE = 0.8


class PromptOnly(SetCheck):
    """A reward gives all completions of a prompt the same score, in nearly all groups.

    GRPO subtracts the group's mean, so a score that depends on the prompt alone is subtracted whole, however much it
    differs between prompts. Where made-up completions under one prompt get the same score too, it is a warning: the
    reward does not look at the completion. Else it is information about a member that adds nothing on these samples,
    told where the 95 % interval of the share of such groups begins above 80 %. One score for all samples is RW601.

    Example:
        return [difficulty for difficulty in kwargs["level"]]        # easy prompts 0.2, hard ones 1.0

    Remedy:
        Multiply it with something that differs between completions, or drop it.
    """

    code = "RW604"
    name = "prompt-only"
    severity = "warning"
    summary = "the same score for all completions of a prompt"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding for each such member."""
        table = read_table(subject)
        if table is None:
            return
        for at, member in enumerate(table.members):
            yield from self._one(table, at, member)

    def _one(self, table: Table, at: int, member: RewardSubject) -> Iterable[Finding]:
        column = table.scores[:, at]
        stats = group_statistics(column[:, None], [1.0], table.groups)
        judged = stats.scorable >= 2
        flat, several = int((stats.zero_spread & judged).sum()), int(judged.sum())
        if len(set(column[~np.isnan(column)].tolist())) < 2 or not several:
            return
        blind = flat == several >= 2 and _blind(member)
        low, high = wilson(flat, several)
        if not blind and (low < SHARE or len(table.members) == 1):
            return
        place = table.shortest(np.flatnonzero(~np.isnan(column)).tolist())
        yield self.finding(
            f"{member.name} gives all completions of a prompt the same score in {flat} of {several} groups"
            + (", and made-up ones too: it does not look at the completion." if blind else
               f" (interval {low:.0%} to {high:.0%}), so it adds nothing there."),
            advice="The group's mean takes away what depends on the prompt alone: let it depend on the completion, or "
            "drop it.",
            cause="prompt only",
            reward=member.name,
            severity="warning" if blind else "info",
            evidence=member.evidence(
                table.rows[place], got=float(column[place]), expected="different scores within a group"
            ),
            line=member.description.line,
            count=int(table.sizes[stats.zero_spread & judged].sum()),
        )  # fmt: skip


def _blind(member: RewardSubject) -> bool:
    """Whether odd completions under one prompt all earn what its own one does."""
    scores = {score for _, score, status in member.odd.shortest_first() if status == Status.NUMBER}
    return len(scores) == 1 and len(member.odd.items) >= 10
