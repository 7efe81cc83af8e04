"""saturated: the rewards are nearly all earned, and most groups are flat because everybody gets everything.

No fault, but no use either: what is left of the run teaches next to nothing. Shown as information.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.diagnoses.no_signal import ZERO_SPREAD
from trainer.watching.thresholds import Thresholds


def saturated(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """The total at 85 % of its range or above while half of the groups have no spread."""
    recent, place = course.recent(*ZERO_SPREAD), course.place()
    if recent is None or place is None or not course.at_ceiling():
        return
    if recent.mean() >= thresholds.zero_spread_warn:
        yield Diagnosis(
            "saturated",
            "info",
            f"the reward stands at {place:.0%} of what can be earned, and {recent.mean():.0%} of the groups are flat",
            "The model has learnt what these rewards ask for",
            "Stop here, or go on with harder prompts or a stricter reward",
            evidence={"place_of_reward": place, "zero_spread": recent.mean()},
        )
