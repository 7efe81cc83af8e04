"""Paired comparison: did the second of two measurements on the same prompts come out higher, and could we
have seen it?

Written with NumPy and the standard library alone. Everything takes the differences, one for each prompt;
completions of one prompt are averaged before, because they are not independent of each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
RESAMPLES = 4000
FEW = 20
"""Below this many pairs the bootstrap's intervals come out too short; Student's t is used."""

Z_ALPHA, Z_POWER = 1.96, 0.84
"""Two-sided 5 %, and a power of 80 %."""

_T_975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
)  # fmt: skip
"""The 97.5 % point of Student's t with 1, 2, ... degrees of freedom."""


@dataclass(frozen=True)
class Paired:
    """What a set of paired differences says.

    `low`, `high`: 95 % interval of the mean, None where there is none (`interval`). `wins`, `losses`, `ties`:
    prompts on which the second was higher, lower, equal. `p`: of the exact sign test (McNemar's where each
    pair is one right-or-wrong answer). `detectable`: the smallest true difference that so many prompts would
    have shown in 80 of 100 comparisons; None where the differences do not scatter at all, so that nothing can
    be said.
    """

    pairs: int
    mean: float
    low: float | None
    high: float | None
    wins: int
    losses: int
    ties: int
    p: float
    detectable: float | None

    @property
    def verdict(self) -> str:
        """`higher` or `lower` where the interval lies wholly above or below 0, else `no clear difference`.

        Without an interval, differences that are all alike, the sign test decides at 5 %.
        """
        if self.low is None and self.pairs > 1 and self.p <= 1 - CONFIDENCE:
            return "higher" if self.wins else "lower"
        if self.low is not None and self.low > 0:
            return "higher"
        if self.high is not None and self.high < 0:
            return "lower"
        return "no clear difference"


def paired(differences: Sequence[float], *, seed: int = 0) -> Paired:
    """Read the differences (second minus first), one a prompt; NaN pairs are left out."""
    values = np.asarray(differences, dtype=np.float64)
    values = values[~np.isnan(values)]
    wins, losses = int((values > 0).sum()), int((values < 0).sum())
    low, high = interval(values, seed=seed)
    return Paired(
        pairs=len(values),
        mean=float(values.mean()) if len(values) else math.nan,
        low=low,
        high=high,
        wins=wins,
        losses=losses,
        ties=len(values) - wins - losses,
        p=sign_test(wins, losses),
        detectable=detectable_difference(values),
    )


def interval(values: Floats, *, seed: int = 0) -> tuple[float | None, float | None]:
    """The 95 % interval of the mean.

    BCa bootstrap, Student's t for fewer than 20 values; (None, None) for fewer than 2, and where values other
    than 0 do not scatter: how far the mean of others would lie is then not known.
    """
    if len(values) < 2:
        return None, None
    if float(np.ptp(values)) == 0:
        return (0.0, 0.0) if values[0] == 0 else (None, None)
    return _student(values) if len(values) < FEW else _bca(values, seed)


def _student(values: Floats) -> tuple[float, float]:
    half = _T_975[len(values) - 2] * float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()) - half, float(values.mean()) + half


def _bca(values: Floats, seed: int) -> tuple[float, float]:
    """Bias-corrected and accelerated bootstrap (Efron 1987)."""
    normal, count, mean = NormalDist(), len(values), float(values.mean())
    generator = np.random.default_rng(seed)
    means = np.sort(values[generator.integers(0, count, (RESAMPLES, count))].mean(axis=1))
    below = (float((means < mean).sum()) + 0.5 * float((means == mean).sum())) / RESAMPLES
    bias = normal.inv_cdf(min(max(below, 1 / RESAMPLES), 1 - 1 / RESAMPLES))
    left_out = (values.sum() - values) / (count - 1)  # the mean without each value in turn
    spread = left_out.mean() - left_out
    acceleration = float((spread**3).sum() / (6 * float((spread**2).sum()) ** 1.5))

    def point(probability: float) -> float:
        z = bias + normal.inv_cdf(probability)
        share = normal.cdf(bias + z / (1 - acceleration * z))
        return float(np.quantile(means, min(max(share, 0.0), 1.0)))

    return point((1 - CONFIDENCE) / 2), point((1 + CONFIDENCE) / 2)


def sign_test(wins: int, losses: int) -> float:
    """Two-sided p of so uneven a split, or one more uneven, where both sides are equally likely.

    Ties do not count.
    """
    trials = wins + losses
    if trials == 0:
        return 1.0
    ways = tail = 1
    for count in range(1, min(wins, losses) + 1):
        ways = ways * (trials - count + 1) // count  # "trials over count", from the one before
        tail += ways
    return min(1.0, float(Fraction(2 * tail, 2**trials)))


def prompts_needed(difference: float, second_moment: float) -> int:
    """Pairs needed to show a true mean `difference` in 80 of 100 comparisons at the 5 % level.

    `second_moment` is the mean square of a difference; for right-or-wrong answers it is the share of prompts
    on which the two disagree, and this is McNemar's sample size.
    """
    inside = max(0.0, second_moment - difference**2)
    top = Z_ALPHA * math.sqrt(second_moment) + Z_POWER * math.sqrt(inside)
    return math.ceil(top**2 / difference**2)


def detectable_difference(values: Floats) -> float | None:
    """The smallest true difference that `values`, by their number and scatter, would show in 80 of 100
    comparisons.

    None where there are no two values or they do not scatter: then nothing is known about the scatter.
    """
    if len(values) < 2 or float(values.std()) == 0:
        return None
    return (Z_ALPHA + Z_POWER) * float(values.std(ddof=1)) / math.sqrt(len(values))
