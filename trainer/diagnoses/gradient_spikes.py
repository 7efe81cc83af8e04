"""gradient-spikes: single steps whose gradient is far beyond the usual.

One spike is luck; three are a sign of steps that undo what was learnt. Counted beyond 8 robust standard deviations
(from the median absolute deviation) and three times the median.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.diagnoses.no_op_steps import TINY
from trainer.watching.thresholds import Thresholds

LEAST_POINTS, SIGMAS, TIMES, LEAST_SPIKES = 20, 8.0, 3.0, 3


def gradient_spikes(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """Three spikes or more over the course so far."""
    series = course.series("grad_norm")
    if len(series) < LEAST_POINTS:
        return
    usual = series.median()
    if float((series.values <= TINY * series.values.max()).mean()) >= thresholds.no_op_warn:
        return  # where most steps do nothing, an ordinary one is no spike
    deviation = 1.4826 * float(np.median(np.abs(series.values - usual)))
    beyond = (series.values > usual + SIGMAS * deviation) & (series.values > TIMES * usual)
    if int(beyond.sum()) < LEAST_SPIKES:
        return
    steps = series.steps[beyond].astype(int).tolist()
    yield Diagnosis(
        "gradient-spikes",
        "warning",
        f"{len(steps)} steps had a gradient far beyond the usual {usual:.3g} (last: step {steps[-1]})",
        "Such steps can undo what was learnt",
        "Lower max_grad_norm or learning_rate, and read the completions of these steps",
        evidence={"steps": steps[-20:], "usual": usual},
    )
