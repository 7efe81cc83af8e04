"""non-finite: a gradient, a loss, a reward or a weight is NaN or infinite.

Said at once. TRL shows a NaN loss as 0.0 by default and logs the gradient of the last step of a window alone, so the
gradient is looked at on every step. Weights with a NaN end in a crash while sampling, a step or two later.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.watching.thresholds import Thresholds

MATTERS = ("loss", "grad_norm", "step/grad_norm", "step/weights", "reward", "kl", "entropy")


def non_finite(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """The first metric that was not finite."""
    found = {name: step for name, step in course.not_finite.items() if name in MATTERS}
    if not found:
        return
    name, step = min(found.items(), key=lambda item: item[1])
    yield Diagnosis(
        "non-finite",
        "critical",
        f"{name} was not finite at step {step}",
        "Weights that took this step in are spoilt, and every later one with them",
        "Go back to the last checkpoint before it; lower learning_rate, lower max_grad_norm, use bf16 or float32 "
        "instead of fp16, and give the rewards a range",
        evidence=found,
        at_once=True,
    )
