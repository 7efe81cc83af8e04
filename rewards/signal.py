"""Signal power: what a reward set could teach, from scored groups, before anything is trained.

Every function is plain arithmetic on arrays: `values` are the totals (or one reward's scores) of the rows,
`groups` names the prompt of each row, NaN is "no score" and leaves its row out. Two values are tied where they are
equal in float32, a group has no spread where TRL counts its deviation as zero (`rewards.grouped.told_apart`).
Formulas:

- probability that a group has no spread: the unbiased estimator over all subsets, by the combinatorics of
  pass@k (Chen et al., arXiv 2107.03374);
- shares of the signal: Euler decomposition of the within-group variance of the weighted sum;
- selection differential: the Price equation, mean_g Cov_g(A, f) / sd(f), the first-order drift of a feature's
  mean under a policy-gradient step (exact for softmax tilting);
- best of n: expected value under the best of n by reward, KL = ln n - (n - 1) / n (Gao et al., arXiv 2210.10760);
- held-out size: McNemar's test, n = (z_a sqrt(psi) + z_b sqrt(psi - d^2))^2 / d^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rewards.errors import UsageError
from rewards.grouped import (
    TIE,
    Codes,
    Floats,
    Groups,
    keep_rows,
    of_large_groups,
    ordered_rows,
    runs_of,
    told_apart,
    without_nan,
)

Z_TWO_SIDED_95 = 1.959963984540054
Z_POWER_80 = 0.8416212335729143

_FLOAT32 = float(np.finfo(np.float32).eps)


def _combinations(counts: npt.NDArray[np.int64], chosen: int) -> Floats:
    """C(n, chosen) for each n."""
    largest = int(counts.max(initial=0))
    if largest < len(counts):
        return np.array([float(math.comb(count, chosen)) for count in range(largest + 1)])[counts]
    return np.array([float(math.comb(int(count), chosen)) for count in counts])


# ------------------------------------------------------------------------------- groups without spread


def dead_probability(values: npt.ArrayLike, groups: Groups, group_size: int) -> float:
    """Probability that a group of `group_size` completions has no spread and teaches nothing.

    The mean over prompts of sum_v C(n_v, G) / C(n, G), n_v being how many of a prompt's n completions have the
    value v. Unbiased for every G up to n, unlike p^G + (1 - p)^G with an estimated p.

    Args:
        values: (rows,) totals.
        groups: the prompt of each row.
        group_size: completions of a prompt in training, at least 2.

    Returns:
        In [0, 1]; NaN where no prompt has `group_size` scored completions.
    """
    return dead_probabilities(values, groups, [group_size])[group_size]


def dead_probabilities(values: npt.ArrayLike, groups: Groups, group_sizes: Sequence[int]) -> dict[int, float]:
    """`dead_probability` for several sizes, each from the prompts that have as many scored completions."""
    for group_size in group_sizes:
        if group_size < 2:
            raise UsageError(f"group_size={group_size} must be at least 2")
    codes, counts, kept = runs_of(values, groups)
    found = {}
    for group_size in group_sizes:
        large = kept.size >= group_size
        same = np.bincount(codes, _combinations(counts, group_size), len(kept.size))[large]
        chances = same / _combinations(kept.size[large], group_size)
        found[group_size] = float(chances.mean()) if len(chances) else math.nan
    return found


class Counted(NamedTuple):
    """How many prompts something is foretold from: `prompts` that have enough values, `of` that have any."""

    prompts: int
    of: int


def counted(values: npt.ArrayLike, groups: Groups, size: int) -> Counted:
    """How many prompts have `size` values (0: none have), of those that have any."""
    found = keep_rows(np.asarray(values, dtype=np.float64), groups).size
    return Counted(int((found >= size).sum()) if size else 0, len(found))


def usual_size(values: npt.ArrayLike, groups: Groups, sizes: Sequence[int]) -> int:
    """The largest of `sizes` for which more than half of the prompts that have values have as many; 0 where none is.

    What is foretold for several sizes is foretold from one set of prompts, those that have that many.
    """
    found = keep_rows(np.asarray(values, dtype=np.float64), groups).size
    return max((size for size in sizes if (found >= size).sum() * 2 > len(found)), default=0)


def binary_dead_probability(share: float, group_size: int) -> float:
    """The same for a reward of 0 or 1 paid with probability `share`: p^G + (1 - p)^G."""
    return share**group_size + (1 - share) ** group_size


def resampling_overhead(dead: float) -> float:
    """Groups thrown away for each useful one where dead groups are drawn again: D / (1 - D); infinite for D = 1."""
    return math.inf if dead >= 1 else dead / (1 - dead)


def binary_absolute_advantage(share: float, group_size: int) -> float:
    """Expected mean |advantage| of a group for a reward of 0 or 1 paid with probability `share`.

    sum_m C(G, m) p^m (1 - p)^(G - m) * 2 m (G - m) / G^2 / sqrt(m (G - m) / (G (G - 1))): the mean absolute
    deviation of a group with m paid completions over its standard deviation (ddof 1), without TRL's epsilon.
    """
    size = group_size
    total = 0.0
    for paid in range(1, size):
        probability = math.comb(size, paid) * share**paid * (1 - share) ** (size - paid)
        deviation = 2 * paid * (size - paid) / size**2
        total += probability * deviation / math.sqrt(paid * (size - paid) / (size * (size - 1)))
    return total


def effective_prompts(prompts_per_step: float, dead: float) -> float:
    """Prompts of a step that teach something: P (1 - D)."""
    return prompts_per_step * (1 - dead)


def steps_for(useful_groups: float, prompts_per_step: float, dead: float) -> float:
    """Steps until `useful_groups` groups with spread were seen: S / (P (1 - D)); infinite where none will be."""
    effective = effective_prompts(prompts_per_step, dead)
    return math.inf if effective <= 0 else useful_groups / effective


# -------------------------------------------------------------------------------- shares and correlation


@dataclass(frozen=True)
class Shares:
    """How much of the signal each reward makes.

    `covariance` (k, k) is the mean within-group covariance of the scores; `share` (k,) each reward's part of the
    variance of the weighted sum inside groups: adds up to 1, negative where a reward works against the rest,
    NaN where there is no variance; `influence` (k,) the mean within-group covariance of a reward with the
    advantages. `cancel`: what the rewards give takes itself out of the sum but for rounding, so there are no shares.
    """

    covariance: Floats
    share: Floats
    influence: Floats
    cancel: bool = False


CANCELLED = 1e-6
"""A sum whose variance is less than this part of its terms' variances has none but their rounding."""


