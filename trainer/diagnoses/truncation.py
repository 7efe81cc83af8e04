"""truncation: completions are cut off at `max_completion_length` before they end.

A completion without its end is scored as it stands, mostly 0, and the model learns to be short or nothing. Told at the
first step where nearly all are cut off, which is a setting and no development.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.watching.thresholds import Thresholds

CUT_OFF = "completions/clipped_ratio"
NEARLY_ALL = 0.9
"""A share that is told at the first step, and the least that a run may be halted for."""


def truncation(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """The share cut off over the window; at the first point where it is 90 % or more."""
    series = course.series(CUT_OFF)
    if not len(series):
        return
    recent = course.recent(CUT_OFF)
    first = recent is None
    share = series.mean() if recent is None else recent.mean()
    if (first and series.values[0] < NEARLY_ALL) or share < thresholds.truncated_warn:
        return
    limit = course.facts.max_completion_length
    yield Diagnosis(
        "truncation",
        "critical" if share >= thresholds.truncated_critical else "warning",
        f"{share:.0%} of the completions are cut off" + (f" at {limit} tokens" if limit else ""),
        "They are scored without their end, so the answer is often missing",
        "Raise max_completion_length"
        + (f" ({2 * limit})" if limit else "")
        + ", ask for short answers in the system prompt, or set mask_truncated_completions=true",
        evidence={"clipped_ratio": share, "max_completion_length": limit},
        at_once=first,
    )
