"""What the checks of one call against another have in common: one cause is told by one check."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Finding, Severity
from workbench.checks.steadiness import Cause, Steadiness
from workbench.checks.subject import RewardSubject


class Unsteady(RewardCheck):
    """Base of the checks that compare two calls over the same rows; see `workbench.checks.steadiness`."""

    causes: ClassVar[tuple[Cause, ...]]
    advice: ClassVar[str]
    expected: ClassVar[str] = "the same score both times"

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding where the scores move for a cause that this check tells."""
        found = subject.steadiness
        if found.cause not in self.causes or found.row is None:
            return
        first, then = _shown(found.first), _shown(found.then)
        yield self.finding(
            self.sentence(subject, found, first, then),
            advice=self.advice,
            cause=str(found.cause),
            reward=subject.name,
            severity=self.level(found),
            evidence=subject.evidence(found.row, got=[found.first, found.then], expected=self.expected),
            line=subject.description.line,
            count=found.moved,
        )

    def level(self, found: Steadiness) -> Severity:
        """How severe this one is."""
        return self.severity

    def sentence(self, subject: RewardSubject, found: Steadiness, first: str, then: str) -> str:
        """What is wrong; `first` and `then` are the two scores in words."""
        raise NotImplementedError


def _shown(score: float | None) -> str:
    return "nothing (None)" if score is None or score != score else number(score)