def signal_shares(
    scores: npt.ArrayLike, weights: npt.ArrayLike, advantages: npt.ArrayLike, groups: Groups
) -> Shares:
    """The part each reward has in what a group's completions are told apart by.

    Args:
        scores: (rows, k); a row with a NaN is left out.
        weights: (k,).
        advantages: (rows,).
        groups: the prompt of each row; groups with fewer than two rows are left out.
    """
    table, factors = np.asarray(scores, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    kept = keep_rows(table, groups, least=2)
    rewards = table.shape[1]
    if not len(kept.size):
        empty = np.full(rewards, np.nan)
        return Shares(np.full((rewards, rewards), np.nan), empty, empty)
    centred = kept.centred(table)
    per_row = 1 / (kept.size - 1)[kept.codes] / len(kept.size)  # (rows,): 1 / (n - 1), averaged over groups
    weighted = centred * per_row[:, None]
    covariance = weighted.T @ centred
    parts = factors * (covariance @ factors)
    whole = parts.sum()
    apart = float(factors**2 @ np.diag(covariance))
    cancel = apart > TIE**2 and bool(whole <= CANCELLED * apart)
    share = parts / whole if whole > TIE**2 and not cancel else np.full(rewards, np.nan)
    influence = weighted.T @ kept.centred(np.asarray(advantages, dtype=np.float64))
    return Shares(covariance, share, influence, cancel)


def scale_dominance(covariance: npt.ArrayLike, weights: npt.ArrayLike) -> Floats:
    """(k,) w_k s_k / sum_j w_j s_j with the within-group deviations s: who speaks loudest. NaN where all are silent."""
    loudness = np.abs(np.asarray(weights)) * np.sqrt(np.clip(np.diag(np.asarray(covariance)), 0, None))
    total = loudness.sum()
    return np.asarray(loudness / total) if total > 0 else np.full(len(loudness), np.nan)


def within_group_correlation(scores: npt.ArrayLike, groups: Groups, *, ranks: bool = False) -> Floats:
    """(k, k) correlation of the rewards inside groups, pooled; Spearman's with `ranks`. NaN where one is constant.

    Each score is taken relative to its group's mean (with `ranks`: as its rank in the group), so that easy and
    hard prompts do not pass for agreement between rewards. Two rewards are compared on the rows that both scored.
    """
    table = np.asarray(scores, dtype=np.float64)
    if np.isnan(table).any() and table.shape[1] > 2:
        return _pairwise(table, groups, ranks=ranks)
    kept = keep_rows(table, groups, least=2)
    if not len(kept.size):
        return np.full((table.shape[1], table.shape[1]), np.nan)
    if ranks:
        table = table.copy()
        for column in range(table.shape[1]):
            table[kept.rows, column] = _ranks_in_groups(table[kept.rows, column], kept.codes)
    return _correlation(kept.centred(table))


def _pairwise(table: Floats, groups: Groups, *, ranks: bool) -> Floats:
    """Each pair of rewards on the rows that both scored, so that one that abstains takes nothing from the others."""
    count = table.shape[1]
    result = np.full((count, count), np.nan)
    for one in range(count):
        for other in range(one + 1):
            pair = table[:, [one, other]]
            result[one, other] = result[other, one] = within_group_correlation(pair, groups, ranks=ranks)[
                0, 1
            ]
    return result


def _ranks_in_groups(values: Floats, codes: Codes) -> Floats:
    """The rank of each value in its group, from 1; ties share the mean of their ranks."""
    order = np.lexsort((values, codes))
    starts = np.flatnonzero(np.append(True, np.diff(codes[order]) != 0))
    position = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order)))) + 1.0
    new = np.append(True, (np.diff(codes[order]) != 0) | (np.diff(values[order]) != 0))
    run = np.cumsum(new) - 1
    ranks = np.empty(len(order))
    ranks[order] = (np.bincount(run, position) / np.bincount(run))[run]
    return ranks


