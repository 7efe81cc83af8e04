"""kl: the policy is far from the model it started from.

Per token, against the starting model: TRL's `kl` where `beta` is above 0, else measured by the workbench on the
completions at hand with the adapter switched off (`policy/kl`). A warning above 0.5, or above 0.1 when it is twenty
times what it was in the first third; critical above 2, or above 0.5 while what is wanted does not grow.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis, Severity
from trainer.watching.thresholds import Thresholds

KL = ("kl", "policy/kl")
NOTEWORTHY = 0.1


def kl(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """The median over the last points against a level and against the run's own early part."""
    series = course.series(*KL)
    if len(series) < 3:
        return
    now = series.part(slice(-3, None)).median()
    early = series.between(0.1 * course.step, 0.3 * course.step).median()
    jumped = now > NOTEWORTHY and len(series) >= 10 and early > 0 and now > thresholds.kl_ratio * early
    if now <= thresholds.kl_warn and not jumped:
        return
    rising = course.primary_rising()
    severity: Severity = "warning"
    if now > thresholds.kl_critical or (now > thresholds.kl_warn and not rising):
        severity = "critical"
    yield Diagnosis(
        "kl",
        severity,
        f"the policy is {now:.2f} nats a token from the starting model"
        + (f", {now / early:.0f} times its early {early:.3f}" if jumped else ""),
        "It moves fast"
        + ("" if rising else ", and what is wanted does not grow with it: abilities it had are being lost"),
        "Lower learning_rate, raise beta, or go back to an earlier checkpoint",
        evidence={"kl": now, "early": early if early == early else None, "primary_rising": rising},
    )
