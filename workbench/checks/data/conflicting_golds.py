"""RW805: one question, two answers."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.data_checks import conflicting_values
from workbench.checks.check import SetCheck, shown
from workbench.checks.data.columns import evidence_of, gold_columns
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import SetSubject


class ConflictingGolds(SetCheck):
    """Equal prompts have different ground truths.

    Whatever the policy answers is wrong in one of the rows; in a group the same answer is paid and not paid. Forms of
    one number (72 and 72.0) are no conflict.

    Example:
        {"prompt": "What is 7 times 8?", "answer": "56"}, {"prompt": "What is 7 times 8?", "answer": "54"}

    Remedy:
        Correct or drop one of them; where both are right, give a list of answers to a reward that takes one.
    """

    code = "RW805"
    name = "conflicting-golds"
    severity = "warning"
    summary = "equal prompts with different ground truths"
    cost = Cost.TEACHES_WRONG

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding a column."""
        assert subject.batch is not None
        for name in gold_columns(subject):
            values = subject.batch.columns[name]
            pairs = conflicting_values(subject.batch.prompts, values)
            if pairs:
                row, other = pairs[0]
                many = f"{len(pairs)} prompts have" if len(pairs) > 1 else "a prompt has"
                yield self.finding(
                    f"{many} different values of '{name}' in different rows: {shown(values[row])} and "
                    f"{shown(values[other])}.",
                    advice="Correct or drop one of the rows: whatever is answered is wrong in one of them.",
                    cause=f"conflict {name}",
                    evidence=evidence_of(subject, row, got=values[other], expected=values[row]),
                    count=len(pairs),
                )
