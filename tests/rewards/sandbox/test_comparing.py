"""What counts as equal, and that comparing stays quick whatever a program answers."""

# ruff: noqa: E501  # tables

from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.sandbox.comparing import matches, same_output, shown
from rewards.sandbox.inside.values import encode

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.integers() | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
keys = (
    st.integers()
    | st.text(max_size=3)
    | st.tuples(st.integers(), st.booleans())
    | st.frozensets(st.integers(), max_size=2)
)


def crossed(value: Any) -> Any:
    """A value as it arrives."""
    return json.loads(json.dumps(encode(value), allow_nan=False))


@given(plain)
def test_a_value_matches_itself(value: Any) -> None:
    assert matches(value, crossed(value))


@given(st.sets(keys, max_size=6), st.sets(keys, max_size=6))
def test_sets_match_as_python_has_it(one: set[Any], other: set[Any]) -> None:
    assert matches(one, crossed(other)) == (one == other)
    assert matches(one, crossed(one))


@given(st.dictionaries(keys, plain, max_size=4), st.dictionaries(keys, plain, max_size=4))
def test_dictionaries_match_as_python_has_it(one: dict[Any, Any], other: dict[Any, Any]) -> None:
    assert matches(one, crossed(one))
    if not matches(one, crossed(other)):
        assert one != other


@given(st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans(), st.text(max_size=2)), plain)
def test_single_values_match_as_python_has_it(one: Any, other: Any) -> None:
    assert matches(one, crossed(other)) == (one == other)


@pytest.mark.parametrize(
    ("expected", "answer", "equal"),
    [
        ([1, 2], (1, 2), True),
        ((1, 2), [1, 2], True),
        ([1, 2], {1, 2}, False),
        ({1, 2}, frozenset({1, 2}), True),
        ([], set(), False),
        (set(), set(), True),
        (1, True, True),
        (1, 1.0, True),
        (1, "1", False),
        ("a", b"a", False),
        (math.nan, math.nan, True),
        ({1.0: 2}, {1: 2.0}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([[1], [2]], [[1], [2], [3]], False),
        (None, 0, False),
    ],
)
def test_forms_of_values(expected: Any, answer: Any, equal: bool) -> None:
    assert matches(expected, crossed(answer)) is equal


@pytest.mark.parametrize(
    ("expected", "answer", "tolerance", "equal"),
    [
        (1.0, 1.0009, 1e-3, True),
        (1.0, 1.1, 1e-3, False),
        (1000.0, 1000.5, 1e-3, True),
        (0.0, 1e-4, 1e-3, True),
        (3, 4, 0.5, False),
        (3, 3.2, 0.1, True),
        ({0.5, 1.5}, {0.5001, 1.5001}, 1e-3, True),
        ({0.5, 0.5001}, {0.5, 0.7}, 1e-3, False),
        ({"a": [0.5]}, {"a": [0.5001]}, 1e-3, True),
        (math.inf, math.inf, 1e-3, True),
        (math.inf, 1e308, 1e-3, False),
        (10**400, 1.0, 1e-3, False),
    ],
)
def test_numbers_with_a_tolerance(expected: Any, answer: Any, tolerance: float, equal: bool) -> None:
    assert matches(expected, crossed(answer), tolerance) is equal


@pytest.mark.parametrize(
    "answer",
    [
        {"h": ["o", 0, "Equal", "object"]}, {"s": 1}, {"d": [[1]]}, {"d": [1]}, {"i": "zz"}, {"f": 1}, {"t": None}, {"?": 1},
        {"s": [], "t": []}, {}, {"b": 1}, {"r": [1]}, {"F": [1, 0]}, {"T": ["date", "x"]}, {"D": "x"}, {"e": ["x"]},
        {"s": [[1], [2]]}, {"d": [[{"d": []}, 1]]},
    ],
)  # fmt: skip
def test_what_is_no_value_equals_nothing(answer: Any) -> None:
    for expected in (0, "", None, [], set(), {}, (), {1, 2}, {1: 2}, b"", 1.0):
        assert not matches(expected, answer)


def test_keys_that_collide_do_not_keep_the_judge() -> None:
    colliding = [{"i": hex(k * ((1 << 61) - 1))} for k in range(1, 100_001)]
    started = time.process_time()
    assert not matches({1, 2, 3}, {"s": colliding})
    assert not matches({1: 2}, {"d": [[key, 0] for key in colliding]})
    assert not matches(set(range(100_000)), {"s": colliding})
    assert time.process_time() - started < 2.0


def test_a_value_nested_for_ever_equals_nothing() -> None:
    answer: Any = []
    for _ in range(500):
        answer = [answer]
    assert not matches([[]], answer)
    assert shown(answer) == "nothing that can be read"


@pytest.mark.parametrize(
    ("wanted", "got", "equal"),
    [
        ("1\n2\n", "1\n2", True),
        ("1 2", "1 2  \r\n\r\n", True),
        ("1\n2", "1 2", False),
        ("1  2", "1 2", False),
        ("YES", "Yes", False),
        ("", "\n\n", True),
        ("", "0", False),
        ("1", "1.0", False),
    ],
)
def test_forms_of_output(wanted: str, got: str, equal: bool) -> None:
    assert same_output(wanted, got) is equal


def test_printed_numbers_that_are_not_finite_are_not_near() -> None:
    assert same_output("0.5 x", "0.50000001 x", tolerance=1e-6)
    assert not same_output("0.5", "nan", tolerance=1e-6)
    assert not same_output("1e400", "inf1", tolerance=1e-6)


def test_answers_are_shown_short() -> None:
    assert shown({"t": [1, {"s": []}]}) == "(1, set())"
    assert len(shown("x" * 500)) == 80
