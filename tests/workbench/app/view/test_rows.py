from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.app.view.board import Board
from workbench.app.view.rows import MAX_WINDOW, PREVIEW, Bar, View, chips, order, preview, window

MakeBoard = Callable[..., Board]
NAN = float("nan")


@pytest.fixture
def board(make_board: MakeBoard) -> Board:
    return make_board(
        {"a": [0.5, None, 1.0, "boom"], "b": [3.0, 1.0, 2.0, 1.0]},
        groups=["y", "x", "y", "x"],
        labels=["right", "wrong", "right", None],
        texts=["Alpha", "beta\n<b>", "alphabet", "STRASSE"],
    )


@pytest.mark.parametrize(
    ("view", "rows"),
    [
        (View(), [0, 1, 2, 3]),
        (View(down=True), [3, 2, 1, 0]),
        (View(sort="reward:a"), [0, 2, 1, 3]),
        (View(sort="reward:a", down=True), [2, 0, 1, 3]),
        (View(sort="total", down=True), [0, 2, 1, 3]),
        (View(sort="group"), [0, 2, 1, 3]),
        (View(chip="errors"), [3]),
        (View(chip="none"), [1]),
        (View(chip="label:right", sort="total"), [2, 0]),
        (View(search="ALPHA"), [0, 2]),
        (View(search="straße"), [3]),
        (View(search="id2"), [2]),
        (View(search="nothing like it"), []),
    ],
)
def test_rows_are_sorted_filtered_and_searched(board: Board, view: View, rows: list[int]) -> None:
    assert order(board, view).tolist() == rows


def test_every_label_that_occurs_has_a_chip(board: Board) -> None:
    counts = {chip["key"]: chip["count"] for chip in chips(board)}
    assert counts == {
        "all": 4, "changed": 0, "errors": 1, "none": 1, "dead": 2, "pinned": 0, "label:right": 2, "label:wrong": 1,
    }  # fmt: skip


def test_pinned_changed_and_unexpected_rows_have_chips_of_their_own(board: Board) -> None:
    expected = [{"a": 0.5}, {"a": None}, {"a": 0.25}, None]
    other = replace(board, scores=board.scores + np.array([0.0, 1.0]), totals=board.totals + 1.0)
    said = replace(board, expected=expected, pinned=frozenset({1, 3}), changed=board.differs(other))
    assert order(said, View(chip="pinned")).tolist() == [1, 3]
    assert order(said, View(chip="off")).tolist() == [2]
    assert order(said, View(chip="changed")).tolist() == [0, 1, 2, 3]
    assert board.differs(board) is not None
    assert not board.differs(board).any()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("bar", "rows"),
    [
        (Bar("a", 0.5, 1.0, closed=False), [0]),
        (Bar("a", 0.5, 1.0), [0, 2]),
        (Bar("total", 3.5, 3.5), [0]),
        (Bar("nobody", 0.0, 1.0), []),
    ],
)
def test_a_bar_leaves_the_rows_with_a_score_in_it(board: Board, bar: Bar, rows: list[int]) -> None:
    assert order(board, View(within=bar)).tolist() == rows


def test_a_window_is_bounded_and_may_lie_beyond_the_end(make_board: MakeBoard) -> None:
    board = make_board({"a": [0.0] * 500})
    rows = order(board, View())
    assert len(window(board, View(), rows, 0, 10_000)) == MAX_WINDOW
    assert window(board, View(), rows, 499, 60)[0][0] == 499
    assert window(board, View(), rows, 500, 60) == []


def test_a_window_shows_scores_totals_and_advantages(board: Board) -> None:
    rows = window(board, View(), order(board, View()), 1, 2)
    assert rows[0][:5] == [1, "x", "wrong", "beta⏎<b>", [None, 1.0]]
    assert rows[1][5:] == [3.0, pytest.approx(-0.707, abs=0.01)]


def test_a_preview_shows_the_end_or_the_beginning_or_what_was_found() -> None:
    text = "start " + "x" * 400 + " end"
    assert preview(text, "tail").endswith(" end")
    assert preview(text, "head").startswith("start ")
    assert "needle" in preview("a" * 300 + "needle" + "b" * 300, "tail", "NEEDLE")


@given(st.text(), st.sampled_from(["tail", "head"]), st.text(max_size=3))
def test_a_preview_is_one_short_line(text: str, part: str, search: str) -> None:
    line = preview(text, part, search)
    assert "\n" not in line
    assert len(line) <= PREVIEW + 2
