"""How two members move together inside groups, on samples and on made-up completions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rewards.signal import within_group_correlation
from workbench.checks.intervals import correlation_interval
from workbench.checks.signal.made_up import made_up_texts, score_all
from workbench.checks.signal.table import Table

FEWEST = 6
"""Rows beyond one a group that a correlation needs."""


@dataclass(frozen=True)
class Together:
    """Two members: places, correlation inside groups with its 95 % interval, and how many rows it was counted on.

    `left` is the deviation of their weighted sum inside groups as a share of the smaller of their own two: near 0
    where they cancel.
    """

    one: int
    other: int
    correlation: float
    low: float
    high: float
    rows: int
    left: float


def together(table: Table) -> Iterator[Together]:
    """Each pair of members that both vary within groups."""
    for one, other in itertools.combinations(range(len(table.members)), 2):
        pair = table.scores[:, [one, other]]
        known = ~np.isnan(pair).any(axis=1)
        kept = known & (np.bincount(table.groups[known], minlength=len(table.sizes))[table.groups] > 1)
        rows = int(kept.sum())
        groups = len(np.unique(table.groups[kept]))
        correlation = (
            float(within_group_correlation(pair[kept], table.groups[kept])[0, 1]) if rows else math.nan
        )
        if rows - groups < FEWEST or math.isnan(correlation):
            continue
        low, high = correlation_interval(correlation, rows - groups + 1)
        yield Together(one, other, correlation, low, high, rows, _left(table, one, other, kept))


def _left(table: Table, one: int, other: int, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    weighted = table.scores[kept][:, [one, other]] * table.weights[[one, other]]
    groups = table.groups[kept]
    columns = np.column_stack([weighted, weighted.sum(axis=1)])
    sums = np.stack([np.bincount(groups, column) for column in columns.T], axis=1)
    counts = np.bincount(groups)
    with np.errstate(invalid="ignore"):
        centred = columns - (sums / counts[:, None])[groups]
    spread = centred.std(axis=0)
    smaller = float(min(spread[0], spread[1]))
    return float(spread[2]) / smaller if smaller > 0 else math.nan


def move_together_on_made_up(table: Table, one: int, other: int) -> tuple[float, int]:
    """(correlation, texts) of two members on completions made up under a few prompts; (NaN, 0) where too few score."""
    rows = _rows_of_different_prompts(table)
    texts = made_up_texts(table, rows)
    scores = score_all(table, texts)[:, [one, other]]
    known = ~np.isnan(scores).any(axis=1)
    groups = np.array([row for row, _ in texts], dtype=np.intp)[known]
    if known.sum() < 20:
        return math.nan, 0
    names = {row: place for place, row in enumerate(dict.fromkeys(groups.tolist()))}
    codes = np.array([names[row] for row in groups.tolist()], dtype=np.intp)
    return float(within_group_correlation(scores[known], codes)[0, 1]), int(known.sum())


def _rows_of_different_prompts(table: Table) -> list[int]:
    """The rows with the highest and the lowest total of a few prompts, with their completions."""
    found: list[int] = []
    for group in np.flatnonzero(table.sizes > 1)[:3]:
        places = np.flatnonzero((table.groups == group) & ~np.isnan(table.totals))
        if len(places):
            found.append(table.rows[int(places[table.totals[places].argmax()])])
            found.append(table.rows[int(places[table.totals[places].argmin()])])
    return list(dict.fromkeys(found))[:4]


__all__ = ["Together", "move_together_on_made_up", "together"]
