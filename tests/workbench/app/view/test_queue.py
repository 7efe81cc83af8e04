from __future__ import annotations

from collections.abc import Callable

from workbench.app.view.board import Board
from workbench.app.view.queue import candidates, queue_view

MakeBoard = Callable[..., Board]


def test_rows_on_which_the_rewards_disagree_come_first(make_board: MakeBoard) -> None:
    board = make_board({"a": [0.0, 1.0, 1.0], "b": [0.0, 0.0, 1.0]}, groups=["g", "h", "i"])
    found = candidates(board)
    assert found[0].row in (1, 2)
    assert {each.row: each.why for each in found}[1] == "the rewards disagree about it"
    assert found[-1].row == 0


def test_labelled_rows_are_not_asked_again(make_board: MakeBoard) -> None:
    board = make_board({"a": [0.0, 1.0]}, labels=["wrong", None])
    assert [each.row for each in candidates(board)] == [1]
    assert candidates(make_board({"a": [0.0]}, labels=["hack"])) == []


def test_another_prompt_goes_before_the_next_row_of_the_same(make_board: MakeBoard) -> None:
    scores = {"a": [1.0, 1.0, 0.9, 0.0], "b": [0.0, 0.0, 0.0, 0.0]}
    board = make_board(scores, groups=["g", "g", "h", "h"])
    assert [each.row for each in candidates(board)][:3] == [0, 2, 1]


def test_rows_near_the_border_of_right_and_wrong_are_asked_about(make_board: MakeBoard) -> None:
    totals = [0.0, 0.1, 0.9, 1.0, 0.5, *[0.02] * 40]
    labels = ["wrong", "wrong", "right", "right", *[None] * 41]
    board = make_board({"a": totals}, labels=labels, groups=[f"g{row}" for row in range(45)])
    assert candidates(board)[0].row == 4


def test_failures_and_abstentions_harm_nothing(make_board: MakeBoard) -> None:
    board = make_board({"a": [None, "boom", float("inf"), 1.0], "b": [None, None, 0.0, float("nan")]})
    view = queue_view(board, {3})
    assert view["left"] == 4
    assert view["next"][0]["row"] != 3
    assert view["separation"][0]["auc"] is None


def test_skipped_rows_come_back_when_nothing_else_is_left(make_board: MakeBoard) -> None:
    board = make_board({"a": [0.0, 1.0]}, labels=[None, "right"])
    assert queue_view(board, {0})["next"][0]["row"] == 0


def test_right_and_wrong_are_compared_inside_a_prompt(make_board: MakeBoard) -> None:
    scores = {"a": [0.9, 0.8, 0.2, 0.1, 0.9]}
    labels = ["right", "wrong", "right", "wrong", "wrong"]
    view = queue_view(make_board(scores, labels=labels, groups=["g", "g", "h", "h", "i"]), set())
    assert (view["separation"][1]["auc"], view["separation"][1]["prompts"]) == (1.0, 2)
