"""RW409: a row without a ground truth pays a completion without an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding, Severity
from workbench.checks.steadiness import plain_scores
from workbench.checks.subject import RewardSubject

IDLE = ("", "I have no idea.")
EMPTY: tuple[Any, ...] = ("", None, [])


class EmptyGold(RewardCheck):
    """Where the ground truth is empty, a completion that answers nothing earns what a right one earns.

    A missing answer is extracted as an empty text, a missing ground truth is an empty text: they are equal. Rows
    without a ground truth come into data sets unnoticed (an empty cell, a failed extraction), and each pays for
    saying nothing. Told as an error where the samples have such rows, as information where they have none.

    Example:
        return [float(extract(text) == gold) ...]     # "" == ""

    Remedy:
        Return None where there is no ground truth, or 0.0 where no answer was found, before the two are compared.
    """

    code = "RW409"
    name = "empty-gold"
    severity = "error"
    summary = "a row without a ground truth pays a completion without an answer"
    cost = Cost.TEACHES_WRONG
    kinds = frozenset({"correctness"})

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the empty ground truth that pays."""
        task = subject.task
        if not task.cases or subject.batch is None:
            return
        if not subject.steadiness.reliable and subject.steadiness.cause not in ("company", "order"):
            return
        case = task.cases[0]
        column = task.column if task.column in subject.reads else _tests(subject) if task.programs else None
        value = subject.batch.columns[column][case.row] if column is not None else None
        if column is None or not isinstance(value, (str, list)):
            return
        usual = plain_scores(subject.call([case.row] * len(IDLE), [subject.shaped(text) for text in IDLE]))
        golds = subject.batch.columns[column]
        there = [row for row in subject.usable if golds[row] in EMPTY]
        for empty in (empty for empty in EMPTY if empty is None or type(empty) is type(value)):
            columns: dict[str, list[Any]] = {column: [empty] * len(IDLE)}
            rows = [case.row] * len(IDLE)
            result = plain_scores(subject.call(rows, [subject.shaped(text) for text in IDLE], columns))
            for place, text in enumerate(IDLE):
                if case.pays(float(result[place])) and not case.pays(float(usual[place])):
                    same = [row for row in there if golds[row] == empty]
                    yield self._tell(
                        subject, same[0] if same else case.row, text, empty, float(result[place]), len(same)
                    )
                    return

    def _tell(
        self, subject: RewardSubject, row: int, text: str, empty: Any, score: float, rows: int
    ) -> Finding:
        severity: Severity = "error" if rows else "info"
        where = f"{rows} rows of the samples have none" if rows else "no row of the samples lacks one"
        return self.finding(
            f"{subject.name} pays {text!r} {number(score)} where the ground truth is {empty!r}: nothing found "
            f"equals nothing asked for ({where}).",
            advice="Return None where there is no ground truth, and 0.0 where no answer was found, before comparing.",
            cause="empty",
            reward=subject.name,
            severity=severity,
            evidence=subject.evidence(
                row, completion=subject.shaped(text), got=score, expected="None, or less than a right answer"
            ),
            line=subject.description.line,
            count=max(1, rows),
        )


def _tests(subject: RewardSubject) -> str | None:
    """The column of tests that a reward for programs reads: the one whose values are lists."""
    assert subject.batch is not None
    columns = subject.batch.columns
    found = (name for name in subject.reads if any(isinstance(value, list) for value in columns[name]))
    return next(found, None)
