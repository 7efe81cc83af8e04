"""Finding the answer: which of several counts, and where it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library.extraction import FORMS, after_thinking, find_answer, last_block, last_boxed

PIECES = [
    "<answer>", "</answer>", "<think>", "</think>", r"\boxed{", "}", "{", "#### ", "\n", "Answer: ", "A: ",
    "the answer is ", "7", " 8.", "\\", "\r\n", "\u2028",
]  # fmt: skip
scrambled = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=25).map("".join)


def text_of(text: str, forms: tuple[str, ...] = FORMS) -> str | None:
    found = find_answer(text, forms=forms)
    return None if found is None else found.text


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<answer>5</answer> no, <answer>7</answer>", "7"),
        ("<answer>\n7\n</answer>\n", "7"),
        (r"First \boxed{5}. Correcting: \boxed{7}.", "7"),
        (r"<answer>\boxed{7}</answer>", "7"),
        (r"$\boxed{\frac{1}{2}}$", r"\frac{1}{2}"),
        ("16 - 3 = 13\n#### 13", "13"),
        ("She sells 9.\nA: 26", "26"),
        ("**Answer:** 7", "7"),
        ("Final answer: 7\n\n", "7"),
        ("The answer is:\n7", "7"),
        ("Answer: <answer>7</answer>", "7"),
        ("<answer>5</answer> Sorry, the answer is 7", "7"),
        ("A: 5\nA: 7", "7"),
        ("Paris", "Paris"),
    ],
)
def test_the_last_answer_counts_in_every_form(text: str, answer: str) -> None:
    assert text_of(text) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think><answer>5</answer></think>7", "7"),
        ("<think>5</think><think>6</think><answer>7</answer>", "7"),
        ("5</think>7", "7"),
        ("7<think>but then 8", "7"),
        ("<think>the answer is 7", ""),
    ],
)
def test_thinking_is_no_answer(text: str, answer: str) -> None:
    assert text_of(text) == answer


@pytest.mark.parametrize("form", ["<answer>5</answer> <answer>7", r"\boxed{5} \boxed{7", "A: 5\n<answer>7"])
def test_an_answer_begun_and_not_closed_takes_the_earlier_one_back(form: str) -> None:
    assert text_of(form, ("tag", "boxed", "line")) is None


def test_a_box_inside_an_unclosed_tag_counts() -> None:
    assert text_of(r"</think> <answer> \boxed{18}") == "18"


def test_four_hashes_that_do_not_end_the_text_are_a_heading() -> None:
    assert text_of("#### Step 1\n3 + 4\nA: 7") == "7"
    assert text_of("#### Step 1\n3 + 4", ("hash",)) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [("It fell to -3", "-3"), ("The total is 72 clips, altogether.", "72"), ("15, plus tax", "15"),
     ("1,200 in total", "1,200"), ("between 5-7", "7"), ("costs $2.50.", "2.50"), ("no digits", None)],
)  # fmt: skip
def test_the_last_number_of_the_text_counts_where_that_is_asked_for(text: str, number: str | None) -> None:
    assert text_of(text, ("line", "number")) == number


def test_forms_that_are_not_allowed_are_not_seen() -> None:
    assert text_of("A: 7\n#### 8", ("line",)) == "7"
    assert text_of("7", ("tag", "boxed")) is None


def test_the_answer_tag_may_have_another_name() -> None:
    found = find_answer("<solution>7</solution><answer>8</answer>", tag="solution", forms=["tag"])
    assert found is not None
    assert found.text == "7"


def test_a_second_closing_tag_does_not_reach_into_the_answer() -> None:
    assert text_of("<answer>7</answer></answer>") == "7"


def test_escaped_braces_do_not_end_a_box() -> None:
    assert text_of(r"\boxed{\{1, 2\}}") == r"\{1, 2\}"


@given(scrambled)
def test_spans_are_the_places_of_the_text_found(text: str) -> None:
    found = [after_thinking(text), last_block(text), last_boxed(text), find_answer(text)]
    for one in found:
        if one is not None:
            assert text[one.start : one.end] == one.text
            assert one.text == one.text.strip()


@given(scrambled, st.text(" \n\t", max_size=5))
def test_white_space_after_the_text_changes_nothing(text: str, space: str) -> None:
    assert text_of(text + space) == text_of(text)


@given(scrambled, st.integers(0, 99).map(str))
def test_an_answer_appended_in_a_closed_tag_is_the_one_found(text: str, answer: str) -> None:
    ended = text + "</think>" + f"\n<answer>{answer}</answer>"
    assert text_of(ended) == answer


@pytest.mark.parametrize(
    "text", ["A: 12", "  A: 12 ", "\n\n A: 12", "<think>so</think>  A: 12", "<think></think>A: 12"]
)
def test_an_answer_line_may_be_the_first_after_white_space_or_thinking(text: str) -> None:
    found = find_answer(text)
    assert found is not None
    assert (found.text, found.form) == ("12", "line")


@pytest.mark.parametrize(
    ("text", "answer"),
    [("Answer: >18", ">18"), ("Answer: >= 18", ">= 18"), ("Answer => 18", "18"), ("Answer: **=>** 18", "18"),
     ("Answer:\n> 18", "18"), ("Answer:\n\n > > 18", "18"), ("> A: 18", "18")],
)  # fmt: skip
def test_greater_than_is_part_of_an_answer_but_where_it_quotes_a_line(text: str, answer: str) -> None:
    assert text_of(text) == answer
