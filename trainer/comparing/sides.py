"""The scores of two sides on the same prompts, reward by reward, with what either side got no score for.

Pairs need a score on both sides. A side that got fewer scores would gain by it: completions that no reward could
read are often bad ones. So where the sides lack scores on different prompts, the difference is worked out once more
with each missing score counted as the worst its reward is known to give, and a verdict stands only where both agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rewards.groups import totals
from trainer.comparing.statistics import Paired, paired

Floats = NDArray[np.float64]
Bounds = tuple[float, float] | None

WITHHELD = "withheld"


@dataclass(frozen=True)
class Counted:
    """The comparison with each missing score counted as the worst its reward is known to give."""

    base: float
    trained: float
    paired: Paired


@dataclass(frozen=True, kw_only=True)
class Sides:
    """The base's mean, the trained model's, and their paired difference, on prompts that both have a score for.

    `unscored_base`, `unscored_trained`: completions without a score. `counted`: with those counted as the worst;
    None where neither side lacks more scores of any prompt than the other.
    """

    base: float
    trained: float
    paired: Paired
    unscored_base: int
    unscored_trained: int
    counted: Counted | None = None

    @property
    def verdict(self) -> str:
        """That of the pairs; `withheld` where counting what is missing would change it."""
        if self.counted is not None and self.counted.paired.verdict != self.paired.verdict:
            return WITHHELD
        return self.paired.verdict


def compare_scores(
    before: Floats,
    after: Floats,
    weights: Sequence[float],
    ranges: Sequence[Bounds] = (),
    *,
    samples: int = 1,
) -> list[Sides]:
    """The total's comparison, then that of each reward.

    Args:
        before: (rows, rewards), NaN or infinite where there is no score; `samples` rows of a prompt follow one another.
        after: the same rows of the other side.
        weights: of the rewards; under a negative one the worst score is the highest.
        ranges: what the rewards declare; without one the worst score is the worst that was seen on either side.
        samples: completions of a prompt.
    """
    sides = (_finite(before), _finite(after))
    filled = _filled(sides, weights, ranges, samples)
    pairs = [
        (totals(sides[0], weights), totals(sides[1], weights)),
        *zip(sides[0].T, sides[1].T, strict=True),
    ]
    worst = [
        (totals(filled[0], weights), totals(filled[1], weights)),
        *zip(filled[0].T, filled[1].T, strict=True),
    ]
    return [_sides(pair, other, samples) for pair, other in zip(pairs, worst, strict=True)]


def counted_totals(
    before: Floats, after: Floats, weights: Sequence[float], ranges: Sequence[Bounds], samples: int
) -> tuple[Floats, Floats]:
    """The totals of all rows, missing scores counted where the sides lack them unevenly."""
    first, second = _filled((_finite(before), _finite(after)), weights, ranges, samples)
    return totals(first, weights), totals(second, weights)


def per_prompt(values: Floats, samples: int) -> Floats:
    """The mean of each prompt's scores; missing scores are passed over, a prompt without any is NaN."""
    table = values.reshape(-1, samples)
    counts = (~np.isnan(table)).sum(axis=1)
    sums = np.nansum(table, axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _finite(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.nan)


def _filled(
    sides: tuple[Floats, Floats], weights: Sequence[float], ranges: Sequence[Bounds], samples: int
) -> tuple[Floats, Floats]:
    """Both sides with the worst score wherever one lacks more scores of a prompt than the other."""
    missing = [np.isnan(side) for side in sides]
    counts = [one.reshape(-1, samples, one.shape[1]).sum(axis=1) for one in missing]
    uneven = np.repeat(counts[0] != counts[1], samples, axis=0)
    worst = []
    for at, weight in enumerate(weights):
        known = np.concatenate([side[:, at][~np.isnan(side[:, at])] for side in sides])
        ends = (ranges[at] if ranges else None) or ((known.min(), known.max()) if len(known) else (0.0, 0.0))
        worst.append(ends[0] if weight >= 0 else ends[1])
    first, second = (
        np.where(none & uneven, np.array(worst), side) for none, side in zip(missing, sides, strict=True)
    )
    return first, second


def _sides(pair: tuple[Floats, Floats], filled: tuple[Floats, Floats], samples: int) -> Sides:
    same = all(np.array_equal(*both, equal_nan=True) for both in zip(pair, filled, strict=True))
    base, trained, found = _pairs(pair, samples)
    return Sides(
        base=base,
        trained=trained,
        paired=found,
        unscored_base=int(np.isnan(pair[0]).sum()),
        unscored_trained=int(np.isnan(pair[1]).sum()),
        counted=None if same else Counted(*_pairs(filled, samples)),
    )


def _pairs(pair: tuple[Floats, Floats], samples: int) -> tuple[float, float, Paired]:
    before, after = (per_prompt(values, samples) for values in pair)
    both = np.isfinite(before) & np.isfinite(after)
    means = [float(values[both].mean()) if both.any() else math.nan for values in (before, after)]
    with np.errstate(invalid="ignore"):
        return means[0], means[1], paired((after - before).tolist())
