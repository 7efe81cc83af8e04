"""RW806: ground truths that are none."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.data_checks import unreadable_values
from workbench.checks.check import SetCheck, shown
from workbench.checks.data.columns import evidence_of, gold_columns
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import SetSubject


class UnreadableGolds(SetCheck):
    """A ground truth looks like no answer: a placeholder, broken characters, cut LaTeX, a whole solution among answers.

    Such rows pay nobody, or everybody who writes the same nonsense. What is said here needs no reward: whether a
    reward can read a ground truth in the form it has is RW401.

    Example:
        "answer": "\\\\frac{1}{2"          # the closing brace was cut off

    Remedy:
        Repair or drop the rows before training.
    """

    code = "RW806"
    name = "unreadable-golds"
    severity = "warning"
    summary = "ground truths that are placeholders, broken or cut"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding a column and reason."""
        assert subject.batch is not None
        for name in gold_columns(subject):
            values = subject.batch.columns[name]
            reasons: dict[str, list[int]] = {}
            for row, why in unreadable_values(values):
                reasons.setdefault(why, []).append(row)
            for why, rows in reasons.items():
                yield self.finding(
                    f"'{name}' {why} in {len(rows)} of {len(values)} samples: {shown(values[rows[0]])}.",
                    advice="Repair or drop these rows: nobody can answer them.",
                    cause=f"unreadable {name}: {why.partition(' (')[0]}",
                    evidence=evidence_of(subject, rows[0], got=values[rows[0]]),
                    count=len(rows),
                )
