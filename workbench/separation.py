"""How well scores tell right completions from wrong ones: the AUC with an interval that is honest for few labels.

The AUC is the chance that a right completion is scored above a wrong one, ties counting half. Its interval is
Newcombe's method 5 (Statistics in Medicine 25, 2006, 559-573): the Hanley-McNeil variance under the value that is
tried, not under the one that was seen, so that five of five do not pass for certainty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Z = 1.96
"""Standard deviations of a 95 % interval."""

STEPS = 60


@dataclass(frozen=True)
class Separation:
    """`auc` in [0, 1] with its 95 % interval, from `right` and `wrong` rows that have a score; NaN without either."""

    auc: float
    low: float
    high: float
    right: int
    wrong: int


def separation(scores: npt.NDArray[np.float64], labels: Sequence[str | None]) -> Separation:
    """How well scores tell rows labelled right from rows labelled wrong or hack.

    Args:
        scores: (n,), NaN where a row has none; such rows are left out.
        labels: the label of each row.

    >>> found = separation(np.array([1.0, 0.5, 0.0]), ["right", "right", "wrong"])
    >>> found.auc, 0.2 < found.low < 0.5, found.high
    (1.0, True, 1.0)
    """
    worth = {"right": 1, "wrong": 0, "hack": 0}
    kinds = np.array([worth.get(str(label), -1) for label in labels], dtype=np.int8)
    known = ~np.isnan(scores)
    right, wrong = scores[(kinds == 1) & known], scores[(kinds == 0) & known]
    if not len(right) or not len(wrong):
        return Separation(math.nan, 0.0, 1.0, len(right), len(wrong))
    ordered = np.sort(wrong)
    below = np.searchsorted(ordered, right, "left") + np.searchsorted(ordered, right, "right")
    auc = float(below.sum()) / (2 * len(right) * len(wrong))
    return Separation(auc, *auc_interval(auc, len(right), len(wrong)), len(right), len(wrong))


def auc_interval(auc: float, right: int, wrong: int) -> tuple[float, float]:
    """The 95 % interval of an AUC seen on so many right and wrong rows.

    >>> [round(bound, 2) for bound in auc_interval(0.8, 50, 50)]
    [0.7, 0.87]
    """
    middle = (right + wrong) / 2 - 1

    def too_far(value: float) -> bool:
        rest = middle * ((1 - value) / (2 - value) + value / (1 + value))
        variance = value * (1 - value) * (1 + rest) / (right * wrong)
        return (auc - value) ** 2 > Z * Z * variance

    return _edge(auc, 0.0, too_far), _edge(auc, 1.0, too_far)


def _edge(inside: float, end: float, too_far: Callable[[float], bool]) -> float:
    """Where values between `inside` and `end` begin to be too far, by bisection."""
    outside = end
    if not too_far(end):
        return end
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        if too_far(middle):
            outside = middle
        else:
            inside = middle
    return (inside + outside) / 2