def ranks_inside(values: npt.ArrayLike, groups: Groups) -> Floats:
    """(rows,) the rank of each value among those of its group, from 1; ties share the mean, NaN stays NaN."""
    table = np.asarray(values, dtype=np.float64)
    kept = keep_rows(table, groups)
    ranks = np.full(len(table), np.nan)
    if len(kept.rows):
        ranks[kept.rows] = _ranks_in_groups(table[kept.rows], kept.codes)
    return ranks


def between_group_correlation(scores: npt.ArrayLike, groups: Groups) -> Floats:
    """(k, k) correlation of the groups' mean scores: whether prompts that are easy for one are easy for the other."""
    table = np.asarray(scores, dtype=np.float64)
    kept = keep_rows(table, groups)
    if not len(kept.size):
        return np.full((table.shape[1], table.shape[1]), np.nan)
    means = np.stack([kept.means(column) for column in table[kept.rows].T], axis=1)
    return _correlation(means - means.mean(axis=0))


def _correlation(centred: Floats) -> Floats:
    product = centred.T @ centred
    deviation = np.sqrt(np.diag(product))
    with np.errstate(divide="ignore", invalid="ignore"):
        result = product / np.outer(deviation, deviation)
    result[(deviation <= TIE)[:, None] | (deviation <= TIE)[None, :]] = np.nan
    return np.asarray(np.clip(result, -1, 1))


def average_ranks(values: npt.ArrayLike) -> Floats:
    """Ranks from 1; ties share the mean of their ranks."""
    table = np.asarray(values, dtype=np.float64)
    _, inverse, counts = np.unique(table, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], dtype=np.float64)


# ------------------------------------------------------------------------------------ resolution and margins


def tied_pairs(values: npt.ArrayLike, groups: Groups) -> float:
    """Share of the pairs inside groups that have the same value: comparisons that teach nothing. NaN without pairs."""
    _, counts, kept = runs_of(values, groups)
    pairs = float(_combinations(kept.size, 2).sum())
    return float(_combinations(counts, 2).sum()) / pairs if pairs else math.nan


def distinct_values(values: npt.ArrayLike, groups: Groups) -> float:
    """Mean number of different values in a group (of totals or advantages). NaN without groups."""
    codes, _, kept = runs_of(values, groups)
    return len(codes) / len(kept.size) if len(kept.size) else math.nan


@dataclass(frozen=True)
class Inside:
    """One column of scores inside groups of two or more scored rows.

    `dead` is the share of groups without spread, `ties` the share of tied pairs, `distinct` the mean number of
    different values, `spread` the mean standard deviation (ddof 1). NaN without such groups.
    """

    dead: float
    ties: float
    distinct: float
    spread: float


def inside_groups(values: npt.ArrayLike, groups: Groups) -> Inside:
    """How far the rows of a group are told apart by one reward, or by the total.

    Args:
        values: (rows,).
        groups: the prompt of each row.
    """
    table = np.asarray(values, dtype=np.float64)
    kept = keep_rows(table, groups, least=2)
    if not len(kept.size):
        return Inside(math.nan, math.nan, math.nan, math.nan)
    own = np.full(len(table), np.nan)
    own[kept.rows] = table[kept.rows]
    codes, counts, same = runs_of(own, groups)
    runs = np.bincount(codes, minlength=len(same.size))
    pairs = float(_combinations(same.size, 2).sum())
    with np.errstate(invalid="ignore"):
        variance = kept.means(kept.centred(table) ** 2) * kept.size / (kept.size - 1)
    return Inside(
        dead=float((runs == 1).mean()),
        ties=float(_combinations(counts, 2).sum()) / pairs,
        distinct=float(runs.mean()),
        spread=float(np.sqrt(variance).mean()),
    )


