"""The pattern reward."""

from __future__ import annotations

from typing import Any

import pytest

from rewards.credits import recording
from rewards.library import pattern_format


def test_only_the_completion_is_searched() -> None:
    scores = pattern_format(["5"], prompts=[r"Put it in \boxed{}."], pattern=r"\\boxed\{.*\}")
    assert scores == [0.0]


def test_the_whole_text_has_to_match_where_that_is_asked_for_white_space_around_apart() -> None:
    texts = ["\n[A]1[/A]\n", "so [A]1[/A]", "[A]1[/A]!"]
    assert pattern_format(texts, pattern=r"\[A\].+\[/A\]", whole_text=True) == [1.0, 0.0, 0.0]


def test_more_matches_than_asked_for_pay_no_more() -> None:
    texts = ["- a\n" * times for times in range(5)]
    partial = pattern_format(texts, pattern="(?m)^- ", least_matches=3, partial=True)
    assert partial == [0.0, pytest.approx(1 / 3), pytest.approx(2 / 3), 1.0, 1.0]
    assert pattern_format(texts, pattern="(?m)^- ", least_matches=3) == [0.0, 0.0, 0.0, 1.0, 1.0]


def test_the_credit_names_the_pattern_and_the_whole_match() -> None:
    with recording(1) as record:
        pattern_format(["room 101!"], pattern=r"\d+")
    (credit,) = record.by_row()[0]
    assert (credit["name"], credit["spans"]) == (r"matches \d+", [[5, 8]])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "pattern='' .str. must be a regular expression"),
        ({"pattern": "a*"}, "does not match the empty text"),
        ({"pattern": "("}, "cannot be read"),
        ({"pattern": r"(a)\1"}, "a back-reference cannot be matched in linear time"),
        ({"pattern": ["a", "b"]}, "if the data have a column of that name, rename it"),
        ({"pattern": "a", "least_matches": 0}, "least_matches=0"),
        ({"pattern": "a", "whole_text": "yes"}, "must be true or false"),
    ],
)
def test_wrong_parameters_are_refused_with_their_value(options: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=f"reward 'pattern_format': .*{why}"):
        pattern_format(["x"], **options)
