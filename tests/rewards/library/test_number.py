"""One number, and when two are the same."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rewards.library.maths_terms import END, Terms, Unread, plain_maths, tokens
from rewards.library.maths_values import exact
from rewards.library.number import read_number, same_value, without_exclamation


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


@pytest.mark.parametrize(
    ("text", "value"),
    [("10^6", "1000000"), ("2^4", "16"), ("2**4", "16"), ("10^{-3}", "1/1000"),
     ("-2^3", "-8"), ("5²", "25"), ("5!", "120"),
     ("5!.", "120"), (r"10^{6}\text{ m}", "1000000"), ("0!", "1"), ("7 apples!", "7"),
     ("$7$!", "7"), ("**7**!", "7")],
)  # fmt: skip
def test_a_power_or_factorial_is_its_value_and_an_exclamation_none(text: str, value: str) -> None:
    number = read_number(text)
    assert number is not None
    assert number.value == Fraction(value)


@pytest.mark.parametrize(
    "text",
    ["1000-", "1000/", "1000·", "1000-x", "1000/n", "5!!", "5!-3", "1/2^2", "2^3^2", "2^3!",
     "5.5!", "0^{-1}", "2^{12345}",
     "9999^{9999}", "2000!", "1 0000", "01 000", "1 00", "1,000 000", "1 000/3", "2^", "2^{}", "(5)!"],
)  # fmt: skip
def test_what_only_begins_with_a_number_is_none(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize(
    ("text", "unit"),
    [("$5/hour", "/hour"), ("5-foot", "foot"), ("5/hour", "/hour"), ("5 m^2", "m^2"),
     ("5 m s^{-1}", "m s^-1"), ("5° C", "° c"),
     ("5 €", "euro")],
)  # fmt: skip
def test_a_unit_begins_with_a_letter_or_a_sign_of_its_own(text: str, unit: str) -> None:
    number = read_number(text)
    assert number is not None
    assert number.unit == unit


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u202f", "\u2009", r"\,", "~"])
def test_thousands_may_stand_apart(space: str) -> None:
    number = read_number(f"-1{space}234{space}567.5 m")
    assert number is not None
    assert (number.value, number.unit) == (Fraction("-1234567.5"), "m")


PIECES = [
    "0",
    "1",
    "2",
    "10",
    "000",
    "34",
    ".",
    ",",
    "-",
    "+",
    "^",
    "^{",
    "}",
    "{",
    "!",
    "²",
    "**",
    "/",
    " ",
    "e",
    r"\frac",
    "(",
]


@settings(max_examples=400)
@given(st.lists(st.sampled_from([*PIECES, ")", r"\times 10^", "$", "%"]), max_size=8).map("".join))
@example("2^3!")
@example("10 !")
@example("-2^2")
def test_where_a_number_and_a_term_are_read_they_are_worth_the_same(text: str) -> None:
    number = read_number(text)
    terms = Terms(tokens(plain_maths(without_exclamation(text))))
    try:
        term = terms.term()
    except (Unread, ZeroDivisionError):
        return
    value = exact(term)
    if number is None or number.unit or number.percent or terms.next is not END or value is None:
        return
    assert number.value == value
