"""Where the numbers of TRL's settings may lie; TRL and torch find out later, or not at all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from rewards.errors import UsageError


class Bound(NamedTuple):
    """The numbers a setting may have; `least` itself is among them unless `above`."""

    least: float
    most: float = math.inf
    above: bool = False

    def holds(self, value: float) -> bool:
        """Whether a number lies within; NaN and infinities never do."""
        lowest = value > self.least if self.above else value >= self.least
        return math.isfinite(value) and lowest and value <= self.most

    def __str__(self) -> str:
        least = f"{'above' if self.above else 'at least'} {self.least:g}"
        return least if self.most == math.inf else f"{least} and at most {self.most:g}"


COMPLETION_TOKENS = 512
"""The longest completion where the settings name none: the default of TRL's GRPOConfig."""


def completion_tokens(trl: Mapping[str, Any]) -> int:
    """Tokens of the longest completion under TRL's settings."""
    return int(trl.get("max_completion_length") or COMPLETION_TOKENS)


BOUNDS = {
    "learning_rate": Bound(0, above=True),
    "beta": Bound(0),
    "max_completion_length": Bound(1),
    "temperature": Bound(0, above=True),
    "top_p": Bound(0, 1, above=True),
    "top_k": Bound(0),
    "min_p": Bound(0, 1),
    "repetition_penalty": Bound(0, above=True),
    "num_train_epochs": Bound(0, above=True),
    "max_grad_norm": Bound(0),
    "weight_decay": Bound(0),
    "warmup_steps": Bound(0),
    "logging_steps": Bound(0, above=True),
    "epsilon": Bound(0, above=True),
    "epsilon_high": Bound(0, above=True),
    "seed": Bound(0, 2**32 - 1),
}
"""Settings of `GRPOConfig` whose other values train nothing, or end a run after its model was loaded."""


def check_bounds(trl: Mapping[str, Any]) -> None:
    """See that every number lies where it may; None is TRL's own default, and text is left to TRL.

    Raises:
        UsageError: one that does not.
    """
    for name, bound in BOUNDS.items():
        value = trl.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and not bound.holds(value):
            raise UsageError(f"{name}={value!r} must be {bound}")
    steps = trl.get("max_steps", -1)
    if isinstance(steps, (int, float)) and steps != -1 and not (math.isfinite(steps) and steps >= 1):
        raise UsageError(
            f"max_steps={steps!r} must be at least 1, or -1 for as many as num_train_epochs makes"
        )
