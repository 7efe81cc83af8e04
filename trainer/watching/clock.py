"""Where the time of a step goes: generation, rewards, update."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """Marks of one step. The time up to the rewards' call is generation, what is neither is the update."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._step = self._mark = now()
        self._generation = self._rewards = 0.0
        self.phase = "generation"
        """What is going on: generation, rewards or update."""

    def step_begins(self) -> None:
        """Start from zero."""
        self._step = self._mark = self._now()
        self._generation = self._rewards = 0.0
        self.phase = "generation"

    def scoring_begins(self) -> None:
        """The completions are there."""
        self._generation += self._now() - self._mark
        self._mark = self._now()
        self.phase = "rewards"

    def scoring_ended(self) -> None:
        """The scores are there."""
        self._rewards += self._now() - self._mark
        self._mark = self._now()
        self.phase = "update"

    def read(self) -> dict[str, float]:
        """The step's seconds as metrics, to be asked for at its end."""
        whole = self._now() - self._step
        return {
            "step/seconds": whole,
            "step/generation_seconds": self._generation,
            "step/rewards_seconds": self._rewards,
            "step/update_seconds": max(0.0, whole - self._generation - self._rewards),
        }
