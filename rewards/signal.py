"""Signal power: what a reward set could teach, from scored groups, before anything is trained.

Every function is plain arithmetic on arrays: `values` are the totals (or one reward's scores) of the rows,
`groups` names the prompt of each row, NaN is "no score" and leaves its row out. Formulas:

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
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rewards.errors import UsageError

Floats = npt.NDArray[np.float64]

Z_TWO_SIDED_95 = 1.959963984540054
Z_POWER_80 = 0.8416212335729143
TIE = 1e-8
"""Two totals that differ by at most this are equal to TRL, which tests a group's deviation against 0."""


def _groups(groups: Sequence[Hashable]) -> Iterator[npt.NDArray[np.intp]]:
    """The row numbers of each group, in the order of its first row."""
    rows: dict[Hashable, list[int]] = {}
    for row, group in enumerate(groups):
        rows.setdefault(group, []).append(row)
    for members in rows.values():
        yield np.array(members)


def _scored(values: npt.ArrayLike, groups: Sequence[Hashable]) -> Iterator[Floats]:
    table = np.asarray(values, dtype=np.float64)
    if len(table) != len(groups):
        raise UsageError(f"{len(table)} values for {len(groups)} rows of groups")
    for members in _groups(groups):
        own = table[members]
        yield own[~np.isnan(own)]


# ------------------------------------------------------------------------------- groups without spread


def dead_probability(values: npt.ArrayLike, groups: Sequence[Hashable], group_size: int) -> float:
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
    if group_size < 2:
        raise UsageError(f"group_size={group_size} must be at least 2")
    shares = []
    for own in _scored(values, groups):
        if len(own) >= group_size:
            same = sum(math.comb(count, group_size) for count in _value_counts(own))
            shares.append(same / math.comb(len(own), group_size))
    return float(np.mean(shares)) if shares else math.nan


def _value_counts(values: Floats) -> list[int]:
    """How often each value occurs; neighbours within `TIE` count as one value."""
    ordered = np.sort(values)
    breaks = np.flatnonzero(np.diff(ordered) > TIE) + 1
    return [len(part) for part in np.split(ordered, breaks)]


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
    advantages.
    """

    covariance: Floats
    share: Floats
    influence: Floats


def signal_shares(
    scores: npt.ArrayLike, weights: npt.ArrayLike, advantages: npt.ArrayLike, groups: Sequence[Hashable]
) -> Shares:
    """The part each reward has in what a group's completions are told apart by.

    Args:
        scores: (rows, k); a row with a NaN is left out.
        weights: (k,).
        advantages: (rows,).
        groups: the prompt of each row; groups with fewer than two rows are left out.
    """
    table, factors = np.asarray(scores, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    paid = np.asarray(advantages, dtype=np.float64)
    matrices, pulls = [], []
    for members in _groups(groups):
        own = members[~np.isnan(table[members]).any(axis=1)]
        if len(own) > 1:
            centred = table[own] - table[own].mean(axis=0)
            matrices.append(centred.T @ centred / (len(own) - 1))
            pulls.append(centred.T @ (paid[own] - paid[own].mean()) / (len(own) - 1))
    rewards = table.shape[1]
    if not matrices:
        empty = np.full(rewards, np.nan)
        return Shares(np.full((rewards, rewards), np.nan), empty, empty)
    covariance = np.mean(matrices, axis=0)
    parts = factors * (covariance @ factors)
    whole = parts.sum()
    share = parts / whole if abs(whole) > TIE**2 else np.full(rewards, np.nan)
    return Shares(covariance, share, np.mean(pulls, axis=0))


def scale_dominance(covariance: npt.ArrayLike, weights: npt.ArrayLike) -> Floats:
    """(k,) w_k s_k / sum_j w_j s_j with the within-group deviations s: who speaks loudest. NaN where all are silent."""
    loudness = np.abs(np.asarray(weights)) * np.sqrt(np.clip(np.diag(np.asarray(covariance)), 0, None))
    total = loudness.sum()
    return np.asarray(loudness / total) if total > 0 else np.full(len(loudness), np.nan)


def within_group_correlation(
    scores: npt.ArrayLike, groups: Sequence[Hashable], *, ranks: bool = False
) -> Floats:
    """(k, k) correlation of the rewards inside groups, pooled; Spearman's with `ranks`. NaN where one is constant.

    Each score is taken relative to its group's mean (with `ranks`: as its rank in the group), so that easy and
    hard prompts do not pass for agreement between rewards.
    """
    table = np.asarray(scores, dtype=np.float64)
    parts = []
    for members in _groups(groups):
        own = table[members]
        own = own[~np.isnan(own).any(axis=1)]
        if len(own) > 1:
            if ranks:
                own = np.apply_along_axis(average_ranks, 0, own)
            parts.append(own - own.mean(axis=0))
    return _correlation(np.concatenate(parts) if parts else np.empty((0, table.shape[1])))


def between_group_correlation(scores: npt.ArrayLike, groups: Sequence[Hashable]) -> Floats:
    """(k, k) correlation of the groups' mean scores: whether prompts that are easy for one are easy for the other."""
    table = np.asarray(scores, dtype=np.float64)
    means = [np.nanmean(table[members], axis=0) for members in _groups(groups) if len(members)]
    kept = np.array([mean for mean in means if not np.isnan(mean).any()]).reshape(-1, table.shape[1])
    return _correlation(kept - kept.mean(axis=0) if len(kept) else kept)


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


def tied_pairs(values: npt.ArrayLike, groups: Sequence[Hashable]) -> float:
    """Share of the pairs inside groups that have the same value: comparisons that teach nothing. NaN without pairs."""
    same = pairs = 0
    for own in _scored(values, groups):
        pairs += math.comb(len(own), 2)
        same += sum(math.comb(count, 2) for count in _value_counts(own)) if len(own) else 0
    return same / pairs if pairs else math.nan


