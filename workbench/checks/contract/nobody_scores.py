"""RW109: rows on which every reward of the set abstains."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.contract import Status
from workbench.checks.check import SetCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject, SetSubject


class NobodyScores(SetCheck):
    """Some samples get None from every reward of the set.

    Such a row is left out of the mean and spread of its group and has advantage 0: the completion is
    generated, paid for and teaches nothing. TRL warns once a batch.

    Example:
        a data set of maths and code prompts, and only a maths reward that abstains on code

    Remedy:
        Add a reward for those prompts, or leave them out of the training data.
    """

    code = "RW109"
    name = "nobody-scores"
    severity = "warning"
    summary = "all rewards abstain on a row"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding with the smallest such row; where whole prompts are meant to be left out, information."""
        if not subject.members or subject.batch is None:
            return
        silent = set.intersection(*(_silent(member) for member in subject.members))
        seen = set.union(silent, *(set(member.rows) for member in subject.members))
        if not silent or silent == seen:
            return  # all of them is RW601's matter
        total = len(seen)
        first = subject.members[0]
        row = first.smallest(sorted(silent))
        groups = subject.batch.groups
        mixed = bool({groups[row] for row in silent} & {groups[row] for row in seen - silent})
        entries = [member.description.entry for member in subject.members]
        declared = all(entry.abstains or entry.when for entry in entries)
        rows_text = "1 sample gets" if len(silent) == 1 else f"{len(silent)} of {total} samples get"
        yield self.finding(
            f"{rows_text} None from every reward of the set: nothing is learnt from them.",
            advice="Add a reward that judges these prompts, or leave them out of the data.",
            cause="silent",
            severity="warning" if mixed and not declared else "info",
            evidence=first.evidence(row, got=None, expected="a number from at least one reward"),
            count=len(silent),
        )


def _silent(member: RewardSubject) -> set[int]:
    """Rows on which a reward has no opinion, or with which it is not concerned."""
    nothing = {
        row
        for row, state in zip(member.rows, member.base.status, strict=True)
        if state in (Status.ABSTAINED, Status.NAN)
    }
    return nothing | (set(range(len(member.batch or []))) - set(member.concerned))
