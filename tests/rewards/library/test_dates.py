"""Dates: one day in many spellings, and what may be two different days."""

from __future__ import annotations

import datetime
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library import date_match
from rewards.library.dates import Date, read_date


def score(text: str, answer: Any, **options: Any) -> float | None:
    return date_match([text], answer=[answer], **options)[0]


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-05", "2024/3/5", "2024.03.05", "20240305", "5 March 2024", "5th March 2024",
        "5th of March, 2024", "March 5, 2024",
        "March 5th, 2024", "Mar 5 2024", "Mar. 5, 2024", "5. Mar 2024", "5-Mar-2024", "05.03.2024",
        "Tuesday, 5 March 2024",
        "on Tuesday, March 5, 2024", "the 5th of March 2024", "2024-03-05T12:30:00Z", "2024-03-05 12:30",
        "March 5, 2024 at 3:30 pm",
        "**March 5, 2024**", "<answer>2024-03-05</answer>", "The answer is March 5, 2024.",
        r"\boxed{5 March 2024}",
    ],
)  # fmt: skip
def test_a_date_is_paid_however_it_is_written(text: str) -> None:
    assert score(text, "2024-03-05") == 1.0
    assert score(text, "2024-05-03") == 0.0
    assert score("2024-03-05", text) == 1.0


@pytest.mark.parametrize(
    "text",
    ["", "5 March", "March 2024", "2024", "6 March 2024", "5 March 2023", "5 or 6 March 2024", "2024-03-05, 2024-03-06",
     "not 5 March 2024", "05/03/24", "31 February 2024", "2024-13-05", "5 Marchember 2024", "some day"],
)  # fmt: skip
def test_another_date_or_none_is_not_paid(text: str) -> None:
    assert score(text, "5 March 2024") == 0.0


def test_an_ambiguous_date_is_read_only_where_it_is_declared() -> None:
    assert read_date("05/03/2024") is None
    assert read_date("05/03/2024", day_first=True) == Date(2024, 3, 5)
    assert read_date("05/03/2024", day_first=False) == Date(2024, 5, 3)
    assert read_date("25/03/2024") == Date(2024, 3, 25)
    assert read_date("03/25/2024") == Date(2024, 3, 25)
    assert read_date("05/05/2024") == Date(2024, 5, 5)
    assert read_date("03/25/2024", day_first=True) is None


def test_a_more_precise_date_answers_a_less_precise_one() -> None:
    assert score("2 September 1945", "1945") == 1.0
    assert score("2 September 1945", 1945) == 1.0
    assert score("September 1945", "1945-09") == 1.0
    assert score("1945", "September 1945") == 0.0
    assert score("2 September 1945", "August 1945") == 0.0


def test_the_column_may_hold_dates() -> None:
    assert score("5 March 2024", datetime.date(2024, 3, 5)) == 1.0
    assert score("5 March 2024", datetime.datetime(2024, 3, 5, 12, 0)) == 1.0


@pytest.mark.parametrize("answer", [None, "", "soon", "05/03/2024", True, 0, 1.5, "31 February 2024", []])
def test_a_reference_that_is_no_certain_date_is_not_scored(answer: Any) -> None:
    assert score("2024-03-05", answer) is None


def test_a_day_first_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"day_first=1 \(int\) must be true, false or left out"):
        score("2024", "2024", day_first=1)


@given(
    st.dates(datetime.date(1000, 1, 1)),
    st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d.%m.%Y", "%A, %d %b %Y"]),
)
def test_every_day_is_read_as_it_is_written(day: datetime.date, form: str) -> None:
    assert read_date(day.strftime(form)) == Date(day.year, day.month, day.day)


HOSTILE = [
    "Answer: " * 250_000, "(B) " * 500_000, "B " * 1_000_000, "(" * 2_000_000, "**" * 1_000_000,
    "option is " * 200_000,
    "[" * 1_000_000 + "]" * 1_000_000, "\\text{" * 300_000, "5 March " * 250_000, "1, " * 700_000,
    "not " * 500_000, "- 1\n" * 500_000,
    "\x00\ud800" * 500_000, "<answer>" + "a b " * 500_000 + "</answer>", "\n" * 2_000_000,
    " " * 2_000_000 + "B",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_two_megabytes_of_hostile_text_take_less_than_two_seconds(text: str) -> None:
    start = time.process_time()
    assert score(text, "2024-03-05") == 0.0
    assert time.process_time() - start < 2.0
