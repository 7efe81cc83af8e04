from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.workbench.tables import samples, table
from workbench.app.engine import board_of
from workbench.app.view.board import Board, bounds, shared_beginning
from workbench.app.view.numbers import cell

MakeBoard = Callable[..., Board]
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("scores", "declared", "expected"),
    [
        ([0.2, 0.9], None, (0.0, 1.0)),
        ([-0.5, 0.0], None, (-1.0, 0.0)),
        ([-0.5, 0.5], None, (-1.0, 1.0)),
        ([0.0, 7.0], None, (0.0, 7.0)),
        ([-4.0, -2.0], None, (-4.0, 0.0)),
        ([-4.0, 2.0], None, (-4.0, 4.0)),
        ([0.0], (-2.0, 2.0), (-2.0, 2.0)),
        ([NAN, INF], None, (0.0, 1.0)),
        ([], None, (0.0, 1.0)),
    ],
)
def test_colours_run_over_the_declared_range_else_a_customary_one(
    scores: list[float], declared: Any, expected: Any
) -> None:
    assert bounds(np.array(scores), declared) == expected


def test_failures_abstentions_and_dead_groups_are_told_apart(make_board: MakeBoard) -> None:
    board = make_board({"a": [1.0, None, "boom", INF, 2.0, 2.0]}, groups=["x", "x", "x", "x", "y", "y"])
    assert board.failed.tolist() == [False, False, True, True, False, False]
    assert board.abstained.tolist() == [False, True, False, False, False, False]
    assert board.dead.tolist() == [False, False, False, False, True, True]


def test_a_group_of_one_is_not_called_dead(make_board: MakeBoard) -> None:
    assert not make_board({"a": [1.0, 2.0]}, groups=["x", "y"]).dead.any()


def test_cells_are_strict_json(make_board: MakeBoard) -> None:
    board = make_board({"a": [NAN], "b": [-INF], "c": [None], "d": ["boom"], "e": [1 / 3]})
    assert board.cells(0) == ["nan", "-inf", None, "!", 0.333333]


def test_totals_range_over_the_weighted_ranges(make_board: MakeBoard) -> None:
    board = make_board({"a": [0.5], "b": [-0.5]}, weights=[2.0, 1.0])
    assert board.total_bounds == (-1.0, 2.0)
    assert make_board({"a": [0.5]}, weights=[-2.0]).total_bounds == (-2.0, 0.0)
    assert make_board({"a": [0.5]}, weights=[0.0]).total_bounds == (0.0, 1.0)


def test_groups_lose_what_they_all_begin_with(make_board: MakeBoard) -> None:
    board = make_board({"a": [1.0, 2.0]}, groups=["problem-10", "problem-12"])
    assert board.short_groups == ["10", "12"]
    assert shared_beginning(["ab", "ac"]) == ""


def test_numbers_are_as_long_as_a_screen_can_show() -> None:
    assert cell(2 / 3) == 0.666667
    assert cell(1e300) == 1e300
    assert str(cell(-0.0)) == "0.0"


def test_other_weights_change_totals_and_advantages_but_no_score() -> None:
    made = table({"a": [1.0, 0.0], "b": [0.0, 1.0]}, ["g", "g"], weights=[2.0, 1.0])
    board = board_of(made, samples(["x", "y"], ["g", "g"]))
    heard = board.reweighted({"a": 0.0})
    assert heard.totals.tolist() == [0.0, 1.0]
    assert heard.advantages[1] > 0 > heard.advantages[0]
    assert [(column.weight, column.declared_weight) for column in heard.columns] == [(0.0, 2.0), (1.0, 1.0)]
    assert heard.scores is board.scores
    assert heard.reweighted({}).totals.tolist() == board.totals.tolist()
    assert heard.differs(board) is not None
