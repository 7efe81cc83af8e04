"""RW804: prompts without a question."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.data_checks import empty_prompts
from workbench.checks.check import SetCheck
from workbench.checks.data.columns import evidence_of
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import SetSubject


class EmptyPrompt(SetCheck):
    """A prompt is empty, or its user message is.

    Nothing can be answered; what is paid there is chance or a habit. Usually the column with the question has
    another name. Samples in which no prompt says anything (a log without prompts) are left alone.

    Example:
        {"prompt": "", "question": "What is 2 plus 2?", "answer": "4"}

    Remedy:
        Map the column: `[data] columns = { question = "prompt" }`, or drop the rows.
    """

    code = "RW804"
    name = "empty-prompt"
    severity = "warning"
    summary = "prompts without a question"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """At most one finding."""
        assert subject.batch is not None
        rows = empty_prompts(subject.batch.prompts)
        if not rows or len(rows) == len(subject.batch):
            return
        yield self.finding(
            f"{len(rows)} of {len(subject.batch)} samples have an empty prompt.",
            advice='Drop them, or map the column that holds the question: [data] columns = { question = "prompt" }.',
            cause="empty prompts",
            evidence=evidence_of(subject, rows[0]),
            count=len(rows),
        )
