from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.app.view.board import Board
from workbench.app.view.tiles import BINS, histogram, tiles

MakeBoard = Callable[..., Board]


def test_a_tile_counts_what_is_no_score(make_board: MakeBoard) -> None:
    board = make_board({"a": [1.0, 0.0, None, "boom", float("inf")]})
    tile = tiles(board)["rewards"][0]
    assert (tile["mean"], tile["none"], tile["failed"], tile["count"]) == (0.5, 1, 2, 2)
    assert sum(tile["bins"]) == 2


def test_a_reward_without_any_score_has_an_empty_tile(make_board: MakeBoard) -> None:
    tile = tiles(make_board({"a": [None, None]}))["rewards"][0]
    assert (tile["mean"], tile["spread"], sum(tile["bins"])) == (None, None, 0)


def test_dead_groups_are_counted_among_groups_of_several(make_board: MakeBoard) -> None:
    groups = tiles(make_board({"a": [1.0, 1.0, 0.0, 1.0, 5.0]}, groups=["x", "x", "y", "y", "z"]))["groups"]
    assert (groups["dead"], groups["of"], groups["alone"], groups["sizes"]) == (1, 2, 1, [1, 2])


@given(st.lists(st.floats(allow_nan=True), max_size=40), st.floats(-5, 5), st.floats(0.1, 5))
def test_a_histogram_counts_every_finite_value_once(values: list[float], low: float, width: float) -> None:
    counts = histogram(np.array(values), low, low + width)
    assert len(counts) == BINS
    assert sum(counts) == int(np.isfinite(values).sum()) if values else sum(counts) == 0
