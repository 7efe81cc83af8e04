"""format-ignored: a format reward is hardly ever earned, and that does not change.

The model does not know the format, so it cannot stumble on it and be paid: instructions alone often give exactly 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.watching.thresholds import Thresholds

LEAST_STEPS, RARELY = 20, 0.05


def format_ignored(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """A reward of kind format that is paid for, below 5 % of its range, without a rise."""
    for name in course.facts.paid:
        if course.facts.kinds.get(name) != "format":
            continue
        series, recent = course.series(f"rewards/{name}/mean"), course.recent(f"rewards/{name}/mean")
        if recent is None or series.span < LEAST_STEPS:
            continue
        place = course.place(name)
        earned = place if place is not None else recent.mean()
        if earned > RARELY or series.trend.rising(0.02, 0.05):
            continue
        yield Diagnosis(
            "format-ignored",
            "warning",
            f"'{name}' stands at {earned:.1%} of what it can pay after {course.step} steps",
            "The model does not produce the format, so it never learns that it pays",
            "Put a solved example in this very format into the system prompt, and pay for its parts one by one "
            "(incremental_format) before the whole",
            subject=name,
            evidence={"place": earned, "trend_p": series.trend.p},
        )