def at_bounds(values: npt.ArrayLike, low: float, high: float) -> tuple[float, float]:
    """Shares of the scored rows at the declared lower and upper bound. NaN without scored rows."""
    table = np.asarray(values, dtype=np.float64)
    table = table[~np.isnan(table)]
    if not len(table):
        return math.nan, math.nan
    return _share_at(table, low), _share_at(table, high)


def _share_at(values: Floats, bound: float) -> float:
    """The share of values that are the bound but for the rounding of float32."""
    return float((np.abs(values - bound) <= max(TIE, _FLOAT32 * abs(bound))).mean())


def smallest_step(values: npt.ArrayLike) -> float:
    """The smallest difference between two different values that occur; NaN where there is only one."""
    table = np.unique(np.asarray(values, dtype=np.float64))
    table = table[~np.isnan(table)]
    with np.errstate(over="ignore"):
        apart = np.diff(table.astype(np.float32).astype(np.float64)) > TIE
    steps = np.diff(table)[apart]
    return float(steps.min()) if len(steps) else math.nan


def lexicographic_margin(
    step: float, weight: float, others: Sequence[tuple[float, tuple[float, float]]]
) -> float:
    """What is left of one step of the primary reward after all others did their worst.

    w_p d_p - sum_k |w_k| (high_k - low_k). At or below 0 a completion that is worse by the primary reward can
    outrank a better one.

    Args:
        step: smallest step of the primary reward.
        weight: its weight.
        others: weight and range of every other reward.
    """
    return weight * step - sum(abs(other) * (high - low) for other, (low, high) in others)


# ------------------------------------------------------------------------------------------- where it pushes


def selection_differential(feature: npt.ArrayLike, advantages: npt.ArrayLike, groups: Groups) -> float:
    """Where training would push a feature of the completions, in standard deviations of the feature.

    mean_g Cov_g(A, f) / sd(f), the covariance with 1/n inside each group and sd over all rows. Positive: more of
    it. NaN where the feature does not vary.

    Args:
        feature: (rows,) a number for each completion: its length, whether it keeps the format, an oracle.
        advantages: (rows,).
        groups: the prompt of each row.
    """
    both = np.stack([np.asarray(feature, dtype=np.float64), np.asarray(advantages, dtype=np.float64)], axis=1)
    known = without_nan(both)
    deviation = float(both[known, 0].std()) if known.any() else 0.0
    kept = keep_rows(both, groups, least=2)
    if deviation <= TIE or not len(kept.size):
        return math.nan
    centred = kept.centred(both)
    return float(kept.means(centred[:, 0] * centred[:, 1]).mean()) / deviation


@dataclass(frozen=True)
class BestOfN:
    """Expected values under the best of `n` completions by total; `kl` is the distance from the policy in nats."""

    n: int
    kl: float
    total: float
    other: float


def best_of_n(totals: npt.ArrayLike, other: npt.ArrayLike, groups: Groups, n: int) -> BestOfN:
    """What choosing the best of n by total would give, in the total and in something else (a reward, an oracle).

    Exact over all subsets of n of each prompt's completions; ties share. An oracle that falls while n grows says
    that the total can be over-optimised.

    Args:
        totals: (rows,).
        other: (rows,), for example an oracle.
        groups: the prompt of each row; prompts with fewer than n scored completions are left out.
        n: at least 1.
    """
    values, own = np.asarray(other, dtype=np.float64), np.asarray(totals, dtype=np.float64)
    known = ~(np.isnan(values) | np.isnan(own))
    chance = winning_chance(np.where(known, own, np.nan), groups, n)
    kl = math.log(n) - (n - 1) / n
    if not chance.any():
        return BestOfN(n, kl, math.nan, math.nan)
    return BestOfN(
        n, kl, float((chance[known] * own[known]).sum()), float((chance[known] * values[known]).sum())
    )


