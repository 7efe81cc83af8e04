"""length: completions grow or shrink, and what is wanted does not grow with them.

Longer reasoning that pays is left alone. Length that drifts by half or more while the task's reward stays where it
was is paid for by something else (a length term, a loss that favours long wrong answers), and ends in truncation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trainer.diagnoses.course import Course, Series
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.watching.thresholds import Thresholds

LENGTH = ("completions/mean_length",)
TURNING = 1.2


def length(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """The window's median against the start's, and the reward since the drift began."""
    series, now, start = course.series(*LENGTH), course.recent(*LENGTH), course.start(*LENGTH)
    if now is None or start is None or start.median() <= 0:
        return
    ratio = now.median() / start.median()
    longer = ratio >= thresholds.length_ratio
    if not longer and ratio > 1 / (thresholds.length_ratio + 0.5):
        return
    if course.at_ceiling() or course.primary_rising(_drift_began(series, start.median())):
        return
    cut = course.recent("completions/clipped_ratio")
    truncated = cut.mean() if cut is not None else 0.0
    yield Diagnosis(
        "length",
        "critical" if longer and truncated >= thresholds.truncated_warn else "warning",
        f"completions are {ratio:.1f} times as long as at the start ({start.median():.0f} tokens, now "
        f"{now.median():.0f})",
        "What is wanted has not grown since the length began to drift, so the length is not what helps",
        "Look which reward the "
        + ("long" if longer else "short")
        + " completions earn; "
        + (
            "add a soft length limit, or use loss_type=dr_grpo, which does not favour long wrong answers"
            if longer
            else "let brevity pay only where the answer is right"
        ),
        evidence={"ratio": ratio, "start": start.median(), "now": now.median(), "truncated": truncated},
    )


def _drift_began(series: Series, start: float) -> float:
    """The last step at which the smoothed length was still within 20 % of the start."""
    blocks = series.blocks(30)
    ratios = np.maximum(blocks / start, start / np.maximum(blocks, 1e-9))
    near = np.flatnonzero(ratios <= TURNING)
    at = int(near[-1]) if len(near) else 0
    return float(series.steps[series.begins(30)[at]])
