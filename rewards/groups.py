"""Totals, group statistics and advantages: the arithmetic TRL applies to scores.

GRPO never looks at a reward as such. It looks at the *advantage*: how far the weighted total of a
completion lies from the mean of its group (all completions of one prompt), in units of some spread. This
module computes the same numbers from a table of scores, so that one sees before a run what the trainer will
see in it.

Source of the formulas: `GRPOTrainer._generate_and_score_completions` and `nanstd` in TRL 1.16
(`trl/trainer/`). With r_ik the score of row i by reward k (NaN: abstained), w_k the weights, g the group of
row i and eps = 1e-4:

    sum_then_normalize   R_i = nansum_k(w_k r_ik), NaN where every reward abstained
        "group"          A_i = (R_i - mean_g(R)) / (std_g(R) + eps)
        "batch"          A_i = (R_i - mean_g(R)) / (std(R) + eps)
        "none"           A_i = R_i - mean_g(R)
    normalize_then_sum   z_ik = (r_ik - mean_g(r_k)) / (std_g(r_k) + eps);  S_i = nansum_k(w_k z_ik)
                         A_i = (S_i - mean(S)) / (std(S) + eps);  the scaling is ignored here, as it is by TRL

Means and standard deviations (ddof 1) pass over NaN; a NaN advantage becomes 0 and an infinite one the
largest float32, as in TRL. TRL computes in float32, so scores, products, sums and differences are rounded to
float32 here too. Only the sums inside means are exact before they are rounded: their order differs between
CPUs and GPUs, and a group of equal totals gets exactly 0 here where TRL may show the noise of one rounding.

Groups need not be of one size: the definitions hold for each group as it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from rewards.errors import UsageError

Aggregation = Literal["sum_then_normalize", "normalize_then_sum"]
Scaling = Literal["group", "batch", "none"]
FloatArray = npt.NDArray[np.float64]
AnyFloats = npt.NDArray[np.floating[Any]]
Codes = npt.NDArray[np.intp]

EPSILON = 1e-4
"""What TRL adds to a standard deviation before it divides by it."""

ZERO_SPREAD = 1e-8
"""A standard deviation up to this counts as zero (`torch.isclose(std, 0)` in TRL)."""

_LARGEST = float(np.finfo(np.float32).max)

_DIGITS = 9
"""Digits of a sum of normalised rewards, in units of all weights together, that are more than rounding."""


@dataclass(frozen=True)
class GroupStatistics:
    """What one group of completions looks like to the trainer; every array has one entry per group.

    Attributes:
        names: the groups, in the order of their first row.
        size: rows of the group.
        scorable: rows on which at least one reward did not abstain.
        mean: mean of the totals of the scorable rows; NaN where there is none.
        spread: their standard deviation (ddof 1); 0.0 in a group of one row, NaN where fewer than two rows
            of a larger group are scorable.
        zero_spread: True where no row can get an advantage from its own group: the spread is at most 1e-8,
            or NaN.
    """

    names: list[Hashable]
    size: npt.NDArray[np.int64]
    scorable: npt.NDArray[np.int64]
    mean: FloatArray
    spread: FloatArray
    zero_spread: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def zero_spread_share(self) -> float:
        """The share of groups from which nothing is learnt, in [0, 1]; NaN where there are no groups."""
        return float(self.zero_spread.mean()) if len(self.names) else float("nan")


def totals(scores: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    """The weighted total of each row: nansum_k(w_k r_ik), or NaN where every reward abstained.

    An abstaining reward (NaN) counts as 0 in its row, and so does an infinite score of weight 0, as in TRL.
    Values beyond the range of float32 are infinite to TRL, and therefore here.

    Args:
        scores: (n, k), a column per reward; NaN means "no opinion".
        weights: (k,).

    Returns:
        (n,) float64.

    Raises:
        UsageError: if the shapes do not fit.

    >>> totals([[1.0, 0.5], [float("nan"), 0.5], [float("nan"), float("nan")]], [2.0, 1.0]).tolist()
    [2.5, 0.5, nan]
    """
    table, factors = _table(scores, weights)
    with np.errstate(all="ignore"):
        result = np.nansum(beyond_float32(table) * factors, axis=1)
    result = beyond_float32(result)
    result[_unscorable(table)] = np.nan
    return result


def advantages(
    scores: npt.ArrayLike,
    weights: npt.ArrayLike,
    groups: Iterable[Hashable],
    *,
    aggregation: Aggregation | str = "sum_then_normalize",
    scale_rewards: Scaling | str = "group",
) -> FloatArray:
    """The advantage TRL gives each row; the formulas stand in the docstring of this module.

    Args:
        scores: (n, k), a column per reward; NaN means "no opinion".
        weights: (k,).
        groups: the group of each row, n hashable values; rows of a group need not be neighbours.
        aggregation: TRL's `multi_objective_aggregation`.
        scale_rewards: TRL's `scale_rewards`; without effect under "normalize_then_sum".

    Returns:
        (n,) float64 with float32 precision; never NaN. Rows on which every reward abstained get 0.

    Raises:
        UsageError: if the shapes do not fit or a mode is unknown.

    >>> advantages([[1.0], [0.0]], [1.0], ["a", "a"]).round(4).tolist()
    [0.707, -0.707]
    >>> advantages([[1.0], [0.0], [5.0]], [1.0], ["a", "a", "b"], scale_rewards="none").tolist()
    [0.5, -0.5, 0.0]
    """
    _known(aggregation, Aggregation, "aggregation")
    _known(scale_rewards, Scaling, "scale_rewards")
    table, factors = _table(scores, weights)
    codes, names = _codes(groups, len(table))
    with np.errstate(all="ignore"):
        result = _advantages(
            table.astype(np.float32),
            factors.astype(np.float32),
            codes,
            len(names),
            aggregation,
            scale_rewards,
        )
    return result.astype(np.float64)


def group_statistics(
    scores: npt.ArrayLike,
    weights: npt.ArrayLike,
    groups: Iterable[Hashable],
    *,
    aggregation: str = "sum_then_normalize",
) -> GroupStatistics:
    """Size, mean and spread of the totals in each group.

    For one reward alone pass its column and the weight 1.

    Args:
        scores: (n, k), a column per reward; NaN means "no opinion".
        weights: (k,).
        groups: the group of each row, n hashable values.
        aggregation: under `normalize_then_sum` each reward is normalised by itself, and a group has zero spread where
            the sums of the normalised rewards have none; equal totals of unlike rewards teach all the same.

    Raises:
        UsageError: if the shapes do not fit.

    >>> seen = group_statistics([[1.0], [0.0], [0.5], [0.5]], [1.0], ["a", "a", "b", "b"])
    >>> seen.mean.tolist(), seen.zero_spread.tolist(), seen.zero_spread_share
    ([0.5, 0.5], [False, True], 0.5)
    """
    table, factors = _table(scores, weights)
    codes, names = _codes(groups, len(table))
    with np.errstate(all="ignore"):
        narrow = table.astype(np.float32)
        rows = _weighted_sums(narrow, factors.astype(np.float32), _unscorable(table))
        mean = _group_means(rows, codes, len(names))
        spread = _group_spreads(rows, codes, len(names))
    size = np.bincount(codes, minlength=len(names)).astype(np.int64)
    scorable = np.bincount(codes[~np.isnan(rows)], minlength=len(names)).astype(np.int64)
    spread = np.where(size == 1, 0.0, spread)
    flat = ~(spread > ZERO_SPREAD)
    if aggregation == "normalize_then_sum":
        with np.errstate(all="ignore"):
            taught = _taught(table, factors, codes, len(names))
            flat = ~(_group_spreads(taught, codes, len(names)) > ZERO_SPREAD)
    return GroupStatistics(
        names=names,
        size=size,
        scorable=scorable,
        mean=mean.astype(np.float64),
        spread=spread.astype(np.float64),
        zero_spread=flat,
    )


def normalised(scores: npt.ArrayLike, groups: Iterable[Hashable]) -> FloatArray:
    """(n, k) each reward as "normalize_then_sum" adds it up: around its group's mean, in units of its deviation.

    >>> normalised([[1.0], [0.0], [float("nan")]], ["a", "a", "a"]).round(3).ravel().tolist()
    [0.707, -0.707, nan]
    """
    table = np.asarray(scores, dtype=np.float64)
    codes, names = _codes(groups, len(table))
    with np.errstate(all="ignore"):
        return _normalised(table, codes, len(names), table.dtype.type(EPSILON)).astype(np.float64)


def ranked_by(
    scores: npt.ArrayLike,
    weights: npt.ArrayLike,
    groups: Iterable[Hashable],
    *,
    aggregation: Aggregation | str = "sum_then_normalize",
) -> FloatArray:
    """The quantity by which the rows of a group are ranked: of two rows the one with more gets the larger advantage.

    The total R under "sum_then_normalize", the sum S of the normalised rewards under "normalize_then_sum", where rows
    with one total can be taught opposite things. Two rows are tied where it is equal: R is rounded to float32 as
    TRL has it, S to the ninth digit, below which there is only rounding; and all rows of a group whose deviation
    counts as zero are equal. Only rows of one group can be compared by S.

    Args:
        scores: (n, k), a column per reward; NaN means "no opinion".
        weights: (k,).
        groups: the group of each row, n hashable values.
        aggregation: TRL's `multi_objective_aggregation`.

    Returns:
        (n,) float64 with float32 precision; NaN where every reward abstained.

    Raises:
        UsageError: if the shapes do not fit or the mode is unknown.

    >>> scores, weights, groups = [[1.0, 0.0], [0.0, 100.0]], [2.0, 1.0], ["a", "a"]
    >>> ranked_by(scores, weights, groups).tolist()
    [2.0, 100.0]
    >>> ranked_by(scores, weights, groups, aggregation="normalize_then_sum").round(3).tolist()
    [0.707, -0.707]
    """
    _known(aggregation, Aggregation, "aggregation")
    table, factors = _table(scores, weights)
    codes, names = _codes(groups, len(table))
    with np.errstate(all="ignore"):
        if aggregation == "sum_then_normalize":
            narrow = table.astype(np.float32)
            rows = _weighted_sums(narrow, factors.astype(np.float32), _unscorable(table))
        else:
            rows = _taught(beyond_float32(table), factors, codes, len(names))
        flat = _group_spreads(rows, codes, len(names)) <= ZERO_SPREAD
        if flat.any():
            rows = np.where(flat[codes] & ~np.isnan(rows), _group_means(rows, codes, len(names))[codes], rows)
        if aggregation != "sum_then_normalize":
            unit = np.abs(factors).sum() or 1.0
            rows = (np.round(rows / unit, _DIGITS) * unit).astype(np.float32)
    return rows.astype(np.float64)


def _taught(table: FloatArray, factors: FloatArray, codes: Codes, count: int) -> FloatArray:
    """S of each row under "normalize_then_sum", in float64: in float32 opposite rewards leave the noise of rounding."""
    apart = _normalised(table, codes, count, table.dtype.type(EPSILON))
    return _weighted_sums(apart, factors, _unscorable(table)).astype(np.float64)


def _advantages(
    table: AnyFloats, factors: AnyFloats, codes: Codes, count: int, aggregation: str, scale_rewards: str
) -> AnyFloats:
    """The arithmetic in the precision of `table`."""
    epsilon = table.dtype.type(EPSILON)
    unscorable = _unscorable(table)
    if aggregation == "sum_then_normalize":
        rows = _weighted_sums(table, factors, unscorable)
        result = rows - _group_means(rows, codes, count)[codes]
        if scale_rewards == "group":
            result = result / (_group_spreads(rows, codes, count)[codes] + epsilon)
        elif scale_rewards == "batch":
            result = result / (_spread_of_all(rows) + epsilon)
    else:
        rows = _weighted_sums(_normalised(table, codes, count, epsilon), factors, unscorable)
        result = (rows - _mean_of_all(rows)) / (_spread_of_all(rows) + epsilon)
    return np.nan_to_num(result, nan=0.0)


def _normalised(table: AnyFloats, codes: Codes, count: int, epsilon: np.floating[Any]) -> AnyFloats:
    """Each column in units of its spread around its mean, group by group."""
    columns = [
        (column - _group_means(column, codes, count)[codes])
        / (_group_spreads(column, codes, count)[codes] + epsilon)
        for column in table.T
    ]
    return np.stack(columns, axis=1)


def _weighted_sums(table: AnyFloats, factors: AnyFloats, unscorable: npt.NDArray[np.bool_]) -> AnyFloats:
    """nansum_k(w_k r_ik), products and sum in the precision of `table`; NaN for unscorable rows."""
    sums = np.nansum(table * factors, axis=1, dtype=np.float64).astype(table.dtype)
    return np.where(unscorable, np.asarray(np.nan, table.dtype), sums)


def _group_means(values: AnyFloats, codes: Codes, count: int) -> AnyFloats:
    """The mean of the values of each group that are not NaN; NaN where there is none.

    The sum is exact (float64), so that the mean of equal values is that value, but infinite where the
    precision of the values could not hold it.
    """
    kept = ~np.isnan(values)
    sums = np.bincount(codes[kept], weights=values[kept], minlength=count).astype(np.float64)
    narrow = sums.astype(values.dtype)
    sums = np.where(np.isinf(narrow), narrow, sums)
    return (sums / np.bincount(codes[kept], minlength=count)).astype(values.dtype)


def _group_spreads(values: AnyFloats, codes: Codes, count: int) -> AnyFloats:
    """The standard deviation (ddof 1) of each group as TRL's `nanstd` has it; NaN below two values.

    As there, a square that is NaN (infinity minus infinity) drops out of the mean of squares only, not of the
    count that Bessel's correction uses.
    """
    squares = (values - _group_means(values, codes, count)[codes]) ** 2
    present = np.bincount(codes[~np.isnan(values)], minlength=count)
    correction = np.where(present > 1, present / (present - 1.0), np.nan)
    return np.sqrt((_group_means(squares, codes, count) * correction).astype(values.dtype))


def _mean_of_all(values: AnyFloats) -> AnyFloats:
    return _group_means(values, np.zeros(len(values), dtype=np.intp), 1)


def _spread_of_all(values: AnyFloats) -> AnyFloats:
    return _group_spreads(values, np.zeros(len(values), dtype=np.intp), 1)


def _unscorable(table: AnyFloats) -> npt.NDArray[np.bool_]:
    """The rows on which every reward abstained."""
    return np.asarray(np.isnan(table).all(axis=1))


def beyond_float32(values: FloatArray) -> FloatArray:
    """The values, infinite where float32 cannot hold them, which is what TRL sees of them.

    >>> beyond_float32(np.array([1.0, -1e39])).tolist()
    [1.0, -inf]
    """
    return np.where(np.abs(values) > _LARGEST, np.copysign(np.inf, values), values)


def added(scores: npt.ArrayLike) -> FloatArray:
    """(n, k) what each reward adds to its row's total, before its weight: an abstention (NaN) adds 0.

    NaN throughout a row on which every reward abstained, which has no total.

    >>> added([[float("nan"), 0.5], [float("nan"), float("nan")]]).tolist()
    [[0.0, 0.5], [nan, nan]]
    """
    table = beyond_float32(np.asarray(scores, dtype=np.float64))
    none = np.isnan(table)
    return np.where(none & ~_unscorable(table)[:, None], 0.0, table) if none.any() else table


def _table(scores: npt.ArrayLike, weights: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    table = np.asarray(scores, dtype=np.float64)
    factors = np.asarray(weights, dtype=np.float64)
    if table.ndim != 2 or factors.shape != table.shape[1:]:
        raise UsageError(
            f"scores of shape {table.shape} and weights of shape {factors.shape} do not fit: "
            "scores must be (rows, rewards) and weights (rewards,)."
        )
    return table, factors


def _codes(groups: Iterable[Hashable], rows: int) -> tuple[Codes, list[Hashable]]:
    """Each row's group as a number, in the order of first appearance, and the groups' names.

    An array of integers from 0 up without gaps is taken as such numbers, and they are the names.
    """
    if isinstance(groups, np.ndarray) and groups.dtype == np.intp and len(groups) == rows:
        if groups.min(initial=0) >= 0 and np.bincount(groups).all():
            return groups, list(range(int(groups.max(initial=-1)) + 1))
        groups = groups.tolist()
    codes, names = number(groups)
    if len(codes) != rows:
        raise UsageError(
            f"groups names {len(codes)} rows, scores has {rows}: there must be one group per row."
        )
    return codes, names


def without_spread(values: FloatArray, codes: Codes, count: int) -> npt.NDArray[np.bool_]:
    """(count,) whether TRL counts the deviation of a group's values as zero; False where it has none.

    >>> without_spread(np.array([1e9, 1e9 + 1, 0.0, 1.0]), np.array([0, 0, 1, 1]), 2).tolist()
    [True, False]
    """
    with np.errstate(all="ignore"):
        return np.asarray(_group_spreads(values.astype(np.float32), codes, count) <= ZERO_SPREAD)


def number(values: Iterable[Hashable]) -> tuple[Codes, list[Hashable]]:
    """Values as numbers from 0 up in the order of first appearance, and the value behind each number.

    >>> number(["a", "b", "a"])
    (array([0, 1, 0]), ['a', 'b'])
    """
    first: dict[Hashable, int] = {}
    rows = list(map(first.setdefault, values, itertools.count()))  # for each value the row it came up in
    seen = np.array(rows, dtype=np.intp)
    return (np.cumsum(seen == np.arange(len(seen))) - 1)[seen], list(first)


def _known(value: str, choices: object, name: str) -> None:
    if value not in get_args(choices):
        raise UsageError(f"{name}={value!r} is unknown; it must be one of {', '.join(get_args(choices))}.")