def winning_chance(totals: npt.ArrayLike, groups: Groups, n: int) -> Floats:
    """(rows,) how often each row is the best of n drawn of its prompt, as a share of all draws; ties share.

    A run of t equal values above b smaller ones in a group of s wins with C(b + t, n) - C(b, n) of the C(s, n)
    subsets. Adds up to 1 over all rows; all zero where no prompt has n scored completions. Its product with any
    column is what that column would be under the best of n.
    """
    table = np.asarray(totals, dtype=np.float64)
    kept = keep_rows(table, groups, least=n)
    chance = np.zeros(len(table))
    if not len(kept.size):
        return chance
    order, ordered = ordered_rows(told_apart(table[kept.rows], kept), kept)
    codes = kept.codes[order]
    new_group = np.append(True, np.diff(codes) != 0)
    starts = np.flatnonzero(new_group | np.append(True, ordered[1:] != ordered[:-1]))
    tied = np.diff(np.append(starts, len(order)))
    first_of_group = np.flatnonzero(new_group)[np.cumsum(new_group) - 1]
    below = starts - first_of_group[starts]
    wins = _combinations(below + tied, n) - _combinations(below, n)
    share = wins / _combinations(kept.size[codes[starts]], n) / tied / len(kept.size)
    chance[kept.rows[order]] = np.repeat(share, tied)
    return chance


def pass_at_k(passed: npt.ArrayLike, groups: Groups, k: int) -> float:
    """pass@k, unbiased: mean over prompts of 1 - C(n - c, k) / C(n, k) (Chen et al.); NaN where none has k rows."""
    table = np.asarray(passed, dtype=np.float64)
    kept = keep_rows(table, groups, least=k)
    if not len(kept.size):
        return math.nan
    wrong = np.bincount(kept.codes[table[kept.rows] <= 0], minlength=len(kept.size))
    return float((1 - _combinations(wrong, k) / _combinations(kept.size, k)).mean())


def support(passed: npt.ArrayLike, groups: Groups, k: int) -> float:
    """pass@k - pass@1: what the policy can do but does not do reliably. Near 0 there is nothing to sharpen.

    Both over the same prompts, those that have k rows, so it is never below 0.
    """
    same = of_large_groups(passed, groups, k)
    return pass_at_k(same, groups, k) - pass_at_k(same, groups, 1)


# --------------------------------------------------------------------------------------- noise and test size


def noise_share(repeats: npt.ArrayLike, groups: Groups) -> float:
    """Share of a reward's within-group variance that is only noise of the reward itself.

    Args:
        repeats: (rows, times), the same completions scored again and again.
        groups: the prompt of each row.

    Returns:
        Mean variance of one text's scores over the mean within-group variance of single scores; NaN where groups
        have no variance. 0 for a deterministic reward.
    """
    table = np.asarray(repeats, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise UsageError(f"repeats of shape {table.shape} must be (rows, times) with at least two times")
    within_text = float(np.nanmean(table.var(axis=1, ddof=1)))
    kept = keep_rows(table, groups, least=2)
    if not len(kept.size):
        return math.nan
    squares = (kept.centred(table) ** 2).mean(axis=1)
    whole = float((np.bincount(kept.codes, squares) / (kept.size - 1)).mean())
    return within_text / whole if whole > TIE**2 else math.nan


def held_out_size(
    gain: float, discordant: float, *, z: float = Z_TWO_SIDED_95, power: float = Z_POWER_80
) -> int:
    """Held-out prompts needed to see a gain in a paired comparison of pass rates (McNemar).

    Args:
        gain: the difference d in pass rate to be seen, in (0, 1].
        discordant: the share psi of prompts on which the two models differ, at least `gain`.
        z, power: normal quantiles; the defaults are 95 % two-sided and 80 % power.

    Raises:
        UsageError: gain or discordant out of range.
    """
    if not 0 < gain <= discordant <= 1:
        raise UsageError(
            f"gain={gain:g} must be above 0 and at most discordant={discordant:g}, which is at most 1"
        )
    root = z * math.sqrt(discordant) + power * math.sqrt(discordant - gain**2)
    return math.ceil(root**2 / gain**2)


# --------------------------------------------------------------------------------------------------- features


def repetition(text: str) -> float:
    """Share of the word trigrams of a text that occurred before in it; 0 for fewer than three words."""
    words = text.split()
    trigrams = list(zip(words, words[1:], words[2:], strict=False))
    return 1 - len(set(trigrams)) / len(trigrams) if trigrams else 0.0


FEATURES: dict[str, Callable[[str], float]] = {
    "length": lambda text: float(len(text)),
    "digits": lambda text: sum(map(str.isdigit, text)) / max(len(text), 1),
    "tags": lambda text: float(text.count("<")),
    "repetition": repetition,
}
"""Features of a completion's text whose drift is foretold beside that of each reward."""
