"""RW214: a changed sample makes the reward raise, or score NaN, infinity or beyond its range."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from rewards.contract import CallResult, Status
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding, Severity
from workbench.checks.laws.drawing import rows_and_texts
from workbench.checks.properties import falsify, remember, reproduction, shrink
from workbench.checks.subject import RewardSubject, reason_of


class MutatedFails(RewardCheck):
    """Among many changed samples there is one on which the reward fails.

    Completions of the samples are changed at random by their structure: parts dropped, repeated, moved, nested and
    cut, numbers written in other ways, letters of other scripts. Every one of them must get a finite number within
    the declared range (or None, where the reward abstains). Found by Hypothesis, and shown as small as it gets.

    Example:
        last = text.split("<answer>")[1]         # IndexError where the tag was dropped

    Remedy:
        Treat the case in the code, and score it: 0.0 where it is a bad answer.
    """

    code = "RW214"
    name = "mutated-fails"
    severity = "error"
    summary = "a changed sample makes the reward raise, or score no finite number in range"
    cost = Cost.HAMPERS  # where a check of the contract tells the same matter, that one speaks
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each way of failing: raising, NaN, infinity, out of range."""
        if subject.compares or not subject.usable or not subject.steadiness.reliable:
            return
        if subject.base.seconds > 0.02 * max(1, len(subject.rows)):
            return
        results: dict[tuple[int, str], tuple[int, float, str]] = {}

        def look(items: Sequence[tuple[int, str]]) -> None:
            new = [item for item in dict.fromkeys(items) if item not in results]
            if new:
                result = subject.call([row for row, _ in new], [subject.shaped(text) for _, text in new])
                results.update(zip(new, _read(result), strict=True))

        for fails in (_raised, _not_finite, _beyond(subject)):

            def broken(items: Sequence[tuple[int, str]], fails: _Fails = fails) -> list[bool]:
                look(items)
                return [fails(*results[item]) for item in items]

            early = [item for item, result in results.items() if fails(*result)]
            found = min(early, key=lambda item: len(item[1])) if early else None
            if found is None and fails is _raised:
                found = falsify(
                    subject, rows_and_texts(subject), broken, key="fails", rows=subject.few(12), seconds=1.2
                )
            if found is not None:
                row, text = shrink(found, broken, seconds=0.4)
                remember(subject, "fails", text)
                yield self._tell(subject, row, text, *results[(row, text)])

    def _tell(
        self, subject: RewardSubject, row: int, text: str, status: int, score: float, error: str
    ) -> Finding:
        line = subject.source.line_of(error) or subject.description.line
        if error:
            message = f"{subject.name} raises {subject.source.without_place(error)} on a changed sample."
            cause = f"raises {reason_of(error)} at {subject.source.statement(subject.source.line_of(error))}"
        elif status in (Status.NAN, Status.INFINITE):
            message = f"{subject.name} scores a changed sample {'NaN' if status == Status.NAN else score}."
            cause = "RW106:NaN" if status == Status.NAN else "RW106:infinite"
        else:
            message = f"{subject.name} scores a changed sample beyond its declared range: {number(score)}."
            above = subject.declared_range is not None and score > subject.declared_range[1]
            cause = "RW107:above" if above else "RW107:below"
        return self.finding(
            message,
            advice=f"Treat the case in the code and score it. {reproduction(subject, self.code)}",
            cause=cause,
            reward=subject.name,
            severity=_level(text),
            evidence=subject.evidence(
                row,
                completion=subject.shaped(text),
                got=error or score,
                expected="a finite number"
                if subject.declared_range is None
                else f"a number in {list(subject.declared_range)}",
            ),
            line=line,
            shared=True,
        )


_Fails = Callable[[int, float, str], bool]


def _read(result: CallResult) -> list[tuple[int, float, str]]:
    rows = range(len(result.scores))
    return [(int(result.status[row]), float(result.scores[row]), result.errors.get(row, "")) for row in rows]


def _raised(status: int, score: float, error: str) -> bool:
    return status == Status.RAISED


def _not_finite(status: int, score: float, error: str) -> bool:
    return status in (Status.NAN, Status.INFINITE)


def _beyond(subject: RewardSubject) -> _Fails:
    bounds = subject.declared_range

    def beyond(status: int, score: float, error: str) -> bool:
        if bounds is None or status != Status.NUMBER or np.isnan(score):
            return False
        return not bounds[0] - 1e-6 <= score <= bounds[1] + 1e-6

    return beyond


def _level(text: str) -> Severity:
    """Broken emoji and the like are rarer than everything else."""
    return "warning" if any(0xD800 <= ord(character) <= 0xDFFF for character in text) else "error"
