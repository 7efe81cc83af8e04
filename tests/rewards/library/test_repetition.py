"""Repeated runs of words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.credits import recording
from rewards.library import repetition_penalty

WORDS = st.lists(st.sampled_from("abcd"), max_size=30)


def cost(text: str, **options: Any) -> float:
    value = repetition_penalty([text], **options)[0]
    assert value is not None
    return value


@pytest.mark.guide("G7")
@pytest.mark.parametrize("text", ["", " \n", "42", "two words", "a b c", "one two three four five"])
def test_short_and_fresh_texts_cost_nothing(text: str) -> None:
    assert str(cost(text)) == "0.0"


@pytest.mark.guide("G7")
def test_a_share_of_different_runs_below_seven_tenths_costs() -> None:
    assert cost("a b a b a b a b") < 0.0
    assert cost("the cat sat the cat sat the cat sat on") < 0.0


@given(WORDS, st.integers(1, 4))
def test_at_full_strictness_the_cost_is_the_share_of_repeated_runs(words: list[str], size: int) -> None:
    runs = [tuple(words[at : at + size]) for at in range(len(words) - size + 1)]
    expected = len(set(runs)) / len(runs) - 1 if runs else 0.0
    assert cost(" ".join(words), ngram_size=size, free_share=1.0) == pytest.approx(expected)


@given(WORDS, st.integers(1, 8))
def test_saying_it_again_never_costs_less(words: list[str], times: int) -> None:
    text = " ".join(words)
    assert cost(" ".join([text] * (times + 1)), free_share=1.0) <= cost(text, free_share=1.0) + 1e-9


def test_scripts_without_spaces_are_read_sign_by_sign_and_case_does_not_matter() -> None:
    assert cost("日本日本日本日本", free_share=1.0) < -0.5
    assert cost("The cat the CAT the cat", ngram_size=2, free_share=1.0) == pytest.approx(-0.6)


def test_tokens_may_be_counted_instead() -> None:
    values = repetition_penalty(["", ""], [[1, 2, 3, 1, 2, 3], [1]], free_share=1.0, counted="tokens")
    assert values == [-0.25, 0.0]


@pytest.mark.parametrize(
    "options", [{"ngram_size": 0}, {"free_share": 0}, {"free_share": 1.1}, {"counted": "x"}]
)
def test_wrong_parameters_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="reward 'repetition_penalty': "):
        repetition_penalty(["x"], **options)


@pytest.mark.parametrize(
    "text",
    ["abc" * 1000, "ha" * 300, "." * 500, "HaHa" * 200, "so it is: " + "!" * 400, "日本" * 100, "0123456789" * 40,
     "a fresh beginning of some words, and then " + "lalala" * 60],
)  # fmt: skip
def test_repeating_without_spaces_costs(text: str) -> None:
    assert cost(text) < -0.2


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n" + " " * 200 + "return x",
        "-" * 100, "=" * 80 + "\nTitle\n" + "=" * 80, "1" + "0" * 100, str(7**900),
        "| a | b |\n|" + "-" * 50 + "|" + "-" * 50 + "|\n| 1 | 2 |", "aaah" * 20, "x" * 119, "0x" + "deadbeef" * 8,
        "The quick brown fox jumps over the lazy dog near the river bank today.\n" * 1 + "#" * 100,
    ],
)  # fmt: skip
def test_rules_tables_code_and_long_numbers_cost_nothing(text: str) -> None:
    assert cost(text) == 0.0


@given(st.text("abc", min_size=1, max_size=30), st.integers(10, 60))
def test_more_of_a_stretch_never_costs_less(unit: str, times: int) -> None:
    assert cost(unit * (times + 5)) <= cost(unit * times) + 1e-9


def test_the_credit_names_what_repeats() -> None:
    with recording(2) as record:
        repetition_penalty(["ha" * 300, "no " * 300])
    names = [credit.name for credit in record.credits]
    assert names == ["repeated runs of characters", "repeated runs of words"]
