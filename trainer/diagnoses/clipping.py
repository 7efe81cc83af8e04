"""clipping: many token ratios lie outside the trust region, so their gradient is thrown away.

Happens only where completions are used for several steps (`num_iterations`, `steps_per_generation`): the model has
moved too far from the one that generated them.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.watching.thresholds import Thresholds


def clipping(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """The mean share of clipped ratios over the window."""
    recent = course.recent("clip_ratio/region_mean")
    if recent is None or recent.mean() < thresholds.clipped_warn:
        return
    yield Diagnosis(
        "clipping",
        "critical" if recent.mean() >= thresholds.clipped_critical else "warning",
        f"{recent.mean():.0%} of the token ratios are clipped",
        "The completions are too old for the model that learns from them",
        "Lower num_iterations or steps_per_generation, or learning_rate; epsilon_high=0.28 lets rare tokens grow",
        evidence={"clip_ratio": recent.mean()},
    )
