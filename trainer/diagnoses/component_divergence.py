"""component-divergence: one reward climbs while another falls; the total may even look healthy.

The commonest form of reward hacking: the model earns more by what is easy to earn (format, length) and gives up what
is hard (correctness). The signal lies in every log, but not in the total. Both trends have to be clear (p below 0.01)
and worth a fifth of the reward's own spread. Critical where the total climbs meanwhile. That an answer becomes less
short or less tidy while it becomes more correct is a price, told as information.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainer.diagnoses.course import Course
from trainer.diagnoses.diagnosis import Diagnosis, Severity
from trainer.watching.thresholds import Thresholds

LEAST_STEPS, LEAST_POINTS, SHARE = 40, 8, 0.2
MINOR = {"format", "length", "style", "diversity"}


def component_divergence(course: Course, thresholds: Thresholds) -> Iterator[Diagnosis]:
    """Every pair of trained rewards of which one rises and the other falls, by what they earn."""
    total = course.series("reward")
    if len(total) < LEAST_POINTS or total.span < LEAST_STEPS:
        return
    trends = {
        name: course.series(f"rewards/{name}/mean").trend.under(course.facts.weights[name])
        for name in course.facts.trained
    }
    least = {name: SHARE * course.spread(name) for name in trends}
    up = [name for name, trend in trends.items() if trend.rising(least[name])]
    for down in (name for name, trend in trends.items() if trend.falling(least[name])):
        if up:
            best = max(up, key=lambda name: trends[name].change / (least[name] or 1e-9))
            yield _found(course, best, down, trends[best].change, trends[down].change)


def _found(course: Course, up: str, down: str, gain: float, loss: float) -> Diagnosis:
    kinds, total = course.facts.kinds, course.series("reward").trend
    rising = total.rising(0.0, 0.05)
    price = kinds.get(down) in MINOR and kinds.get(up) not in MINOR
    severity: Severity = "info" if price else "critical" if rising else "warning"
    return Diagnosis(
        "component-divergence",
        severity,
        f"{_moves(course, up, gain)} while {_moves(course, down, loss)}"
        + (", and the total rises" if rising else ""),
        f"The model pays for '{up}' with '{down}'"
        + ("" if price else ": it may be earning its reward without doing the task"),
        f"Read completions that score {_good(course, up)} on '{up}' and {_bad(course, down)} on '{down}'; let '{up}' "
        f"pay only where '{down}' is {'low' if _costs(course, down) else 'earned'}, or change the weights",
        subject=f"{up}/{down}",
        evidence={
            "rises": up,
            "falls": down,
            "gain": gain,
            "loss": loss,
            "total_change": total.change,
        },
    )


def _moves(course: Course, name: str, earned: float) -> str:
    """How a reward itself moves where it earns `earned` more: a penalty the other way."""
    change, what = (-earned, " (a penalty)") if _costs(course, name) else (earned, "")
    return f"'{name}'{what} {'rises' if change > 0 else 'falls'} by {abs(change):.2f}"


def _costs(course: Course, name: str) -> bool:
    return course.facts.weights[name] < 0


def _good(course: Course, name: str) -> str:
    return "low" if _costs(course, name) else "high"


def _bad(course: Course, name: str) -> str:
    return "high" if _costs(course, name) else "low"
