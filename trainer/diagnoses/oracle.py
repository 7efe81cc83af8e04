"""oracle: what is trained on improves, and what only watches does not.

A reward of weight 0 is logged and pulls nothing: it is the independent witness that TRL's `eval_reward` cannot be,
which is made by the very rewards that are trained on. Critical where a witness falls while the total rises, or where
the total on held-out prompts is below the untrained model's; a warning where training gains clearly more than
held-out prompts do, twice in a row.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trainer.diagnoses.component_divergence import LEAST_POINTS, LEAST_STEPS, MINOR, SHARE
from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis
from trainer.watching.thresholds import Thresholds


def oracle(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """Witnesses that fall, and held-out prompts that do not gain."""
    total = course.series("reward")
    if len(total) < LEAST_POINTS:
        return
    rising = total.trend.rising(0.0)
    if rising and total.span >= LEAST_STEPS:
        for name in course.facts.watching:
            trend = course.series(f"rewards/{name}/mean").trend
            if course.facts.kinds.get(name) not in MINOR and trend.falling(SHARE * course.spread(name)):
                yield Diagnosis(
                    "oracle",
                    "critical",
                    f"the reward rises by {total.trend.change:.2f} while '{name}', which only watches, falls by "
                    f"{-trend.change:.2f}",
                    "The model learns to please the rewards, not to do the task",
                    f"Read completions whose '{name}' is low and whose reward is high, close that way in the rewards, "
                    "and start again from before it began",
                    subject=name,
                    evidence={"reward_change": total.trend.change, "oracle_change": trend.change},
                )
    yield from _held_out(course)


def _held_out(course: Course) -> Iterator[Diagnosis]:
    """Judged on the last two evaluations, by their own 95 % intervals."""
    highs, lows = course.series("held_out/gain_high"), course.series("held_out/gain_low")
    gains = course.series("held_out/gain")
    if len(gains) < 2 or not np.array_equal(gains.steps[-2:], highs.steps[-2:]):
        return  # an evaluation without an interval (few prompts, or a verdict withheld) says nothing either way
    if max(highs.values[-2:]) < 0:
        yield Diagnosis(
            "oracle",
            "critical",
            f"on held-out prompts the reward is {-gains.values[-1]:.2f} below the untrained model's, twice in a row",
            "What is learnt does not carry over; it makes the model worse elsewhere",
            "Stop, and go back to an earlier checkpoint; lower learning_rate, or train on more and more different "
            "prompts",
            subject="held-out",
            evidence={"gain": gains.values[-1], "interval": [lows.values[-1], highs.values[-1]]},
        )
        return
    series = course.series("reward")
    ahead = []
    for at in (-2, -1):
        step = gains.steps[at]
        around = series.between(step - max(10.0, 0.1 * step), step)
        first = series.first(min(10.0, series.covered / 4), least=3).mean()
        ahead.append(around.mean() - first - highs.values[at])
    error = max(float(highs.values[-1] - lows.values[-1]) / 4, 1e-9)
    if min(ahead) > error and min(ahead) > 0:
        yield Diagnosis(
            "oracle",
            "warning",
            f"training prompts have gained {ahead[-1]:.2f} more than held-out ones can have (twice in a row)",
            "The model learns its training prompts rather than the task",
            "Use more prompts or fewer steps; compare on the held-out prompts before you keep the result",
            subject="held-out",
            evidence={"ahead": ahead, "held_out_gain": gains.values[-1]},
        )
