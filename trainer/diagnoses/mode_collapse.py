"""mode-collapse: the model gives the same completion again and again, and not because that is the right one.

Flat groups and equal completions (or an entropy under a quarter of what it was) while the reward is not at its
ceiling: the policy has lost the variety that GRPO learns from. Mastery looks the same but for the reward.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.diagnoses.entropy import entropy_ratio
from trainer.diagnoses.no_signal import ZERO_SPREAD
from trainer.watching.thresholds import Thresholds


def mode_collapse(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """Flat groups with duplicates or a fallen entropy, below the ceiling."""
    flat = course.recent(*ZERO_SPREAD)
    if flat is None or flat.mean() < thresholds.zero_spread_critical or course.at_ceiling():
        return
    same, ratio = course.recent("completions/duplicates"), entropy_ratio(course)
    duplicates = same.mean() if same is not None else None
    repeats = duplicates is not None and duplicates >= thresholds.duplicates
    narrowed = ratio is not None and ratio < thresholds.entropy_warn
    if not repeats and not narrowed:
        return
    seen = (
        f"{duplicates:.0%} of the completions equal another of their group"
        if repeats
        else f"the entropy is at {ratio:.0%} of its start"
    )
    yield Diagnosis(
        "mode-collapse",
        "critical",
        f"{flat.mean():.0%} of the groups are flat and {seen}, while the reward is not at its ceiling",
        "The model has fallen into one answer; nothing that is generated differs enough to be compared",
        "Go back to an earlier checkpoint; raise temperature, set beta (0.04), lower learning_rate, and add a reward "
        "that tells completions apart",
        evidence={"zero_spread": flat.mean(), "duplicates": duplicates, "entropy_ratio": ratio},
    )
