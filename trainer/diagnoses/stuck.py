"""stuck: the reward does not move, although completions of a prompt do earn differently.

There is something to learn from, and nothing is learnt: the steps are too small to show, or the differences in reward
are noise. Judged from 60 steps on: no trend in block means, and a change below a fifth of the reward's own spread.
A reward without any spread is `no-signal`; one near its ceiling is `saturated` or simply done.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.diagnoses.no_signal import ZERO_SPREAD
from trainer.watching.thresholds import Thresholds

LEAST_POINTS = 8
SMALL = 0.2


def stuck(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """No trend and no change over the whole course so far."""
    series = course.series("reward")
    if len(series) < LEAST_POINTS or series.span < thresholds.stuck_steps or course.at_ceiling():
        return
    if course.facts.total_steps and course.step < 0.3 * course.facts.total_steps:
        return  # a slow start is no standstill
    flat = course.recent(*ZERO_SPREAD)
    if flat is not None and flat.mean() >= thresholds.zero_spread_warn:
        return
    spread, trend = course.spread(), series.trend
    if trend.p <= 0.05 or abs(trend.change) >= SMALL * spread:
        return
    if any(_moves(course, name) for name in course.facts.trained):
        return  # the parts do move: one up, one down
    yield Diagnosis(
        "stuck",
        "warning",
        f"the reward is where it was after {course.step} steps ({series.fifths()[0]:.3f}, now "
        f"{series.fifths()[1]:.3f})",
        "Completions of a prompt earn differently, but the model does not follow",
        "Raise learning_rate (LoRA wants about ten times that of full fine-tuning), raise num_generations, and look "
        "in the workbench whether the better-paid completions really are the better ones",
        evidence={"p": trend.p, "change": trend.change, "reward_std": spread},
    )


def _moves(course: Course, name: str) -> bool:
    trend = course.series(f"rewards/{name}/mean").trend
    return trend.p < 0.05 and abs(trend.change) >= SMALL * course.spread(name)
