"""Length rewards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library import ideal_length, max_length, min_length, soft_overlong

BOUNDS: list[tuple[Callable[..., Any], str]] = [
    (ideal_length, "target_length"),
    (min_length, "shortest"),
    (max_length, "longest"),
]


def words(count: int) -> str:
    return " ".join(["word"] * count)


@given(st.integers(1, 200), st.integers(0, 500))
def test_ideal_length_falls_in_a_straight_line(target: int, count: int) -> None:
    expected = max(0.0, 1 - abs(count - target) / target)
    assert ideal_length([words(count)], target_length=target) == [pytest.approx(expected)]


@given(st.integers(1, 50), st.integers(0, 200))
def test_min_length_is_paid_in_full_from_the_minimum_on(shortest: int, count: int) -> None:
    value = min_length([words(count)], shortest=shortest)[0]
    assert (value == 1.0) == (count >= shortest)


@given(st.integers(1, 50), st.integers(0, 200))
def test_max_length_costs_nothing_up_to_the_maximum_and_never_more_than_one(longest: int, count: int) -> None:
    value = max_length([words(count)], longest=longest)[0]
    assert (value == 0.0) == (count <= longest)
    assert value >= -1.0


def test_an_empty_completion_is_no_ideal() -> None:
    assert ideal_length(["", " \n"]) == [0.0, 0.0]
    assert min_length([""]) == [0.0]
    assert str(max_length([""])[0]) == "0.0"


def test_characters_may_be_counted_for_scripts_without_spaces() -> None:
    assert ideal_length(["日本語"], target_length=3, length_unit="characters") == [1.0]


@pytest.mark.parametrize(("function", "bound"), BOUNDS)
@pytest.mark.parametrize("bad", [0, -1, 1.5, "7", None, True, [100, 100]])
def test_a_bound_that_is_none_is_refused_with_its_value(function: Any, bound: str, bad: Any) -> None:
    with pytest.raises(ValueError, match=rf"reward '{function.__name__}': {bound}=.* must be a whole number"):
        function(["x"], **{bound: bad})


@pytest.mark.parametrize(("function", "bound"), BOUNDS)
def test_an_unknown_unit_is_refused_with_the_known_ones(function: Any, bound: str) -> None:
    with pytest.raises(ValueError, match=r"length_unit='tokens' \(str\) must be one of words, characters"):
        function(["x"], length_unit="tokens")


@given(st.integers(0, 300), st.integers(1, 100))
def test_soft_overlong_is_free_up_to_the_zone_and_bounded_beyond_the_limit(tokens: int, zone: int) -> None:
    (value,) = soft_overlong(["x"], [[0] * tokens], max_tokens=100, soft_zone=zone)
    assert value == pytest.approx(-min(1.0, max(0.0, (tokens - (100 - zone)) / zone)))


def test_soft_overlong_counts_the_tokens_and_not_the_words() -> None:
    assert soft_overlong(["word " * 900, ""], [[1], [1] * 512]) == [0.0, -1.0]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"max_tokens": 0}, "max_tokens=0"),
        ({"soft_zone": 0}, "soft_zone=0"),
        ({"max_tokens": 5, "soft_zone": 6}, "soft_zone=6 must be at most max_tokens=5"),
    ],
)
def test_soft_overlong_refuses_a_zone_that_does_not_fit(options: dict[str, int], why: str) -> None:
    with pytest.raises(ValueError, match=f"reward 'soft_overlong': {why}"):
        soft_overlong(["x"], [[]], **options)
