"""RW217: pay falls with the length and rises again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject
from workbench.checks.trials import score_texts

TIMES = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32)
LONGEST = 20_000
SHARE = 0.3


class LengthReturns(RewardCheck):
    """A completion written many times over earns less, and still longer it earns more again.

    A schedule over the length that is not held at its end comes back: a cosine rises again beyond its last point, a
    remainder starts over. A policy that is long already is then paid for being longer. Shown by the lengths at
    which the score falls and at which it has come back by a third of what it fell.

    Example:
        0.5 * (1 + math.cos(math.pi * len(text) / longest))         # 2 * longest: as good as nothing

    Remedy:
        Hold the schedule at its end: `min(len(text), longest)`.
    """

    code = "RW217"
    name = "length-returns"
    severity = "warning"
    summary = "pay falls with the length and rises again"
    cost = Cost.TEACHES_WRONG
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the lengths."""
        if subject.compares or not subject.steadiness.reliable:
            return
        row = subject.best_row()
        if row is None or not subject.text(row).strip():
            return
        text = subject.text(row)
        copies = ["\n".join([text] * times) for times in TIMES if times * len(text) <= LONGEST]
        scores = score_texts(subject, [(row, copy) for copy in copies])
        found = _comes_back(scores)
        if found is None:
            return
        low, high = found
        yield self.finding(
            f"{subject.name} falls with the length and rises again: {len(copies[low]):,} characters of one text "
            f"repeated earn {number(scores[low])}, {len(copies[high]):,} earn {number(scores[high])}.",
            advice="Hold the schedule over the length at its end: min(length, longest).",
            cause="returns",
            reward=subject.name,
            evidence=subject.evidence(
                row,
                completion=subject.shaped(copies[high]),
                got=scores[high],
                expected=f"at most {number(scores[low])}, as at {len(copies[low]):,} characters",
            ),
            line=subject.description.line,
        )


def _comes_back(scores: Sequence[float]) -> tuple[int, int] | None:
    """Places of the lowest score after a fall, and of a later one that is clearly higher; None where there is none.

    >>> _comes_back([1.0, 0.5, 0.0, 0.6, 1.0]), _comes_back([1.0, 0.4, 0.0, 0.0]), _comes_back([0.0, 0.5, 1.0])
    ((2, 4), None, None)
    """
    if any(score != score for score in scores) or len(scores) < 3:
        return None
    spread = max(scores) - min(scores)
    for low in range(1, len(scores) - 1):
        fallen = max(scores[:low]) - scores[low]
        high = max(range(low + 1, len(scores)), key=lambda place: scores[place])
        if spread > 1e-9 and fallen >= SHARE * spread and scores[high] - scores[low] >= SHARE * fallen:
            lowest = min(range(1, high), key=lambda place: scores[place])
            return lowest, high
    return None
