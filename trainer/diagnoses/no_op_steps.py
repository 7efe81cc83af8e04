"""no-op-steps: steps whose gradient is next to nothing.

Under 1 % of the run's usual gradient a step changes nothing: its groups were flat, or all its completions were masked.
With `beta` above 0 such steps are not exactly 0, so the run's own median is the measure.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.watching.thresholds import Thresholds

TINY = 0.01
FEWEST = 5
"""Points that are judged: each is the gradient of one step, however many steps a line of the log stands for."""


def no_op_steps(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """The share of such steps over the window."""
    series, recent = course.series("grad_norm"), course.recent("grad_norm", least=FEWEST)
    if recent is None or course.at_ceiling():
        return
    usual = float(np.median(series.values[series.values > 0])) if (series.values > 0).any() else 0.0
    share = float((recent.values <= TINY * usual).mean())
    if share < thresholds.no_op_warn:
        return
    yield Diagnosis(
        "no-op-steps",
        "critical" if share >= thresholds.no_op_critical else "warning",
        f"{share:.0%} of the recent steps have next to no gradient (usual: {usual:.3g})",
        "They cost generation and change nothing",
        "See no-signal and truncation for the reason; mask_truncated_completions=true masks every cut-off completion",
        evidence={"share": share, "usual": usual},
    )
