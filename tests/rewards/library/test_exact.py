"""Exact match."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rewards.library import exact_match


def score(completion: Any, answer: Any, **options: Any) -> float | None:
    return exact_match([completion], answer=[answer], **options)[0]


@pytest.mark.guide("G7")
def test_the_answer_in_its_tag_is_right_and_another_wrong() -> None:
    assert score("<reasoning>3+4</reasoning><answer>7</answer>", "7") == 1.0
    assert score("<reasoning>7</reasoning><answer>8</answer>", "7") == 0.0


@pytest.mark.parametrize("empty", [None, "", "  \n", "<answer></answer>", ".", "****", "$$", True, [], {}])
def test_without_a_reference_nothing_is_scored(empty: Any) -> None:
    assert score("", empty) is None
    assert score("no tags", empty) is None
    assert score("<answer></answer>", empty) is None


@pytest.mark.parametrize(
    "completion", ["", " ", "<answer></answer>", "<answer>", "</answer>", "I do not know"]
)
def test_an_empty_or_missing_answer_is_wrong(completion: str) -> None:
    assert score(completion, "7") == 0.0


@pytest.mark.parametrize("near", ["17", "71", "-7", "7.5", "7, 8", "not 7", "7 7", "6"])
def test_near_misses_are_not_paid(near: str) -> None:
    assert score(f"<answer>{near}</answer>", "7") == 0.0


@pytest.mark.parametrize(
    "form",
    ["paris", "PARIS", " Paris\n", "Paris.", "**Paris**", "`Paris`", '"Paris"', r"\text{Paris}", "$Paris$"],
)
def test_what_does_not_change_an_answer_does_not_change_its_score(form: str) -> None:
    assert score(f"<answer>{form}</answer>", "Paris") == 1.0
    assert score("<answer>Paris</answer>", form) == 1.0


@pytest.mark.parametrize("form", ["B", "(B)", "B.", "B)", "b", r"\text{(B)}"])
def test_a_choice_may_be_written_with_its_brackets(form: str) -> None:
    assert score(f"Answer: {form}", "B") == 1.0
    assert score(f"Answer: {form}", "C") == 0.0


def test_case_counts_where_it_is_asked_for() -> None:
    assert score("<answer>ph</answer>", "pH", ignore_case=False) == 0.0
    assert score("<answer>ph</answer>", "pH") == 1.0


def test_numbers_in_the_column_are_compared_as_they_are_written() -> None:
    assert score("<answer>7</answer>", 7) == 1.0
    assert score("<answer>7.5</answer>", 7.5) == 1.0


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert score("<answer>caf\u00e9</answer>", "cafe\u0301") == 1.0


def test_a_worked_solution_as_reference_is_read_like_a_completion() -> None:
    assert score("<answer>18</answer>", "16 - 3 = 13\n#### 18") == 1.0


def test_hedging_between_two_answers_is_not_paid() -> None:
    assert score("<answer>Paris or Rome</answer>", "Paris") == 0.0


def test_an_unknown_form_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match=r"reward 'exact_match': answer_forms=\['xml'\] must be a list of some of tag"
    ):
        score("7", "7", answer_forms=["xml"])


@given(st.text(min_size=1, max_size=40))
def test_a_reference_repeated_word_for_word_is_paid_or_not_scored(text: str) -> None:
    assert score(text, text) in (1.0, None)


@given(st.text("abcde ", min_size=1, max_size=8), st.text("abcde ", min_size=1, max_size=8))
def test_only_equal_words_are_paid(one: str, other: str) -> None:
    assume(other.strip())
    assert score(f"<answer>{one}</answer>", other) == float(one.split() == other.split())
