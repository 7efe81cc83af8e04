"""The summary tiles above the table: one a reward, one for the total, one for the groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rewards.contract import Status
from workbench.app.view.board import Board
from workbench.app.view.numbers import Cell, cell, short

BINS = 24


def tiles(board: Board) -> dict[str, Any]:
    """JSON for all tiles: `rewards` in column order, `total` and `groups`."""
    return {
        "rewards": [_reward_tile(board, index) for index in range(len(board.columns))],
        "total": _summary(board.totals, *board.total_bounds),
        "groups": _groups_tile(board),
    }


def histogram(values: NDArray[np.float64], low: float, high: float) -> list[int]:
    """Counts in BINS equal bins from `low` to `high`; values outside are counted in the outermost bins.

    >>> counts = histogram(np.array([0.0, 1.0, 9.0]), 0.0, 1.0)
    >>> counts[0], counts[-1], len(counts)
    (1, 2, 24)
    """
    finite = values[np.isfinite(values)]
    if not len(finite) or not low < high:
        return [0] * BINS
    with np.errstate(over="ignore"):  # what overflows lies outside, on the side of its sign
        places = np.clip((finite - low) / (high - low) * BINS, 0, BINS - 1).astype(int)
    return [int(count) for count in np.bincount(places, minlength=BINS)]


def _summary(values: NDArray[np.float64], low: float, high: float) -> dict[str, Any]:
    finite = values[np.isfinite(values)]
    if len(finite):  # the axis reaches at least over what is there
        low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    return {
        "mean": _shown(finite, np.mean),
        "spread": _shown(finite, np.std),
        "low": short(low),
        "high": short(high),
        "bins": histogram(values, low, high),
        "count": len(finite),
    }


def _shown(finite: NDArray[np.float64], statistic: Callable[[NDArray[np.float64]], Any]) -> Cell:
    if not len(finite):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        return cell(float(statistic(finite)))


def _reward_tile(board: Board, index: int) -> dict[str, Any]:
    column, status = board.columns[index], board.status[:, index]
    return {
        "name": column.name,
        "weight": short(column.weight),
        "own": short(column.declared_weight),
        "seconds": None if column.seconds is None else short(column.seconds),
        "none": int(((status == Status.ABSTAINED) | (status == Status.NAN)).sum()),
        "failed": int(((status >= Status.WRONG_TYPE) | (status == Status.INFINITE)).sum()),
        **_summary(board.scores[:, index], column.low, column.high),
    }


def _groups_tile(board: Board) -> dict[str, Any]:
    statistics = board.statistics
    several = statistics.size > 1
    sizes = [int(size) for size in np.unique(statistics.size)] if len(statistics) else []
    spreads = statistics.spread[several]
    reach = float(np.nanmax(spreads)) if np.isfinite(spreads).any() else 0.0
    return {
        "dead": int((statistics.zero_spread & several).sum()),
        "of": int(several.sum()),
        "alone": int((~several).sum()),
        "sizes": sizes if len(sizes) <= 3 else [sizes[0], sizes[-1]],
        "ragged": len(sizes) > 3,
        "high": short(reach),
        "bins": histogram(spreads, 0.0, reach or 1.0),
    }
