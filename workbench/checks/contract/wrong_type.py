"""RW105: what came back is no list of numbers."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.contract import Status
from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject


class WrongType(RewardCheck):
    """The function returns something else than a list of numbers.

    bool, int, float, NumPy values and tensors are fine, None means "no opinion". Text, nested lists and a
    single number stop the run; a dict does not: TRL silently takes its keys as the scores.

    Example:
        return [f"{score:.2f}" for score in scores]      # text, not numbers

    Remedy:
        Return `[float(score) for score in scores]`.
    """

    code = "RW105"
    name = "wrong-type"
    severity = "error"
    summary = "the scores are no numbers, or no list"
    cost = Cost.STOPS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each kind of wrong value."""
        kinds: dict[str, list[int]] = {}
        for place, (row, state) in enumerate(zip(subject.rows, subject.base.status, strict=True)):
            why = subject.base.errors.get(place, "")
            if state == Status.WRONG_TYPE and "coroutine" not in why:
                kinds.setdefault(_kind(why), []).append(row)
        for kind, rows in kinds.items():
            row = subject.smallest(rows)
            why = subject.base.errors[subject.rows.index(row)]
            advice = "Return one number for each completion, in a list: [float(score) for score in scores]."
            yield self.finding(
                f"{subject.name}: {why}.",
                advice=advice,
                cause=kind,
                reward=subject.name,
                evidence=subject.evidence(row, got=why, expected="a number, or None"),
                line=subject.description.line,
                count=len(rows),
            )


def _kind(why: str) -> str:
    return " ".join(why.split()[:4]) if why.startswith("returned") else " ".join(why.split()[:3])
