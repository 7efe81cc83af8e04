"""How well scores tell right completions from wrong ones: the AUC with an interval that is honest for few labels.

The AUC is the chance that a right completion is scored above a wrong one, ties counting half. Training compares
completions of one prompt only, so the number is the mean over the prompts that have both kinds of the AUC inside
each; a reward that knows nothing but the prompt is at chance. Only where no prompt has both kinds is it taken over
all rows, and says so (`prompts` is 0).

Its interval is the wider of two. One is Newcombe's method 5 (Statistics in Medicine 25, 2006, 559-573): the
Hanley-McNeil variance, averaged over prompts, under the value that is tried and not under the one that was seen, so
that five of five do not pass for certainty. The other is Student's t of the prompts' own AUCs: rows of a prompt are
not independent of each other, prompts are. Over all rows, prompts count in place of rows for the same reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Z = 1.96
"""Standard deviations of a 95 % interval."""

STEPS = 60
_T_975 = (12.706, 4.303, 3.182, 2.776)
"""The 97.5 % point of Student's t with 1 to 4 degrees of freedom."""

Counts = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Separation:
    """`auc` in [0, 1] with its 95 % interval, from `right` and `wrong` rows that have a score; NaN without either.

    `prompts`: how many have both kinds and are the ones that count; 0 where none has and rows of different prompts
    are compared.
    """

    auc: float
    low: float
    high: float
    right: int
    wrong: int
    prompts: int = 0


def separation(
    scores: npt.NDArray[np.float64],
    labels: Sequence[str | None],
    groups: Sequence[Hashable] | None = None,
) -> Separation:
    """How well scores tell rows labelled right from rows labelled wrong or hack.

    Args:
        scores: (n,), NaN where a row has none; such rows are left out.
        labels: the label of each row.
        groups: the prompt of each row; without it each row is one of its own.

    >>> found = separation(np.array([1.0, 0.5, 0.0]), ["right", "right", "wrong"])
    >>> found.auc, 0.2 < found.low < 0.5, found.high
    (1.0, True, 1.0)
    """
    worth = {"right": 1, "wrong": 0, "hack": 0}
    prompts: dict[Hashable, tuple[list[float], list[float]]] = {}
    names = range(len(labels)) if groups is None else groups
    for score, label, name in zip(scores.tolist(), labels, names, strict=True):
        kind = worth.get(str(label), -1)
        if kind >= 0 and not math.isnan(score):
            prompts.setdefault(name, ([], []))[kind].append(score)
    right = sum(len(good) for _, good in prompts.values())
    wrong = sum(len(bad) for bad, _ in prompts.values())
    if not right or not wrong:
        return Separation(math.nan, 0.0, 1.0, right, wrong)
    both = [(good, bad) for bad, good in prompts.values() if good and bad]
    if not both:
        good = [score for _, some in prompts.values() for score in some]
        bad = [score for some, _ in prompts.values() for score in some]
        auc = area(good, bad)
        counts = [
            (sum(bool(good) for _, good in prompts.values()), sum(bool(bad) for bad, _ in prompts.values()))
        ]
        return Separation(auc, *auc_interval(auc, counts), right, wrong)
    areas = np.array([area(good, bad) for good, bad in both])
    auc = float(areas.mean())
    low, high = auc_interval(auc, [(len(good), len(bad)) for good, bad in both])
    if len(areas) > 1:
        half = _student(len(areas) - 1) * float(areas.std(ddof=1)) / math.sqrt(len(areas))
        low, high = max(0.0, min(low, auc - half)), min(1.0, max(high, auc + half))
    return Separation(auc, low, high, right, wrong, len(both))


def area(right: Sequence[float], wrong: Sequence[float]) -> float:
    """The share of pairs in which the right one is above, ties counting half.

    >>> area([1.0, 0.5], [0.5, 0.0])
    0.875
    """
    ordered = np.sort(np.asarray(wrong))
    below = np.searchsorted(ordered, right, "left") + np.searchsorted(ordered, right, "right")
    return float(below.sum()) / (2 * len(right) * len(wrong))


def auc_interval(auc: float, counts: Counts) -> tuple[float, float]:
    """The 95 % interval of the mean AUC of prompts with so many right and wrong rows each.

    >>> [round(bound, 2) for bound in auc_interval(0.8, [(50, 50)])]
    [0.7, 0.87]
    """

    sizes = Counter(counts).items()  # prompts of one size have one variance

    def too_far(value: float) -> bool:
        variance = sum(times * _variance(value, *size) for size, times in sizes) / len(counts) ** 2
        return (auc - value) ** 2 > Z * Z * variance

    return _edge(auc, 0.0, too_far), _edge(auc, 1.0, too_far)


def _variance(value: float, right: int, wrong: int) -> float:
    """Hanley and McNeil's, of one AUC that is `value`."""
    middle = (right + wrong) / 2 - 1
    rest = middle * ((1 - value) / (2 - value) + value / (1 + value))
    return value * (1 - value) * (1 + rest) / (right * wrong)


def _student(freedom: int) -> float:
    """The 97.5 % point of Student's t, by its expansion where it is close."""
    if freedom <= len(_T_975):
        return _T_975[freedom - 1]
    return Z + 2.372 / freedom + 2.822 / freedom**2 + 2.556 / freedom**3


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
