"""RW705: a plain second reading of the answers disagrees with the reward on some samples."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.answer_form import places, same_answer
from workbench.checks.check import RewardCheck, number, shown
from workbench.checks.finding import Cost, Finding
from workbench.checks.golds import find_gold
from workbench.checks.intervals import wilson
from workbench.checks.subject import RewardSubject

ENOUGH = 10
ROWS = 400
MARKED = ("tag:", "boxed", "hash", "line", "json")
"""Forms in which an answer is marked, so that its place is no guess."""


@dataclass(frozen=True)
class _Reading:
    """What stands as the answer of a row, and whether that is the ground truth."""

    row: int
    answer: str
    right: bool


class SecondReading(RewardCheck):
    """Another grader, which only compares the marked answer with the ground truth, thinks otherwise of some samples.

    The form in which answers stand is learnt from the samples (`<answer>`, a box, `####`, "Answer:", JSON); what
    stands there is compared with the ground truth by value. Rows where that is unclear have no say, and a label
    outweighs it. It is information, a lead to follow: this reading knows nothing of tolerances, units or forms that the
    task may allow. Told are how often both agree, with an interval, and the shortest sample on which they do not.

    Example:
        "<answer>1,250</answer>" for 1250: the reward says 0, the second reading says right

    Remedy:
        Look at the sample; correct the reward, or label the sample, which settles it.
    """

    code = "RW705"
    name = "second-reading"
    severity = "info"
    summary = "a plain second reading of the answers disagrees with the reward"
    cost = Cost.TEACHES_WRONG
    quick = False
    kinds = frozenset({"correctness"})

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """At most one finding."""
        if not subject.steadiness.reliable:
            return
        readings = _readings(subject)
        right = [subject.scores[reading.row] for reading in readings if reading.right]
        if len(readings) < ENOUGH or not right:
            return
        full, floor = statistics.median(right), min(subject.scores.values())
        if full <= floor:
            return  # right answers are not paid at all: another check says so
        apart = [
            reading for reading in readings if _disagrees(reading, subject.scores[reading.row], full, floor)
        ]
        apart = [reading for reading in apart if not _settled(subject, reading)]
        if not apart:
            return
        row = subject.smallest([reading.row for reading in apart])
        found = next(reading for reading in apart if reading.row == row)
        agree = len(readings) - len(apart)
        low, high = wilson(agree, len(readings))
        says = "right" if found.right else "wrong"
        yield self.finding(
            f"A plain second reading agrees with {subject.name} on {agree} of {len(readings)} samples (interval "
            f"{low:.0%} to {high:.0%}). It reads {shown(found.answer)} here, which is {says}, and the reward gives "
            f"{number(subject.scores[row])}.",
            advice="Look at the sample; correct the reward, or label the sample, which settles it.",
            cause="second reading",
            reward=subject.name,
            evidence=subject.evidence(
                row,
                got=subject.scores[row],
                expected=f"{number(full)}, as right answers get"
                if found.right
                else f"less than {number(full)}",
            ),
            line=subject.description.line,
            count=len(apart),
        )


def _disagrees(reading: _Reading, score: float, full: float, floor: float) -> bool:
    little = 1e-6 * max(1.0, abs(full))
    return score <= floor + little if reading.right else score >= full - little


def _settled(subject: RewardSubject, reading: _Reading) -> bool:
    """Whether a label says what the reading does not."""
    assert subject.samples is not None
    label = subject.samples.labels[reading.row] if subject.judged else None
    return label in (("wrong", "hack", "partial") if reading.right else ("right", "partial"))


def _readings(subject: RewardSubject) -> list[_Reading]:
    """The rows whose marked answer surely is, or surely is not, the ground truth of a column that the reward reads."""
    assert subject.batch is not None
    for column in subject.reads:
        golds = subject.batch.columns[column]
        rows = [row for row in subject.scores if golds[row] is not None][:ROWS]
        slots = {row: find_gold(subject.text(row), golds[row]) for row in rows}
        forms = Counter(
            slot.form for slot in slots.values() if slot is not None and slot.form.startswith(MARKED)
        )
        if not forms:
            continue
        form = forms.most_common(1)[0][0]
        found = []
        for row in rows:
            said = [place.answer for place in places(subject.text(row)) if place.form == form]
            equal = same_answer(said[0], golds[row]) if len(said) == 1 else None
            if equal is not None:
                found.append(_Reading(row, said[0], equal))
        return found
    return []
