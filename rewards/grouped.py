"""Rows in groups, as `rewards.signal` counts them: which rows count, relative to their group, in order, in runs.

Completions of a prompt mostly lie together and are equally many. Then a column is a table with a row a group, and
what is done in groups is done along its rows, several times quicker than by the groups' numbers. Both ways give the
same up to rounding.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rewards.errors import UsageError
from rewards.groups import ZERO_SPREAD, number, without_spread

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
Groups = Sequence[Hashable] | npt.NDArray[np.intp]
"""The prompt of each row: anything hashable, or numbers from 0 up, which saves numbering them."""

TIE = ZERO_SPREAD
"""Differences up to this come from rounding alone."""


@dataclass(frozen=True)
class KeptRows:
    """The rows that count, with their groups numbered from 0.

    `size` is how many of them each group has; `even` is that number where all groups have the same and lie together
    in order, else 0.
    """

    rows: Codes
    codes: Codes
    size: npt.NDArray[np.int64]
    even: int = 0

    def centred(self, table: Floats) -> Floats:
        """The kept rows of `table` (rows,) or (rows, k), each relative to its group's mean."""
        own = table if self.even and len(table) == len(self.rows) else table[self.rows]
        columns = own.reshape(len(own), -1)
        if self.even:
            blocks = columns.reshape(len(self.size), self.even, -1)
            return np.asarray((blocks - blocks.mean(axis=1, keepdims=True)).reshape(own.shape))
        sums = np.stack([np.bincount(self.codes, column, len(self.size)) for column in columns.T], axis=1)
        return np.asarray((columns - (sums / self.size[:, None])[self.codes]).reshape(own.shape))

    def means(self, table: Floats) -> Floats:
        """(groups,) the mean of the kept rows' values (rows kept,) in each group."""
        if self.even:
            return np.asarray(table.reshape(len(self.size), self.even).mean(axis=1))
        return np.asarray(np.bincount(self.codes, table, len(self.size)) / self.size)


def keep_rows(table: Floats, groups: Groups, *, least: int = 1) -> KeptRows:
    """The rows of `table` (rows,) or (rows, k) without NaN, in groups that have at least `least` such rows.

    Raises:
        UsageError: not one group for each row.
    """
    codes = _codes(groups, len(table))
    known = without_nan(table)
    if known.all():  # the usual case, and the quickest
        size = np.bincount(codes)
        if size.min(initial=least) >= max(least, 1):
            return KeptRows(np.arange(len(codes)), codes, size, _even(codes, size))
    size = np.bincount(codes[known], minlength=int(codes.max(initial=-1)) + 1)
    rows = np.flatnonzero(known & (size[codes] >= least)) if len(codes) else np.empty(0, dtype=np.intp)
    present = np.bincount(codes[rows], minlength=len(size)) > 0
    numbered = (np.cumsum(present) - 1)[codes[rows]]
    return KeptRows(rows, numbered, np.bincount(numbered))


def _codes(groups: Groups, rows: int) -> Codes:
    """A number for each row's group, from 0; an array of integers is taken as such numbers."""
    if rows != len(groups):
        raise UsageError(f"{rows} values for {len(groups)} rows of groups")
    if isinstance(groups, np.ndarray) and groups.dtype == np.intp and groups.min(initial=0) >= 0:
        return groups
    return number(groups)[0]


def without_nan(table: Floats) -> npt.NDArray[np.bool_]:
    """(rows,) whether nothing of a row is NaN."""
    if table.ndim == 1:
        return np.asarray(~np.isnan(table))
    known = np.ones(len(table), dtype=bool)
    for column in table.T:  # far quicker than `any` along so short an axis
        known &= ~np.isnan(column)
    return known


def _even(codes: Codes, size: npt.NDArray[np.int64]) -> int:
    """The size of all groups where it is one and they lie together in order, else 0."""
    if not len(size) or size[0] * len(size) != len(codes) or (size != size[0]).any():
        return 0
    blocks = codes.reshape(len(size), int(size[0]))
    return int(size[0]) if (blocks == np.arange(len(size))[:, None]).all() else 0


def ordered_rows(values: Floats, kept: KeptRows) -> tuple[Codes, Floats]:
    """Places of the kept rows by group and then by value, and the values (rows kept,) in that order."""
    if kept.even:
        blocks = values.reshape(-1, kept.even)
        within = np.argsort(blocks, axis=1, kind="stable")
        order = (within + np.arange(0, len(values), kept.even)[:, None]).ravel()
    else:
        order = np.lexsort((values, kept.codes))
    return order, values[order]


def told_apart(values: Floats, kept: KeptRows) -> Floats:
    """(rows kept,) the values as TRL tells them apart.

    Rounded to float32, so that two are tied where that is equal; and all alike in a group whose standard deviation
    TRL counts as zero.
    """
    with np.errstate(over="ignore"):
        own = values.astype(np.float32).astype(np.float64)
    if kept.even:
        blocks = own.reshape(-1, kept.even)
        with np.errstate(invalid="ignore"):  # infinity minus infinity
            width = blocks.max(axis=1) - blocks.min(axis=1)
        # a deviation is at least the range by this; so small a range is rare
        if not ((width > 0) & (width <= TIE * np.sqrt(2 * kept.even))).any():
            return own
    flat = without_spread(own, kept.codes, len(kept.size))
    return np.where(flat[kept.codes], 0.0, own) if flat.any() else own


def runs_of(values: npt.ArrayLike, groups: Groups) -> tuple[Codes, npt.NDArray[np.int64], KeptRows]:
    """Runs of tied values inside groups: the group of each run, its rows, and the rows that count."""
    table = np.asarray(values, dtype=np.float64)
    kept = keep_rows(table, groups)
    own = told_apart(table[kept.rows], kept)
    if kept.even:  # the values alone are enough here
        ordered, codes = np.sort(own.reshape(-1, kept.even), axis=1).ravel(), kept.codes
    else:
        order, ordered = ordered_rows(own, kept)
        codes = kept.codes[order]
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = (codes[1:] != codes[:-1]) | (ordered[1:] != ordered[:-1])
    starts = np.flatnonzero(new)
    return codes[starts], np.diff(np.append(starts, len(ordered))), kept


def of_large_groups(values: npt.ArrayLike, groups: Groups, least: int) -> Floats:
    """(rows,) the values, NaN in groups with fewer than `least` of them: one set of groups for all sizes up to that."""
    table = np.asarray(values, dtype=np.float64)
    rows = keep_rows(table, groups, least=least).rows
    if len(rows) == len(table):
        return table
    result = np.full(len(table), np.nan)
    result[rows] = table[rows]
    return result
