"""Named partial credit: free when nobody records, given to the row it is about when somebody does."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from rewards import credit
from rewards.contract import Batch, call
from rewards.credits import cut_by_sums, recording, spans_of

TEXTS = ["<a>one", "two", "<a>three</a>"]


def batch(texts: list[str]) -> Batch:
    return Batch([""] * len(texts), [[{"role": "assistant", "content": text}] for text in texts])


def names(result: Any) -> list[list[str]]:
    assert result.credits is not None
    return [[one["name"] for one in row] for row in result.credits]


def reward(completions: list[Any], **kwargs: object) -> list[float]:
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = credit("open", 0.25 if "<a>" in text else 0.0, of=0.25)
        if "</a>" in text:
            score += credit("close", 0.75, of=0.75, span=re.search("</a>", text), note="at the end")
        rewards.append(score)
    return rewards


def test_credit_returns_its_points_unchanged() -> None:
    points = 0.1 + 0.2
    assert credit("x", points) is points


def test_credits_go_to_the_row_that_the_calling_code_holds() -> None:
    result = call(reward, batch(TEXTS), record_credits=True)
    assert names(result) == [["open"], ["open"], ["open", "close"]]


def test_a_credit_is_recorded_with_all_it_was_given() -> None:
    result = call(reward, batch(["<a>x</a>"]), record_credits=True)
    assert result.credits is not None
    close = result.credits[0][1]
    line, file = close.pop("line"), close.pop("file")
    assert file == __file__
    assert close == {"name": "close", "points": 0.75, "of": 0.75, "spans": [[4, 8]], "note": "at the end"}
    assert isinstance(line, int)


def test_nothing_is_recorded_unless_asked_for() -> None:
    assert call(reward, batch(TEXTS)).credits is None


def test_credits_in_helpers_and_coroutines_find_their_row() -> None:
    def judged(text: str) -> float:
        return credit("judged", float(len(text)))

    async def slow(completions: list[Any], **kwargs: object) -> list[float]:
        async def one(completion: Any) -> float:
            await asyncio.sleep(0)
            return judged(completion[0]["content"].upper())

        return list(await asyncio.gather(*(one(completion) for completion in completions)))

    assert names(call(slow, batch(TEXTS), record_credits=True)) == [["judged"]] * 3


def test_rows_are_told_by_sums_where_the_code_does_not_tell() -> None:
    def hidden(completions: list[Any], **kwargs: object) -> list[float]:
        numbers = [len(completion[0]["content"]) for completion in completions]
        del completions
        kwargs.clear()
        return [credit("length", float(number)) for number in numbers]

    with recording(3) as record:
        scores = hidden(batch(TEXTS).completions)
    assert [[one["name"] for one in row] for row in record.by_row(scores)] == [["length"]] * 3


def left_over(completions: list[Any], **kwargs: Any) -> list[float]:
    texts = []
    for completion in completions:
        texts.append(completion[0]["content"])
    return [credit("open", kwargs["points"][at]) * kwargs["factor"] for at in range(len(texts))]


@pytest.mark.parametrize(
    ("points", "factor", "found"),
    [
        ([1.0, 0.5, 1.0], 1.0, [["open"]] * 3),
        ([1.0, -1.0, 1.0], 1.0, [["open"]] * 3),
        ([1.0, 0.5, 1.0], 0.5, [[]] * 3),
    ],
)
def test_a_variable_left_over_from_an_earlier_loop_gives_no_row(
    points: list[float], factor: float, found: list[list[str]]
) -> None:
    result = call(left_over, batch(TEXTS), params={"points": points, "factor": factor}, record_credits=True)
    assert names(result) == found


def test_credits_that_are_scaled_afterwards_stay_with_the_rows_of_their_loop() -> None:
    def halved(completions: list[Any], **kwargs: Any) -> list[float]:
        return [score / 2 for score in reward(completions)]

    assert names(call(halved, batch(TEXTS), record_credits=True)) == [["open"], ["open"], ["open", "close"]]


def test_a_credit_of_no_certain_row_belongs_to_none() -> None:
    with recording(2) as record:
        credit("shared", 0.0)
    assert record.by_row([0.0, 0.0]) == [[], []]
    assert [one.name for one in record.unplaced] == ["shared"]


def test_equal_completions_that_are_one_object_are_not_guessed_apart() -> None:
    text = "the same object"
    with recording(2, [text, text]) as record:
        for completion in (text, text):
            credit("x", float(len(completion)))
    assert len(record.unplaced) == 2


@pytest.mark.parametrize(
    ("points", "scores", "rows"),
    [
        ([0.5, 0.25, 1.0], [0.75, 0.0, 1.0], [0, 0, 2]),
        ([0.1, 0.2], [0.3, 0.0], [0, 0]),
        ([1.0, 1.0], [1.0, 1.0], [0, 1]),
        ([0.0, 1.0], [0.0, 1.0], None),
        ([1.0], [2.0], None),
        ([], [0.0], []),
    ],
)
def test_sums_decide_only_where_there_is_one_way(points: Any, scores: Any, rows: Any) -> None:
    assert cut_by_sums(points, scores) == rows


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ((1, 3), ((1, 3),)),
        ([(1, 3), (5, 6)], ((1, 3), (5, 6))),
        (re.search("b", "abc"), ((1, 2),)),
        (None, ()),
        ("nonsense", ()),
    ],
)
def test_spans_are_read_in_every_form(span: Any, expected: Any) -> None:
    assert spans_of(span) == expected


def test_infinite_points_are_strict_json() -> None:
    with recording(1) as record:
        credit("x", float("inf"), of=float("nan"))
    assert json.loads(json.dumps(record.by_row(), allow_nan=False))[0][0]["points"] == "inf"
