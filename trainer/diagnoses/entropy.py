"""entropy: the model has become nearly certain of every token, and what is wanted has stopped growing.

Judged against the run's own start, never by an absolute number: language models differ by an order of magnitude.
Entropy falls in healthy runs too, so it counts only where the reward does not grow in the recent half and is not at
its ceiling.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.watching.thresholds import Thresholds


def entropy_ratio(course: Course) -> float | None:
    """The window's median entropy in units of the start's; None too early."""
    now, start = course.recent("entropy"), course.start("entropy")
    if now is None or start is None or start.median() <= 0:
        return None
    return now.median() / start.median()


def entropy(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """The ratio to the start, where the primary reward stands still below its ceiling."""
    ratio = entropy_ratio(course)
    if ratio is None or ratio >= thresholds.entropy_warn or course.at_ceiling() or course.primary_rising():
        return
    yield Diagnosis(
        "entropy",
        "critical" if ratio < thresholds.entropy_critical else "warning",
        f"the entropy of the tokens is at {ratio:.0%} of its start",
        "The model hardly tries anything else any more, and what is wanted no longer grows",
        "Stop earlier, lower learning_rate or let it decay, raise temperature, or raise epsilon_high (0.28) so that "
        "rare tokens may grow",
        evidence={"ratio": ratio},
    )
