"""Connectives, steps, citations, unwanted phrases."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.credits import recording
from rewards.library import citations, connectives, forbidden_phrases, reasoning_steps

REASONED = (
    "First we add the two numbers. Because both are odd, the sum is even. Therefore it is not prime at all."
)


def joined(text: str, **options: Any) -> float | None:
    return connectives([text], **options)[0]


def cited(text: str, **options: Any) -> float | None:
    return citations([text], **options)[0]


def stepped(text: str, **options: Any) -> float | None:
    return reasoning_steps([text], **options)[0]


def forbidden(text: str, **options: Any) -> float | None:
    return forbidden_phrases([text], **options)[0]


@pytest.mark.guide("G7")
def test_each_connective_is_a_share_up_to_six_of_them() -> None:
    assert joined(REASONED) == 0.5
    assert joined(REASONED, enough_connectives=3) == joined(REASONED, enough_connectives=2) == 1.0


@pytest.mark.guide("G7")
def test_a_connective_inside_another_word_is_none() -> None:
    assert joined("A firsthand account of the nexthop, sincerely yours, forever and everywhere.") == 0.0


def test_a_heap_of_connectives_connects_nothing() -> None:
    heap = "therefore thus because since consequently first second next finally however"
    assert joined(heap) == 0.0
    assert joined(f"<reasoning>{heap}</reasoning><answer>seven words are not in the block</answer>") == 0.0


@given(st.integers(1, 8))
def test_repeating_the_reasoning_never_pays(times: int) -> None:
    assert joined(" ".join([REASONED] * times)) == joined(REASONED)


def test_only_the_reasoning_counts_where_it_is_marked() -> None:
    assert joined("<think>we add them up now</think>Therefore the answer is seven here.") == 0.0
    assert joined("it is so because we add them up</think>Therefore the answer is seven.") == pytest.approx(
        1 / 6
    )


def test_other_connectives_may_be_named_and_each_is_a_credit_with_its_place() -> None:
    with recording(1) as record:
        score = joined("It is late, daher gehen wir jetzt.", connective_words=["daher"], enough_connectives=1)
    assert score == 1.0
    assert record.by_row()[0][0]["spans"] == [[12, 17]]


# --------------------------------------------------------------------------------------------- steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("1. add\n2. halve\n3. answer", 3),
        ("Step 1: add\n**Step 2:** halve\nstep 3. answer", 3),
        ("- add\n* halve\n• answer", 3),
        ("First we add. Then we halve. Finally we answer.", 3),
        ("First, First, First,", 0),
        ("1. add\n2. add\n3. ADD!", 1),
        ("1.\n2.\n3.", 0),
        ("1.5 is the sum\n-3 is less", 0),
        ("Just plain text.", 0),
        ("", 0),
    ],
)
def test_a_step_says_something_and_once(text: str, steps: int) -> None:
    assert stepped(text) == pytest.approx(steps / 3)


@given(st.integers(1, 8))
def test_repeating_steps_never_pays(times: int) -> None:
    assert stepped("1. add\n2. halve\n" * times) == pytest.approx(2 / 3)


# ----------------------------------------------------------------------------------------- citations


@pytest.mark.guide("G7")
@pytest.mark.parametrize(
    "text",
    [
        "According to the survey, most agree.",
        "Most agree, according to Smith.",
        "Most people agree [12].",
        "Most people agree [1, 3-5].",
        "Most people agree (Smith et al., 2020).",
        "As stated in the manual, turn it off.",
        "Most people agree [source: survey].",
    ],
)
def test_a_citation_is_paid_with_any_capital(text: str) -> None:
    assert cited(text) == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "", "[1]", "[1][2][3]", "(Smith, 2020)", "Most people agree.", "It is (see 2020) so.", "According to",
        "Take this:\n```py\nrow[1] = a[2] + 3\n```", "Most people agree [name].",
    ],
)  # fmt: skip
def test_a_mark_without_a_text_and_other_brackets_are_not(text: str) -> None:
    assert cited(text) == 0.0


def test_the_same_citation_again_is_no_other() -> None:
    assert cited("Most people agree [1]. Some do not [1] [1].", enough_citations=2) == 0.5
    assert cited("Most people agree [1]. Some do not [2].", enough_citations=2) == 1.0


# ------------------------------------------------------------------------------------------- phrases


def test_unwanted_phrases_cost_as_whole_words_in_any_case_and_spacing() -> None:
    assert forbidden("as an AI\nlanguage  model I will not") == -1.0
    assert forbidden("He came as an aide.") == 0.0
    assert forbidden("of course", unwanted_phrases=["Of Course"]) == -1.0
    assert str(forbidden("")) == "0.0"


def test_some_occurrences_may_be_tolerated() -> None:
    assert [forbidden("so " * times, unwanted_phrases=["so"], tolerated=2) for times in (2, 3)] == [0.0, -1.0]


@pytest.mark.parametrize(
    ("member", "options"),
    [
        (connectives, {"enough_connectives": 0}),
        (connectives, {"connective_words": []}),
        (reasoning_steps, {"enough_steps": 2.5}),
        (citations, {"enough_citations": [1, 2]}),
        (forbidden_phrases, {"unwanted_phrases": "text"}),
        (forbidden_phrases, {"unwanted_phrases": [" "]}),
        (forbidden_phrases, {"tolerated": -1}),
    ],
)
def test_wrong_parameters_are_refused(member: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"reward '{member.__name__}': {next(iter(options))}="):
        member(["x"], **options)
