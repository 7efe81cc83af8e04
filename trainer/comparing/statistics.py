"""Paired comparison: did the second of two measurements on the same prompts come out higher, and could we
have seen it?

Interval, p and verdict come from one test, so that none contradicts another: if nothing but chance tells the two
sides apart, each difference could as well have had the other sign. Subtracting a tried mean first, the test
rejects it where too few random halves of the pairs have a mean beyond it (Hartigan 1969), so that the interval is a
stretch of the ordered means of halves. All halves are looked at where they are few, else a fixed draw of them. It is
exact for differences that scatter evenly around their mean, right-or-wrong answers of two equal models included; for
uneven ones it holds about as well as Student's t.

Written with NumPy and the standard library alone. Everything takes the differences, one for each prompt;
completions of one prompt are averaged before, because they are not independent of each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
TAIL = (1 - CONFIDENCE) / 2
DRAWS = 20_000
MOST_EXACT = 2**16
"""Distinct halves that are all looked at; of more than that, `DRAWS` are drawn."""

FEWEST = 6
"""Pairs below which no difference can show: of 2^5 changes of sign one alone has more than 2.5 %."""

Z_ALPHA, Z_POWER = 1.96, 0.84
"""Two-sided 5 %, and a power of 80 %."""

NOTHING = "no clear difference"


@dataclass(frozen=True)
class Paired:
    """What a set of paired differences says.

    `low`, `high`: 95 % interval of the mean, None where there is none (`paired`). `wins`, `losses`, `ties`:
    prompts on which the second was higher, lower, equal. `p`: two-sided, of the test that the interval inverts
    (McNemar's exact one where each pair is one right-or-wrong answer). `detectable`: the true difference that so
    many prompts would have shown in 80 of 100 comparisons; None where too few or where the differences do not
    scatter at all, so that nothing can be said. `spread`: their standard deviation. `left_out`: pairs whose
    difference is no finite number.
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
    spread: float = 0.0
    left_out: int = 0

    @property
    def verdict(self) -> str:
        """`higher` or `lower` where p is at most 5 %, which is where the interval leaves 0 out."""
        if self.p > 1 - CONFIDENCE:
            return NOTHING
        return "higher" if self.mean > 0 else "lower"


def paired(differences: Sequence[float], *, seed: int = 0) -> Paired:
    """Read the differences (second minus first), one a prompt; NaN and infinite ones are left out and counted.

    There is no interval below 6 pairs, where no test of signs can reject anything, and where values other than 0
    do not scatter: how far the mean of others would lie is then not known.
    """
    given = np.asarray(differences, dtype=np.float64)
    values = given[np.isfinite(given)]
    wins, losses = int((values > 0).sum()), int((values < 0).sum())
    p, low, high = flip_test(values, seed=seed)
    return Paired(
        pairs=len(values),
        mean=_mean(values),
        low=low,
        high=high,
        wins=wins,
        losses=losses,
        ties=len(values) - wins - losses,
        p=p,
        detectable=detectable_difference(values),
        spread=_spread(values),
        left_out=len(given) - len(values),
    )


def _mean(values: Floats) -> float:
    return math.fsum(value / len(values) for value in values.tolist()) if len(values) else math.nan


def _spread(values: Floats) -> float:
    if len(values) < 2 or values.min() == values.max():
        return 0.0
    unit = float(np.abs(values).max())
    return float((values / unit).std(ddof=1)) * unit


def flip_test(values: Floats, *, seed: int = 0) -> tuple[float, float | None, float | None]:
    """Two-sided p of the mean being 0, and the 95 % interval: the means that the same test does not reject.

    >>> flip_test(np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]))[0]  # three wins: 2 of 2^3 changes of sign
    0.25
    """
    unit = float(np.abs(values).max(initial=0.0))
    if not unit:
        return 1.0, *((0.0, 0.0) if len(values) > 1 else (None, None))
    side = 1.0 if _mean(values) >= 0 else -1.0  # mirrored differences have the mirrored interval
    means, weights, empty = _halves(np.sort(values * (side / unit)), seed)
    p = min(1.0, 2 * min(_share(weights[means <= 0], empty), _share(weights[means >= 0], empty)))
    if empty > TAIL or values.min() == values.max():
        return p, None, None
    # The empty half lies on either side: it is the sample as it is, which no change of sign makes less likely.
    low = means[int(np.argmax(np.cumsum(weights) + empty > TAIL))]
    high = means[::-1][int(np.argmax(np.cumsum(weights[::-1]) + empty > TAIL))]
    ends = sorted((float(low) * unit * side, float(high) * unit * side))
    return p, ends[0], ends[1]


def _share(weights: Floats, empty: float) -> float:
    return float(weights.sum()) + empty


def _halves(values: Floats, seed: int) -> tuple[Floats, Floats, float]:
    """Means of random halves in order, their weights, and the weight of the half that holds no value.

    In a half is each value with probability 1/2, whatever the others do. `values` are at most 1 in size.
    """
    distinct, counts = np.unique(
        np.round(values, 12), return_counts=True
    )  # what rounding tells apart is equal
    if math.prod(int(count) + 1 for count in counts) <= MOST_EXACT:
        sums, sizes, weights = _all_halves(distinct, counts.tolist())
    else:
        sums, sizes = _drawn_halves(np.round(values, 12), seed)
        weights = np.full(len(sums), 1 / len(sums))
    some = sizes > 0
    means = np.round(sums[some] / sizes[some], 11)
    order = np.argsort(means, kind="stable")
    return means[order], weights[some][order], float(weights[~some].sum())


def _all_halves(distinct: Floats, counts: Sequence[int]) -> tuple[Floats, Floats, Floats]:
    """Sum, size and probability of every half; values that are equal are told apart by their number alone."""
    sums, sizes, weights = np.zeros(1), np.zeros(1), np.ones(1)
    for value, count in zip(distinct.tolist(), counts, strict=True):
        taken = np.arange(count + 1)
        chances = np.array([math.comb(count, some) / 2**count for some in range(count + 1)])
        sums = np.add.outer(sums, value * taken).ravel()
        sizes = np.add.outer(sizes, taken).ravel()
        weights = np.multiply.outer(weights, chances).ravel()
    return sums, sizes, weights


_BITS = (np.arange(256)[:, None] >> np.arange(8)) & 1


def _drawn_halves(values: Floats, seed: int) -> tuple[Floats, Floats]:
    """Sum and size of `DRAWS` random halves and of the empty one, which stands for the sample itself.

    A random byte is a half of eight values. Its sum (and its size, as the imaginary part) is looked up, which is
    quicker than adding.
    """
    generator = np.random.default_rng(seed)
    halves = np.zeros(DRAWS + 1, dtype=np.complex128)
    for begin in range(0, len(values), 8):
        eight = values[begin : begin + 8]
        halves[1:] += (_BITS[:, : len(eight)] @ (eight + 1j))[
            generator.integers(0, 256, DRAWS, dtype=np.uint8)
        ]
    return halves.real, halves.imag


def prompts_needed(difference: float, second_moment: float) -> int:
    """Pairs needed to show a true mean `difference` in 80 of 100 comparisons at the 5 % level, at least 6.

    `second_moment` is the mean square of a difference; for right-or-wrong answers it is the share of prompts
    on which the two disagree, and this is McNemar's sample size.
    """
    inside = max(0.0, second_moment - difference**2)
    top = Z_ALPHA * math.sqrt(second_moment) + Z_POWER * math.sqrt(inside)
    return max(FEWEST, math.ceil(top**2 / difference**2))


def detectable_difference(values: Floats) -> float | None:
    """The true difference that `values`, by their number and scatter, would show in 80 of 100 comparisons.

    Student's t at the level that the test has with so few pairs, and at 80 %. None below 6 pairs, which show
    nothing, and where they do not scatter: then nothing is known about the scatter.
    """
    count, spread = len(values), _spread(values)
    if count < FEWEST or not spread:
        return None
    level = math.floor(TAIL * 2**count) / 2**count if count < 20 else TAIL
    return (student(1 - level, count - 1) + student(0.8, count - 1)) * spread / math.sqrt(count)


def student(probability: float, freedom: int) -> float:
    """The quantile of Student's t with `freedom` degrees of freedom, from 5 on to 0.01.

    The expansion around the normal quantile (Abramowitz and Stegun 26.7.5).

    >>> round(student(0.975, 9), 3), round(student(0.8, 9), 3)
    (2.262, 0.883)
    """
    z = NormalDist().inv_cdf(probability)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + math.fsum(term / float(freedom) ** (at + 1) for at, term in enumerate(terms))
