"""RW408: the declared maximum is never paid."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject


class TopUnreached(RewardCheck):
    """Right samples earn the same share of the declared maximum, and none of them all of it.

    A reward that says it returns up to 1 and pays a perfect answer 0.75 makes adaptive weights, success shares and
    the balance of the set wrong. Looked at where right samples can be perfect: for correctness, layout and
    length, with labelled right samples; every completion the checks tried counts as well.

    Example:
        return [right / (len(fields) + 1) ...]        # one too many

    Remedy:
        Correct the scale, or declare the range that is meant.
    """

    code = "RW408"
    name = "top-unreached"
    severity = "warning"
    summary = "right samples never earn the declared maximum"
    cost = Cost.HAMPERS
    kinds = frozenset({"correctness", "format", "length"})

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the best right sample."""
        task, bounds = subject.task, subject.declared_range
        if (
            bounds is None
            or not task.cases
            or task.how != "declared"
            or task.kind not in ("correctness", "format", "length")
        ):
            return
        right = [row for row in subject.labelled("right") if row in subject.scores] if subject.judged else []
        if len(right) < 2 or not subject.steadiness.reliable:
            return
        low, high = bounds
        best = max(right, key=lambda row: (subject.scores[row], -len(subject.text(row))))
        top = max([subject.scores[best], *(score for score in subject.tried.values() if score == score)])
        if top >= high - 0.01 * (high - low):
            return
        yield self.finding(
            f"{subject.name} never pays its declared maximum {number(high)}: the best of {len(right)} right samples "
            f"gets {number(subject.scores[best])}.",
            advice="Correct the scale, or declare the range that is meant.",
            cause="top",
            reward=subject.name,
            evidence=subject.evidence(best, got=subject.scores[best], expected=high),
            line=subject.description.line,
            count=len(right),
        )
