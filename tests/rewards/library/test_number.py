"""One number, and when two are the same."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library.number import read_number, same_value


@pytest.mark.parametrize(
    ("text", "unit", "percent"),
    [("5 metres", "m", False), ("5 m", "m", False), ("5 feet", "foot", False), ("$5", "dollar", False),
     ("5 USD", "dollar", False),
     ("5%", "", True), (r"5\%", "", True), ("5 percent", "", True), (r"90^\circ", "°", False),
     ("90 degrees", "°", False), ("5", "", False)],
)  # fmt: skip
def test_units_of_one_meaning_have_one_name(text: str, unit: str, percent: bool) -> None:
    number = read_number(text)
    assert number is not None
    assert (number.unit, number.percent) == (unit, percent)


@pytest.mark.parametrize(
    ("text", "digits"), [("7", 0), ("1,234", 0), ("3/4", 0), ("0.50", 2), ("1.70e4", 3), ("0.000123456", 6)]
)
def test_significant_digits_are_those_of_decimals(text: str, digits: int) -> None:
    number = read_number(text)
    assert number is not None
    assert number.digits == digits


def test_a_leading_zero_makes_no_thousands() -> None:
    assert read_number("0,111") is None
    assert read_number("0,111", decimal_comma=True) == read_number("0.111")


@given(st.fractions(), st.integers(0, 20), st.fractions(), st.integers(0, 20))
def test_sameness_is_mutual(one: Fraction, one_digits: int, other: Fraction, other_digits: int) -> None:
    assert same_value(one, other, one_digits, other_digits) == same_value(
        other, one, other_digits, one_digits
    )
    assert same_value(one, one, one_digits, other_digits)


@given(st.integers(1, 10**8), st.integers(6, 12))
def test_a_rounding_to_six_digits_or_more_is_the_number(numerator: int, digits: int) -> None:
    value = Fraction(numerator, 7 * 11 * 13)
    written = read_number(f"{float(value):.{digits - 1}e}")
    assert written is not None
    assert same_value(written.value, value, written.digits, 0) or written.digits < 6
