"""The random numbers of a call: whether it drew any, and the same ones for another call."""

from __future__ import annotations

import pickle
import random
import sys
from typing import Any


class Dice:
    """The states of the generators that programs share: Python's, NumPy's and, where it is loaded, torch's.

    Made before a call; `thrown` after it notices whether the call drew, `again` brings the states back. Generators of
    the reward's own (`random.Random()`, `default_rng()`) are not seen.
    """

    def __init__(self) -> None:
        self._states = _states()
        self.rolled = False

    def thrown(self) -> None:
        """The call is over."""
        now = _states()
        self.rolled = any(
            pickle.dumps(now[name]) != pickle.dumps(state) for name, state in self._states.items()
        )

    def again(self) -> None:
        """What is drawn from now on is what the call drew."""
        random.setstate(self._states["random"])
        for name, state in self._states.items():
            if name == "numpy":
                sys.modules["numpy"].random.set_state(state)
            elif name == "torch":
                torch = sys.modules["torch"]
                torch.set_rng_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))


def _states() -> dict[str, Any]:
    found: dict[str, Any] = {"random": random.getstate()}
    if "numpy" in sys.modules:
        found["numpy"] = sys.modules["numpy"].random.get_state(legacy=True)
    if "torch" in sys.modules:
        found["torch"] = sys.modules["torch"].get_rng_state().numpy().tobytes()
    return found
