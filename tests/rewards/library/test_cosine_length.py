"""Length scaled by correctness."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.credits import recording
from rewards.library import cosine_length


def value(tokens: int, right: bool = True, **options: Any) -> float:
    score = cosine_length(["7"], [[0] * tokens], correct=[right], max_tokens=100, **options)[0]
    assert score is not None
    return score


@given(st.integers(0, 400), st.integers(0, 400))
def test_a_right_answer_is_worth_less_the_longer_and_stays_there_beyond_the_end(one: int, other: int) -> None:
    assert value(min(one, other)) >= value(max(one, other))
    assert value(100 + one) == 0.75


@given(st.integers(0, 400), st.integers(0, 400))
def test_no_wrong_answer_is_worth_more_than_a_right_one(right: int, wrong: int) -> None:
    assert value(wrong, False, wrong_long=0.5, right_long=0.5) <= value(right, right_long=0.5)


def test_the_answer_is_judged_where_no_verdict_is_given() -> None:
    texts, ids = ["<answer>7</answer>", "<answer>8</answer>", "7"], [[], [], []]
    assert cosine_length(texts, ids, answer=["7", "7", None]) == [1.0, 0.0, None]
    assert cosine_length(["B"], [[]], answer=["b"], graded_by="exact_match") == [1.0]


def test_the_judges_own_credits_are_no_part_of_the_score() -> None:
    with recording(1) as record:
        cosine_length(["7"], [[0] * 50], answer=["7"], max_tokens=100)
    assert [credit["points"] for credit in record.by_row()[0]] == [0.875]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"max_tokens": 0}, "max_tokens=0"),
        ({"right_short": 1.5}, "right_short=1.5"),
        ({"wrong_long": 0.8}, "could be worth more than a right one"),
        ({"graded_by": "me"}, "graded_by='me' .str. must be one of exact_match"),
    ],
)
def test_wrong_parameters_are_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=f"reward 'cosine_length': .*{why}"):
        cosine_length(["7"], [[]], answer=["7"], **options)


@pytest.mark.parametrize(
    ("verdict", "right"),
    [
        (True, True),
        (0, False),
        (1.0, True),
        (np.bool_(False), False),
        ("false", False),
        ("True ", True),
        ("0", False),
    ],
)
def test_a_verdict_may_be_text_or_a_number(verdict: Any, right: bool) -> None:
    assert cosine_length(["7"], [[]], correct=[verdict]) == [1.0 if right else 0.0]


@pytest.mark.parametrize("verdict", [None, float("nan"), "", " "])
def test_a_missing_verdict_is_none(verdict: Any) -> None:
    assert cosine_length(["7"], [[]], correct=[verdict]) == [None]


@pytest.mark.parametrize("verdict", ["maybe", 2, 0.5, [True]])
def test_a_verdict_that_is_neither_is_refused(verdict: Any) -> None:
    with pytest.raises(
        ValueError, match=r"reward 'cosine_length': correct=.* must be true or false, 1 or 0, or None"
    ):
        cosine_length(["7"], [[]], correct=[verdict])
