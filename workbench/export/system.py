"""What an export is made for: a training system with its own way to call a reward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.export.plan import Plan


@dataclass(frozen=True)
class System:
    """One training system.

    `file` is the adapter's name in the export, `adapter` writes it, `use` says how the system is told of it (Markdown),
    `carries` and `loses` list what holds there and what does not (a sentence each).
    """

    name: str
    file: str
    adapter: Callable[[Plan], str]
    use: Callable[[Plan], str]
    carries: Callable[[Plan], list[str]]
    loses: Callable[[Plan], list[str]]


def models_left_out(plan: Plan, system: str) -> list[str]:
    """The sentence about reward models, for systems that do not take them like this."""
    names = ", ".join(reward.entry.name for reward in plan.models)
    return [f"Left out: {names}. {system} loads reward models in a way of its own."] if names else []


def single_score(plan: Plan) -> list[str]:
    """What is lost where one number a completion is all that a system takes."""
    lost = ["Advantages are the system's own arithmetic on the total."]
    if plan.aggregation != "sum_then_normalize":
        lost.append(
            f'`aggregation = "{plan.aggregation}"` does not: the total is summed before anything is normalised.'
        )
    return lost


__all__ = ["System", "models_left_out", "single_score"]
