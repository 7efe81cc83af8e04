"""no-signal: most groups earn the same for all their completions, so there is nothing to learn from them.

GRPO compares the completions of one prompt. A group in which all earn the same has advantage 0 throughout and costs its
generation for nothing. The share of such groups is counted by the workbench from the scores themselves: TRL's
`reward_std` is the spread of the whole batch and stays high while every single group is flat, and its
`frac_reward_zero_std` means something else under batch scaling. A warning from half the groups on (each useful
completion costs twice), critical from four fifths on (five times). At the ceiling it is no fault: see `saturated`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainer.diagnoses.course import AT_FLOOR, Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.watching.thresholds import Thresholds

ZERO_SPREAD = ("groups/zero_spread", "frac_reward_zero_std")
"""Our own count first; TRL's where a run was not started by the workbench."""


def no_signal(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """Over the window, the mean share of groups without spread."""
    recent = course.recent(*ZERO_SPREAD)
    if recent is None or course.at_ceiling():
        return
    share = recent.mean()
    if share < thresholds.zero_spread_warn:
        return
    place = course.place()
    deviation = course.recent("reward_std")
    if deviation is not None and deviation.mean() <= 1e-8:
        advice = (
            "All completions of all prompts earn the same: look in the workbench whether the reward reads what the "
            "model writes at all, and give it steps between nothing and everything"
        )
    elif place is not None and place <= AT_FLOOR:
        advice = (
            "The task is too hard for this model as it is rewarded: put a solved example into the system prompt, give "
            "partial credit, begin with easier prompts, or raise num_generations"
        )
    else:
        advice = (
            "Make the rewards finer (partial credit), raise temperature or num_generations, and leave out prompts that "
            "are always solved or never (preflight --write-filtered)"
        )
    yield Diagnosis(
        "no-signal",
        "critical" if share >= thresholds.zero_spread_critical else "warning",
        f"{share:.0%} of the groups earn the same for all their completions (steps {recent.steps[0]:.0f} to "
        f"{recent.steps[-1]:.0f})",
        "Such groups have no advantage and teach nothing"
        + (f"; a useful completion costs {1 / (1 - share):.1f} times as much" if share < 0.999 else ""),
        advice,
        evidence={
            "zero_spread": share,
            "place_of_reward": place,
            "reward_std_of_batch": deviation.mean() if deviation is not None else None,
        },
    )
