"""Multiple choice: what is a choice, and what only looks like one."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library import multiple_choice

CITIES = ["Rome", "Paris", "New York", "York"]


def score(text: Any, answer: Any = "B", options: Any = None, **more: Any) -> float | None:
    return multiple_choice([text], answer=[answer], options=None if options is None else [options], **more)[0]


@pytest.mark.parametrize(
    "text",
    [
        "B", "b", "(B)", "[B]", "B.", "B)", "**B**", "Answer: B", "**Answer: B**", "**Answer:** B",
        "__Answer__: B", "The answer is B.",
        "The answer is (B)", "Final answer: option B", r"\boxed{B}", r"\boxed{\text{B}}",
        r"\boxed{\text{(B)}}", r"\boxed{ [B] }",
        r"\boxed{\text{Answer: B}}", "<answer>B</answer>", "<think>A? C?</think>\n<answer>\nB\n</answer>",
        "B. Because C is not valid",
        "Answer: B because C is not valid", "B: it freezes at zero", "B) it freezes", "My choice is B.",
        "The correct option is (B).",
        "the final option is B", "Option selected: B", "I think it's (B).", "Answer: B/B",
        "The answer is definitely (B).", "Answer: $B$",
        "Maybe Answer: A? Let me reconsider. Final Answer: B", "B is correct", "#### B", "A: B",
    ],
)  # fmt: skip
def test_a_choice_is_paid_however_it_is_written(text: str) -> None:
    assert score(text) == 1.0
    assert score(text, "C") == 0.0
    assert score(text, "(B)") == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "", "A", "B or C", "A, B", "A and B", "B/C", "A, B, C, or D.", "Answer: B or C",
        "The answer is A, B, C, or D.", "not B",
        "The answer is not B.", "It could be (B) or maybe (C).", "I think it might be B but I'm not sure",
        "B is wrong", "(A) (B) (C)",
        "neither (B)", "Because B is valid", "BC", "Band", "<think>B</think>", "Vitamin B is healthy",
        r"\boxed{B, C}", "B. No wait, C",
        "<answer>B</answer> no, <answer>C</answer>", "Answer: B\nAnswer: A/B/C", "Plan B", "it isn't (B)",
    ],
)  # fmt: skip
def test_what_is_no_choice_of_b_is_not_paid(text: str) -> None:
    assert score(text) == 0.0


def test_letters_in_a_sentence_are_words() -> None:
    assert score("I think so", "I") == 0.0
    assert score("A dog barks", "A") == 0.0
    assert score("a", "A") == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "Paris",
        "paris.",
        "Answer: Paris",
        "B. Paris",
        "(B) Paris",
        "It must be Paris.",
        r"\boxed{\text{Paris}}",
        "B",
    ],
)
def test_an_option_may_be_named_by_its_text(text: str) -> None:
    assert score(text, "B", CITIES) == 1.0
    assert score(text, "Paris", CITIES) == 1.0
    assert score(text, 1, CITIES) == 1.0
    assert score(text, "A", CITIES) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "Paris or Rome",
        "not Paris",
        "B. Rome",
        "A. Paris",
        "Paris, I guess, or maybe Rome",
        "Berlin",
        "Parish",
    ],
)
def test_a_text_that_hedges_or_contradicts_its_label_is_no_choice(text: str) -> None:
    assert score(text, "B", CITIES) == 0.0


def test_the_longer_of_two_options_is_the_one_named() -> None:
    assert score("It is New York.", "C", CITIES) == 1.0
    assert score("It is New York.", "D", CITIES) == 0.0
    assert score("It is York.", "D", CITIES) == 1.0


@pytest.mark.parametrize(
    "options",
    [
        CITIES, {"A": "Rome", "B": "Paris"}, [{"A": "Rome"}, {"B": "Paris"}],
        {"label": ["A", "B"], "text": ["Rome", "Paris"]}, ["A) Rome", "B) Paris"], {"a": "Rome", "b": "Paris"},
    ],
)  # fmt: skip
def test_options_come_in_many_forms(options: Any) -> None:
    assert score("Paris", "B", options) == 1.0
    assert score("B", "Paris", options) == 1.0
    assert score("A", "Paris", options) == 0.0


def test_labels_may_be_numbers() -> None:
    assert score("(2)", "2", {"1": "yes", "2": "no"}) == 1.0
    assert score("Answer: 1", 2, {"1": "yes", "2": "no"}) == 0.0


def test_one_list_of_texts_serves_all_rows() -> None:
    assert multiple_choice(["yes", "B"], answer=["A", "yes"], options=["yes", "no"]) == [1.0, 0.0]


def test_two_options_of_the_same_text_are_known_by_label_alone() -> None:
    assert score("same", "A", ["same", "same"]) == 0.0
    assert score("A", "A", ["same", "same"]) == 1.0


def test_a_right_text_that_is_no_option_is_paid_as_text() -> None:
    assert score("Final answer: both of them", "both of them", CITIES) == 1.0
    assert score("Final answer: Paris", "both of them", CITIES) == 0.0


@pytest.mark.parametrize(
    "answer", [None, "", True, "see above", "A or B", "The options are (A) and (C).", -1, 99, 1.5, []]
)
def test_a_reference_that_names_no_option_is_not_scored(answer: Any) -> None:
    assert score("A", answer) is None


def test_another_form_may_be_given_as_a_pattern() -> None:
    assert score("Antwort: B", answer_pattern=r"Antwort\s*:\s*([A-Z])") == 1.0
    assert score("Antwort: A\nAntwort: B", answer_pattern=r"Antwort\s*:\s*([A-Z])") == 1.0
    with pytest.raises(ValueError, match=r"answer_pattern='\(\[' \(str\) must be a regular expression"):
        score("B", answer_pattern="([")


def test_options_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"options=7 .* must be a column of options, or one list of texts"):
        multiple_choice(["B"], answer=["B"], options=7)


@given(st.sampled_from("ABCD"), st.sampled_from("ABCD"))
def test_a_label_is_paid_exactly_where_it_is_the_references(one: str, other: str) -> None:
    assert score(f"Answer: {one}", other) == float(one == other)


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
    multiple_choice([text] * 2, answer=["B"] * 2, options=[CITIES, None])
    assert time.process_time() - start < 2.0
