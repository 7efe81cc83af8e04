"""Text that is nearly the reference: equal texts are paid in full, wrong ones little or nothing."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library import fuzzy_match, word_overlap


def fuzzy(text: Any, answer: Any, **options: Any) -> float:
    (score,) = fuzzy_match([text], answer=[answer], **options)
    assert score is not None
    return score


def overlap(text: str, answer: Any) -> float | None:
    return word_overlap([text], answer=[answer])[0]


@pytest.mark.guide("G7")
@pytest.mark.parametrize("member", [fuzzy_match, word_overlap])
@pytest.mark.parametrize("empty", [None, "", "  ", "<answer></answer>", ".", True, [], [""]])
def test_without_a_reference_nothing_is_scored(member: Any, empty: Any) -> None:
    assert member([""], answer=[empty]) == [None]
    assert member(["<answer></answer>"], answer=[empty]) == [None]


@pytest.mark.parametrize("text", ["", " ", "<answer></answer>", "<answer>", "..."])
def test_an_empty_answer_earns_nothing(text: str) -> None:
    assert fuzzy(text, "Paris") == 0.0
    assert overlap(text, "Paris") == 0.0


@pytest.mark.parametrize(
    "text", ["Charles Darwin", "charles darwin.", "**Charles Darwin**", "<answer>Charles  Darwin</answer>"]
)
def test_equal_texts_are_paid_in_full(text: str) -> None:
    assert fuzzy(text, "Charles Darwin") == 1.0


@pytest.mark.guide("G7")
@pytest.mark.parametrize(
    ("wrong", "right", "most"),
    [
        ("Rome", "Paris", 0.0), ("Iraq", "Iran", 0.05), ("North Korea", "South Korea", 0.1),
        ("Austria", "Australia", 0.25),
        ("guilty", "not guilty", 0.0), ("in 1813", "in 1812", 0.0), ("1235", "1234", 0.0),
        ("-18", "18", 0.0), ("no", "on", 0.0),
        ("it can't fly", "it can fly", 0.0), ("Paris " * 50, "Paris", 0.0), ("cat", "car", 0.0),
        ("B", "A", 0.0),
    ],
)  # fmt: skip
def test_wrong_near_misses_earn_little(wrong: str, right: str, most: float) -> None:
    assert fuzzy(wrong, right) <= most


def test_a_slip_in_a_long_name_keeps_most_of_it() -> None:
    assert 0.6 < fuzzy("Mahatma Gandhi of Porbandar, India", "Mahatma Ghandi of Porbandar, India") < 1.0


def test_a_higher_floor_pays_less() -> None:
    assert (
        fuzzy("Gandi", "Gandhi", floor=0.5) > fuzzy("Gandi", "Gandhi") > fuzzy("Gandi", "Gandhi", floor=0.9)
    )


@pytest.mark.parametrize("floor", [-0.1, 1.0, "0.5", None, True])
def test_a_floor_that_is_none_is_refused(floor: Any) -> None:
    with pytest.raises(ValueError, match=r"reward 'fuzzy_match': floor=.* must be a number from 0 to 0.99"):
        fuzzy("a", "a", floor=floor)


def test_the_best_of_several_references_counts() -> None:
    assert fuzzy("NYC", ["New York", "NYC"]) == 1.0
    assert overlap("the big apple", ["New York", "Big Apple"]) == 1.0


@given(st.text(max_size=20), st.text("abcdefgh ", min_size=1, max_size=20))
def test_only_equal_texts_are_paid_in_full(text: str, answer: str) -> None:
    (score,) = fuzzy_match([f"<answer>{text}</answer>"], answer=[f"<answer>{answer}</answer>"])
    assert score is None or 0.0 <= score <= 1.0
    if score == 1.0:
        assert " ".join(text.split()).strip(" *_`'\"$.()").casefold() == " ".join(answer.split())


def test_words_left_out_and_words_too_many_cost_the_same() -> None:
    assert overlap("hello", "hello world") == pytest.approx(2 / 3)
    assert overlap("hello world", "hello") == pytest.approx(2 / 3)
    assert overlap("hello hello hello", "hello") == pytest.approx(0.5)
    assert overlap("goodbye", "hello") == 0.0


def test_case_punctuation_and_articles_do_not_count() -> None:
    assert overlap("The cat, it sat.", "a Cat: it sat") == 1.0


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
    assert fuzzy(text, "Charles Darwin") < 0.5
    assert overlap(text, "Charles Darwin") == 0.0
    assert time.process_time() - start < 2.0
