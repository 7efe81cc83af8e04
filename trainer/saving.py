"""Where checkpoints lie: at the end of a generation window, in a short run within its first third, and unless the user
says otherwise where a line has just been logged.

`save_steps` comes from the preset where nobody said otherwise, and is made for long runs. A run planned in steps has
its own as soon as its settings are resolved; one planned in epochs when its data is read, and its steps are known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rewards.errors import UsageError

Saves = Literal["said", "unsaid", "outgrown"]
"""Who said `save_steps`: the user, nobody, or the user of a longer run (a stronger layer changed its length)."""

LENGTHS = ("max_steps", "num_train_epochs")


def who_said(layers: Sequence[Mapping[str, Any]]) -> Saves:
    """Who said `save_steps`, by the user's layers of settings from weak to strong."""
    said, length = (
        max((at for at, layer in enumerate(layers) if any(name in layer for name in names)), default=-1)
        for names in (("save_steps",), LENGTHS)
    )
    if said < 0:
        return "unsaid"
    return "outgrown" if length > said else "said"


def every_of(trl: Mapping[str, Any]) -> int:
    """`save_steps` as a whole number.

    Raises:
        UsageError: it is none, or below 1.
    """
    every = trl.get("save_steps", 100)
    if isinstance(every, bool) or not isinstance(every, (int, float)) or every != int(every) or every < 1:
        raise UsageError(f"save_steps={every!r} must be a whole number of steps of at least 1")
    return int(every)


def fitting(every: int, steps: int, saves: Saves) -> int:
    """`every`, or a third of the steps where that is less and the user has not said otherwise.

    Nor has one who said it of a run that was longer: there would be no checkpoint before the end.

    >>> fitting(25, 12, "unsaid"), fitting(12, 12, "said"), fitting(24, 6, "outgrown"), fitting(24, 30, "outgrown")
    (4, 12, 2, 24)
    """
    if steps < 1 or saves == "said" or (saves == "outgrown" and every < steps):
        return every
    return max(1, min(every, steps // 3))


def aligned(every: int, window: int, line: object = 1) -> int:
    """`every` rounded up to the end of a generation window: TRL does not save what is left of a batch.

    `line` is `logging_steps`; where there is room for it, to the end of a logged line too: what TRL has collected for
    the next line is not saved either, and a resumed run would tell the mean of fewer steps.

    >>> aligned(7, 2), aligned(66, 2, 10), aligned(4, 2, 10)
    (8, 70, 4)
    """
    both = math.lcm(window, line) if isinstance(line, int) and line > 0 else window
    unit = both if both <= every else window
    return -(-every // unit) * unit


__all__ = ["Saves", "aligned", "every_of", "fitting", "who_said"]
