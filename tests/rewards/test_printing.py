"""For which row a reward prints."""

# ruff: noqa: T201  # rewards do print

from __future__ import annotations

import logging
import sys
from typing import Any

from rewards.contract import Batch, call
from rewards.repeating import call_rows_apart

ROWS = Batch(["p"] * 3, ["first", "second", "third"])
CHAT = Batch(["p"] * 2, [[{"role": "assistant", "content": text}] for text in ("first", "second")])


def in_a_loop(completions: list[str], **_: Any) -> list[float]:
    for text in completions:
        if text != "first":
            print("length", len(text))
    print("all done")
    return [0.0] * len(completions)


def test_what_a_loop_prints_is_its_rows_and_what_follows_is_nobodys() -> None:
    result = call(in_a_loop, ROWS)
    assert result.printed_rows == {1: "length 6\n", 2: "length 5\n"}
    assert result.printed == "length 6\nlength 5\nall done\n"


def helper(text: str) -> float:
    print("seen", text)
    return 1.0


def test_a_function_that_is_given_a_text_prints_for_it() -> None:
    def reward(completions: Any, **_: Any) -> list[float]:
        texts = [completion[0]["content"] for completion in completions]
        return [helper(text) for text in texts]

    assert call(reward, CHAT).printed_rows == {0: "seen first\n", 1: "seen second\n"}


def test_a_logger_prints_for_the_row_that_called_it() -> None:
    logger = logging.getLogger("a reward's own")

    def reward(completions: list[str], **_: Any) -> list[float]:
        handler = logging.StreamHandler(sys.stderr)
        logger.addHandler(handler)
        for text in completions:
            logger.warning("odd: %s", text)
        logger.removeHandler(handler)
        return [0.0] * len(completions)

    assert call(reward, ROWS).printed_rows[2] == "odd: third\n"


def test_where_two_rows_are_at_hand_it_is_neither() -> None:
    def reward(completions: list[str], **_: Any) -> list[float]:
        for text in completions:
            for other in completions:
                if text != other:
                    print("pair")
        return [0.0] * len(completions)

    assert call(reward, ROWS).printed_rows == {}


def test_rows_keep_theirs_when_another_raises() -> None:
    def reward(completions: list[str], **_: Any) -> list[float]:
        for text in completions:
            print(text)
            if text == "second":
                raise ValueError
        return [0.0] * len(completions)

    assert call_rows_apart(reward, ROWS).printed_rows == {0: "first\n", 1: "second\n", 2: "third\n"}
