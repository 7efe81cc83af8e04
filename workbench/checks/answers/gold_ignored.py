"""RW404: the score does not change when the ground truth does."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from workbench.answer_variants import far_wrong
from workbench.checks.check import RewardCheck, number, shown
from workbench.checks.finding import Cost, Finding
from workbench.checks.steadiness import plain_scores
from workbench.checks.subject import RewardSubject
from workbench.checks.task import Case
from workbench.checks.trials import score_texts


class GoldIgnored(RewardCheck):
    """A right answer stays right when the row's ground truth is another one.

    The same completion is scored with another row's ground truth in the column. If it is still paid in full,
    the reward takes the right answer from somewhere else: from the prompt, from a table that it keeps, from the
    first row. Where any answer in the right form is paid, RW303 tells it.

    Example:
        gold = SOLUTIONS[prompt]          # the column is read by nobody

    Remedy:
        Compare with the column that the trainer passes.
    """

    code = "RW404"
    name = "gold-ignored"
    severity = "error"
    summary = "the score does not change when the ground truth does"
    cost = Cost.TEACHES_WRONG
    kinds = frozenset({"correctness"})

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding where right samples are paid with other rows' ground truths."""
        task = subject.task
        if task.column is None or not subject.steadiness.reliable:
            return
        pairs = [(case, other) for case in task.cases if (other := _other_gold(case, task.cases)) is not None]
        if not pairs:
            return
        assert subject.batch is not None
        columns: dict[str, list[object]] = {
            task.column: [subject.batch.columns[task.column][other.row] for _, other in pairs]
        }
        rows = [case.row for case, _ in pairs]
        result = subject.call(rows, [subject.shaped(case.text) for case, _ in pairs], columns)
        scores = plain_scores(result)
        paid = [place for place, (case, _) in enumerate(pairs) if case.pays(float(scores[place]))]
        if len(paid) < len(pairs) or _any_answer_paid(subject, [case for case, _ in pairs]):
            return
        case, other = pairs[paid[0]]
        same = bool(np.all([abs(scores[p] - pairs[p][0].full) < 1e-9 for p in paid]))
        yield self.finding(
            f"{subject.name} does not look at '{task.column}': an answer that is right for {shown(case.gold)} earns "
            f"{number(float(scores[paid[0]]))} when the ground truth is {shown(other.gold)}"
            + (", the same as before." if same else "."),
            advice=f"Compare with the column '{task.column}' of the row itself.",
            cause="ignored",
            reward=subject.name,
            evidence=subject.evidence(
                case.row,
                got=float(scores[paid[0]]),
                expected=f"less than {number(case.full)} with {shown(other.gold)}",
            ),
            line=subject.description.line,
            count=len(paid),
        )


def _other_gold(case: Case, cases: tuple[Case, ...]) -> Case | None:
    """Another case of the same sort whose ground truth differs."""
    for other in cases:
        if other.gold != case.gold and type(other.gold) is type(case.gold):
            return other
    return None


def _any_answer_paid(subject: RewardSubject, cases: list[Case]) -> bool:
    texts = [
        (case.row, case.slot.write(far[0].text))
        for case in cases
        if case.slot is not None and (far := far_wrong(case.gold, subject.task.options, form=case.form))
    ]
    scores = score_texts(subject, texts)
    return any(case.pays(score) for case, score in zip(cases, scores, strict=False))
