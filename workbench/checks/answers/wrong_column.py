"""RW405: another column than the ground truth is compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.answer_form import find_slot, gold_text
from workbench.checks.check import RewardCheck, number, shown
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject
from workbench.checks.trials import score_texts


class WrongColumn(RewardCheck):
    """The reward pays another column's value instead of the ground truth.

    No right sample earns more than a wrong one, but a completion that holds the value of another column, in the
    form of the right samples, does: the comparison is made with the wrong column (an index, a topic, the
    question's number).

    Example:
        def reward(completions, question_id, **kwargs): ...      # compared with the answer

    Remedy:
        Name the column that holds the ground truth in the reward's signature, and compare with it.
    """

    code = "RW405"
    name = "wrong-column"
    severity = "error"
    summary = "another column than the ground truth is compared"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding that names the column which is paid, and the one that the right samples hold."""
        if (
            subject.task.cases
            or not subject.judged
            or subject.batch is None
            or not subject.steadiness.reliable
        ):
            return
        right = [row for row in subject.labelled("right") if row in subject.scores]
        if not right or not subject.labelled("wrong", "hack"):
            return
        columns = subject.batch.columns
        for truth in columns:
            slots = {row: find_slot(subject.text(row), columns[truth][row]) for row in right[:20]}
            known = [(row, slot) for row, slot in slots.items() if slot is not None]
            if len(known) < 0.6 * len(slots) or len({str(columns[truth][row]) for row, _ in known}) < 2:
                continue
            for name in columns:
                if name == truth or not all(_scalar(columns[name][row]) for row, _ in known):
                    continue
                texts = [(row, slot.write(gold_text(columns[name][row]))) for row, slot in known]
                scores = score_texts(subject, texts)
                if all(
                    score > subject.scores[row] + 1e-9 for (row, _), score in zip(texts, scores, strict=True)
                ):
                    (row, text), score = texts[0], scores[0]
                    yield self.finding(
                        f"{subject.name} compares with the column '{name}', and the right samples answer with "
                        f"'{truth}': {shown(columns[truth][row])} earns {number(subject.scores[row])}, and "
                        f"{shown(columns[name][row])} earns {number(score)}.",
                        advice=f"Compare with '{truth}'.",
                        cause="constant",
                        reward=subject.name,
                        evidence=subject.evidence(
                            row,
                            completion=subject.shaped(text),
                            got=score,
                            expected=f"pay for {shown(columns[truth][row])}",
                        ),
                        line=subject.description.line,
                        count=len(right),
                        shared=True,
                    )
                    return


def _scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != ""
