"""Intervals around measured shares and means, so that a handful of prompts does not pass for a law."""

from __future__ import annotations

import math
from collections.abc import Sequence

Z = 1.96
"""Standard deviations of a 95 % interval."""


def wilson(hits: float, tries: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson's), (0, 1) where nothing was tried.

    >>> [round(bound, 2) for bound in wilson(5, 10)]
    [0.24, 0.76]
    """
    if tries == 0:
        return 0.0, 1.0
    share, square = hits / tries, Z * Z
    centre = (share + square / (2 * tries)) / (1 + square / tries)
    width = Z * math.sqrt(share * (1 - share) / tries + square / (4 * tries * tries)) / (1 + square / tries)
    return max(0.0, centre - width), min(1.0, centre + width)


def mean_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """(mean, low, high) with the 95 % interval of a mean; the interval is open with a single value.

    >>> mean_interval([1.0, 1.0, 1.0])
    (1.0, 1.0, 1.0)
    """
    count = len(values)
    if count == 0:
        return math.nan, -math.inf, math.inf
    centre = sum(values) / count
    if count == 1:
        return centre, -math.inf, math.inf
    spread = math.sqrt(sum((value - centre) ** 2 for value in values) / (count - 1))
    width = _T[min(count - 1, len(_T)) - 1] * spread / math.sqrt(count)
    return centre, centre - width, centre + width


def share_interval(shares: Sequence[float]) -> tuple[float, float, float]:
    """(mean, low, high) as `mean_interval`, within 0 to 1, or to the largest share that was met where that is more.

    >>> [round(bound, 2) for bound in share_interval([0.0, 1.0, 0.5, 1.0])]
    [0.62, 0.0, 1.0]
    """
    share, low, high = mean_interval(shares)
    if math.isinf(low):
        return share, low, high
    return share, max(low, 0.0), min(high, max(1.0, *shares))


def correlation_interval(correlation: float, rows: int) -> tuple[float, float]:
    """The 95 % interval of a correlation counted on `rows` independent rows (Fisher's z); (-1, 1) below four.

    >>> [round(bound, 2) for bound in correlation_interval(0.5, 28)]
    [0.16, 0.74]
    """
    if rows < 4:
        return -1.0, 1.0
    if abs(correlation) >= 1:
        return correlation, correlation
    centre, width = math.atanh(correlation), Z / math.sqrt(rows - 3)
    return math.tanh(centre - width), math.tanh(centre + width)


_T = (
    12.71,
    4.30,
    3.18,
    2.78,
    2.57,
    2.45,
    2.36,
    2.31,
    2.26,
    2.23,
    2.20,
    2.18,
    2.16,
    2.14,
    2.13,
    2.12,
    2.11,
    2.10,
    2.09,
    2.09,
    1.96,
)
"""Student's t for 1, 2, ... degrees of freedom."""


__all__ = ["correlation_interval", "mean_interval", "share_interval", "wilson"]