def distinct_values(values: npt.ArrayLike, groups: Sequence[Hashable]) -> float:
    """Mean number of different values in a group (of totals or advantages). NaN without groups."""
    counts = [len(_value_counts(own)) for own in _scored(values, groups) if len(own)]
    return float(np.mean(counts)) if counts else math.nan


def at_bounds(values: npt.ArrayLike, low: float, high: float) -> tuple[float, float]:
    """Shares of the scored rows at the declared lower and upper bound. NaN without scored rows."""
    table = np.asarray(values, dtype=np.float64)
    table = table[~np.isnan(table)]
    if not len(table):
        return math.nan, math.nan
    return float(np.isclose(table, low, atol=TIE).mean()), float(np.isclose(table, high, atol=TIE).mean())


def smallest_step(values: npt.ArrayLike) -> float:
    """The smallest difference between two different values that occur; NaN where there is only one."""
    table = np.unique(np.asarray(values, dtype=np.float64))
    steps = np.diff(table[~np.isnan(table)])
    steps = steps[steps > TIE]
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


def selection_differential(
    feature: npt.ArrayLike, advantages: npt.ArrayLike, groups: Sequence[Hashable]
) -> float:
    """Where training would push a feature of the completions, in standard deviations of the feature.

    mean_g Cov_g(A, f) / sd(f), the covariance with 1/n inside each group and sd over all rows. Positive: more of
    it. NaN where the feature does not vary.

    Args:
        feature: (rows,) a number for each completion: its length, whether it keeps the format, an oracle.
        advantages: (rows,).
        groups: the prompt of each row.
    """
    table, paid = np.asarray(feature, dtype=np.float64), np.asarray(advantages, dtype=np.float64)
    known = ~np.isnan(table) & ~np.isnan(paid)
    deviation = float(table[known].std()) if known.any() else 0.0
    if deviation <= TIE:
        return math.nan
    covariances = []
    for members in _groups(groups):
        own = members[known[members]]
        if len(own) > 1:
            covariances.append(
                float(np.mean((paid[own] - paid[own].mean()) * (table[own] - table[own].mean())))
            )
    return float(np.mean(covariances)) / deviation if covariances else math.nan


@dataclass(frozen=True)
class BestOfN:
    """Expected values under the best of `n` completions by total; `kl` is the distance from the policy in nats."""

    n: int
    kl: float
    total: float
    other: float


def best_of_n(totals: npt.ArrayLike, other: npt.ArrayLike, groups: Sequence[Hashable], n: int) -> BestOfN:
    """What choosing the best of n by total would give, in the total and in something else (a reward, an oracle).

    Exact over all subsets of n of each prompt's completions; ties share. An oracle that falls while n grows says
    that the total can be over-optimised.

    Args:
        totals: (rows,).
        other: (rows,), for example an oracle.
        groups: the prompt of each row; prompts with fewer than n scored completions are left out.
        n: at least 1.
    """
    table, second = np.asarray(totals, dtype=np.float64), np.asarray(other, dtype=np.float64)
    best_total, best_other = [], []
    for members in _groups(groups):
        own = members[~np.isnan(table[members]) & ~np.isnan(second[members])]
        if len(own) >= n:
            chance = _chance_to_win(table[own], n)
            best_total.append(float(chance @ table[own]))
            best_other.append(float(chance @ second[own]))
    kl = math.log(n) - (n - 1) / n
    if not best_total:
        return BestOfN(n, kl, math.nan, math.nan)
    return BestOfN(n, kl, float(np.mean(best_total)), float(np.mean(best_other)))


def _chance_to_win(values: Floats, n: int) -> Floats:
    """Probability of each value to be the one chosen as the largest of n drawn without replacement; ties share."""
    size, all_subsets = len(values), math.comb(len(values), n)
    chance = np.zeros(size)
    below = 0
    for value in np.unique(values):
        tied = np.flatnonzero(values == value)
        wins = math.comb(below + len(tied), n) - math.comb(below, n)
        chance[tied] = wins / all_subsets / len(tied)
        below += len(tied)
    return chance


def pass_at_k(passed: npt.ArrayLike, groups: Sequence[Hashable], k: int) -> float:
    """pass@k, unbiased: mean over prompts of 1 - C(n - c, k) / C(n, k) (Chen et al.); NaN where none has k rows."""
    results = []
    for own in _scored(passed, groups):
        if len(own) >= k:
            right = int((own > 0).sum())
            results.append(1 - math.comb(len(own) - right, k) / math.comb(len(own), k))
    return float(np.mean(results)) if results else math.nan


def support(passed: npt.ArrayLike, groups: Sequence[Hashable], k: int) -> float:
    """pass@k - pass@1: what the policy can do but does not do reliably. Near 0 there is nothing to sharpen."""
    return pass_at_k(passed, groups, k) - pass_at_k(passed, groups, 1)


# --------------------------------------------------------------------------------------- noise and test size


def noise_share(repeats: npt.ArrayLike, groups: Sequence[Hashable]) -> float:
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
    variances = [
        table[members, time].var(ddof=1)
        for members in _groups(groups)
        if len(members) > 1
        for time in range(table.shape[1])
    ]
    whole = float(np.nanmean(variances)) if variances else 0.0
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
    "digits": lambda text: sum(character.isdigit() for character in text) / max(len(text), 1),
    "tags": lambda text: float(text.count("<")),
    "repetition": repetition,
}
"""Features of a completion's text whose drift is foretold beside that of each reward."""
