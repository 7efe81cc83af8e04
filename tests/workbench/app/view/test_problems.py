from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.app.view.board import Board
from workbench.app.view.problems import board_problems, line_of, sample_problems
from workbench.samples.records import Skipped

MakeBoard = Callable[..., Board]


@pytest.mark.parametrize(
    ("sentence", "line"),
    [
        ("rewards.py, line 7: SyntaxError: invalid syntax", 7),
        ("rewards.py failed to load: NameError: name 'x' is not defined (rewards.py:3)", 3),
        ("KeyError: 'x' (helper.py:9)", None),
        ("no place at all", None),
    ],
)
def test_the_line_is_read_from_the_sentence(sentence: str, line: int | None) -> None:
    assert line_of(sentence, "rewards.py") == line


def test_alike_failures_are_told_once_with_count_and_first_row(make_board: MakeBoard) -> None:
    board = make_board({"a": [1.0, "KeyError: 'x' (rewards.py:4)", "KeyError: 'y' (rewards.py:4)", "odd"]})
    first, second = board_problems(board, "rewards.py")
    assert (first["line"], first["row"], first["count"]) == (4, 1, 2)
    assert (second["text"], second["row"], second["count"]) == ("a: odd", 3, 1)


def test_failures_that_differ_in_numbers_alone_are_alike(make_board: MakeBoard) -> None:
    board = make_board({"a": ["returned 4 scores for 2 completions", "returned 6 scores for 3 completions"]})
    (only,) = board_problems(board, "rewards.py")
    assert (only["text"], only["count"]) == ("a: returned 4 scores for 2 completions", 2)


def test_infinite_and_nan_scores_are_named(make_board: MakeBoard) -> None:
    board = make_board({"a": [float("inf"), float("nan"), 1.0]})
    kinds = [(problem["kind"], problem["row"]) for problem in board_problems(board, "rewards.py")]
    assert kinds == [("error", 0), ("warning", 1)]


def test_skipped_sample_rows_are_one_warning() -> None:
    skipped = [Skipped(Path("/p/s.jsonl"), 3, "not JSON"), Skipped(Path("/p/s.jsonl"), 5, "not JSON")]
    assert sample_problems(skipped)[0]["text"] == "2 sample rows could not be read: s.jsonl, line 3: not JSON"
    assert sample_problems([]) == []
