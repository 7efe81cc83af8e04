from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from workbench.app.view.board import Board
from workbench.app.view.row import MAX_MEMBERS, MAX_TEXT, messages, row_detail, turns

MakeBoard = Callable[..., Board]
HOSTILE = "<script>alert(1)</script> ${document.body} {{x}} `tick` \ud800 \u202e <img src=x onerror=alert(1)>"


def test_a_row_has_its_scores_with_weights_and_errors(make_board: MakeBoard) -> None:
    board = make_board({"a": [1.0, 0.5], "b": ["ValueError: no (r.py:3)", None]}, weights=[2.0, 1.0])
    first, second = row_detail(board, 0)["scores"]
    assert (first["score"], first["weighted"], first["status"]) == (1.0, 2.0, "number")
    assert (second["score"], second["weighted"], second["error"]) == ("!", None, "ValueError: no (r.py:3)")
    assert row_detail(board, 1)["scores"][1]["status"] == "abstained"


def test_the_group_is_ranked_by_advantage(make_board: MakeBoard) -> None:
    group = row_detail(make_board({"a": [0.0, 2.0, 1.0]}), 0)["group"]
    assert [member[0] for member in group["rows"]] == [1, 2, 0]
    assert (group["size"], group["mean"], group["dead"]) == (3, 1.0, False)


def test_of_a_large_group_both_ends_and_the_row_itself_are_shown(make_board: MakeBoard) -> None:
    group = row_detail(make_board({"a": [float(n) for n in range(200)]}), 100)["group"]
    shown = [member[0] for member in group["rows"]]
    assert len(shown) == MAX_MEMBERS + 1
    assert shown[0] == 199
    assert shown[-1] == 0
    assert 100 in shown


def test_hostile_text_comes_through_unchanged_as_json(make_board: MakeBoard) -> None:
    board = make_board({"a": [1.0]}, texts=[HOSTILE], prompts=[[{"role": HOSTILE, "content": HOSTILE}]])
    found = json.loads(json.dumps(row_detail(board, 0), allow_nan=False))
    assert found["text"] == HOSTILE
    assert found["prompt"] == [[HOSTILE, HOSTILE]]


def test_a_very_long_text_is_cut_and_its_length_told(make_board: MakeBoard) -> None:
    found = row_detail(make_board({"a": [1.0]}, texts=["x" * (MAX_TEXT + 5)]), 0)
    assert (len(found["text"]), found["length"]) == (MAX_TEXT, MAX_TEXT + 5)


def test_prompts_of_every_kind_are_shown() -> None:
    assert messages("plain") == [["prompt", "plain"]]
    assert messages([{"role": "user", "content": [{"type": "text", "text": "hi"}]}, "odd"]) == [
        ["user", '[{"type": "text", "text": "hi"}]'],
        ["", "odd"],
    ]


def test_a_row_that_is_not_there_is_an_error(make_board: MakeBoard) -> None:
    with pytest.raises(IndexError):
        row_detail(make_board({"a": [1.0]}), 1)


def test_a_completion_of_several_messages_is_shown_turn_by_turn() -> None:
    call = {"type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    completion = [
        {"role": "assistant", "content": "", "tool_calls": [call], "name": None},
        {"role": "tool", "name": "add", "content": "3", "tool_calls": None},
        {"role": "assistant", "content": "so 3"},
    ]
    assert turns(completion) == [["assistant", 'add({"a": 1})'], ["tool add", "3"], ["assistant", "so 3"]]
    assert turns(completion[-1:]) == turns("so 3") == []
