"""References that cannot be read: such a row is not scored, and that is said instead of passing in silence.

Each one shows as a credit of no points with the reason, and a call tells TRL's `log_metric` the share of its rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from rewards.credits import credit


def is_missing(value: Any) -> bool:
    """Whether a value says that there is none: None, or NaN, which tables hold where nothing was filled in.

    An infinite number is no reference either.

    >>> is_missing(None), is_missing(float("nan")), is_missing(0.0), is_missing("nan")
    (True, True, False, False)
    """
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def not_scored(reference: Any, wanted: str) -> float | None:
    """Say that a row is not scored because its reference is not `wanted`; returns None, the row's score."""
    shown = repr(reference)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    missing = is_missing(reference) or (isinstance(reference, str) and not reference)
    why = "there is no reference" if missing else f"the reference {shown} is not {wanted}"
    credit("not scored", 0.0, of=0.0, note=why)
    return None


def tell_unread(
    log_metric: Callable[[str, float], None] | None, reward: str, scores: Sequence[float | None]
) -> None:
    """Log the share of rows without a score as `REWARD/unread_references`, where there are any.

    >>> tell_unread(print, "numeric", [1.0, None])
    numeric/unread_references 0.5
    """
    unread = sum(score is None for score in scores)
    if log_metric is not None and unread:
        log_metric(f"{reward}/unread_references", unread / len(scores))
