"""Numeric answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library import numeric
from rewards.library.numeric import read_number


def score(completion: Any, answer: Any, **options: Any) -> float | None:
    return numeric([completion], answer=[answer], **options)[0]


@pytest.mark.parametrize(
    "form",
    [
        "1234.5", "1,234.5", "1234.50", "+1234.5", "$1,234.5", "1,234.5 dollars", "1234.5 km", "1.2345e3",
        "1.2345E+3", r"1.2345 \times 10^3", "1.2345×10^{3}", "2469/2", r"\frac{2469}{2}", r"\dfrac{2469}{2}",
        "1234 1/2", r"1234\frac{1}{2}", r"1{,}234.5", r"1\,234.5".replace(r"\,", ""), "$1234.5$", r"\(1234.5\)",
        r"\text{1234.5}", "**1234.5**", "x = 1234.5", "≈ 1234.5", "1234.5.", "1234.5 m^2", "€1,234.50",
    ],
)  # fmt: skip
def test_equal_forms_are_paid_equally(form: str) -> None:
    assert score(f"<answer>{form}</answer>", "1234.5") == 1.0
    assert score("<answer>1234.5</answer>", form) == 1.0


@pytest.mark.parametrize(
    "near", ["1234", "1235.5", "-1234.5", "12345", "123.45", "11234.5", "1234.5 or 7", "1234.5, 7"]
)
def test_near_misses_are_not_paid(near: str) -> None:
    assert score(f"<answer>{near}</answer>", "1234.5") == 0.0


@pytest.mark.parametrize("minus", ["-7", "\u22127", "\u20137", "-$7", "$-7"])
def test_a_minus_may_be_typographic_and_never_vanishes(minus: str) -> None:
    assert score(f"<answer>{minus}</answer>", "-7") == 1.0
    assert score(f"<answer>{minus}</answer>", "7") == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "seven",
        "7 8",
        "7 or 8",
        "7, 8",
        "not 7",
        "7 not 8",
        "1/0",
        "1,23",
        "--7",
        "nan",
        "inf",
        "1e9999",
        "7 + 1",
    ],
)
def test_what_is_not_one_number_is_none(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.guide("G7")
def test_within_one_per_cent_is_paid_where_that_is_asked_for() -> None:
    assert score("<answer>99</answer>", "100", relative_tolerance=0.01) == 1.0
    assert score("<answer>98.9</answer>", "100", relative_tolerance=0.01) == 0.0
    assert score("<answer>99</answer>", "100") == 0.0


def test_a_reference_of_zero_has_its_absolute_tolerance() -> None:
    assert score("<answer>0.0001</answer>", 0, relative_tolerance=0.01) == 0.0
    assert score("<answer>0.0001</answer>", 0, absolute_tolerance=0.001) == 1.0
    assert score("<answer>0.0</answer>", 0) == 1.0


@pytest.mark.parametrize(
    "answer", [None, "", "see the figure", "1331 and 1728", "nan", float("nan"), float("inf"), True, [7]]
)
def test_without_a_number_as_reference_nothing_is_scored(answer: Any) -> None:
    assert score("<answer>7</answer>", answer) is None
    assert score("", answer) is None


def test_units_count_where_both_sides_write_one() -> None:
    assert score("<answer>5 cm</answer>", "5 m") == 0.0
    assert score("<answer>5 apples</answer>", "5 apple") == 1.0
    assert score("<answer>5</answer>", "5 m") == 1.0
    assert score("<answer>50%</answer>", "50") == 1.0
    assert score("<answer>50%</answer>", "0.5") == 0.0


def test_a_sentence_may_go_on_after_the_answer_but_not_with_other_numbers() -> None:
    assert score("So the answer is 7. That was easy!", 7) == 1.0
    assert score("The answer is 7. 8. 9.", 7) == 0.0
    assert score("The answer is 7 or 8", 7) == 0.0
    assert score("The answer is not 7", 7) == 0.0


@pytest.mark.parametrize(
    "many", [" ".join(map(str, range(1000))), "<answer>" + ", ".join(map(str, range(99))) + "</answer>"]
)
def test_all_candidates_at_once_are_not_paid(many: str) -> None:
    assert score(many, 7) == 0.0


def test_large_numbers_are_compared_exactly() -> None:
    assert score(f"<answer>{10**30 + 1}</answer>", str(10**30), relative_tolerance=0) == 0.0
    assert score(f"<answer>{10**30 + 1}</answer>", str(10**30 + 1), relative_tolerance=0) == 1.0


@pytest.mark.parametrize("bad", [-1, "0.1", None, float("nan"), True, [0.1]])
def test_a_tolerance_that_is_none_is_refused_with_its_value(bad: Any) -> None:
    with pytest.raises(
        ValueError, match=r"reward 'numeric': relative_tolerance=.* must be a number of at least 0"
    ):
        score("7", 7, relative_tolerance=bad)


@pytest.mark.parametrize(
    ("text", "answer", "right"),
    [("0.333333", "1/3", 1.0), ("0.33333", "1/3", 0.0), ("0.333334", "1/3", 0.0), ("0.30000000000000004", "0.3", 1.0),
     ("1000001", "1000000", 0.0), ("3.14159265", "3.14159", 1.0), ("3.14159", "3.1415", 0.0),
     ("16386.169", "16386.16", 0.0)],
)  # fmt: skip
def test_only_a_decimal_of_six_digits_may_be_a_rounding(text: str, answer: str, right: float) -> None:
    assert score(text, answer) == right


def test_units_may_be_required_or_ignored() -> None:
    assert score("5", "5 m", unit_rule="required") == 0.0
    assert score("5 metres", "5 m", unit_rule="required") == 1.0
    assert score("5 feet", "5 m", unit_rule="ignored") == 1.0
    assert score("$5", "5 euros") == 0.0
    assert score("5 USD", "$5") == 1.0


@pytest.mark.parametrize(
    ("rule", "scores"), [("number", [1.0, 0.0]), ("fraction", [0.0, 1.0]), ("either", [1.0, 1.0])]
)
def test_a_percent_sign_means_what_is_declared(rule: str, scores: list[float]) -> None:
    assert numeric(["50%", "50 percent"], answer=[50, 0.5], percent_rule=rule) == scores
    assert numeric(["50", "0.5"], answer=["50%", "50%"], percent_rule=rule) == scores
    assert score("50%", "50%", percent_rule=rule) == 1.0


def test_numbers_may_have_a_decimal_comma() -> None:
    assert score("1.234,5", "1234,5", decimal_comma=True) == 1.0
    assert score("2,74 €", 2.74, decimal_comma=True) == 1.0
    assert score("Total: 2,74 euros altogether", 2.74, decimal_comma=True, answer_forms=["number"]) == 1.0
    assert score("1,234", "1.234", decimal_comma=True) == 0.0
    assert score("2,74", "2.74") == 0.0


@pytest.mark.parametrize("name", ["unit_rule", "percent_rule"])
def test_an_unknown_rule_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"reward 'numeric': {name}='strict' \(str\) must be one of"):
        score("7", "7", **{name: "strict"})


@given(st.fractions(max_denominator=1000))
def test_every_fraction_is_read_as_it_is_written(value: Fraction) -> None:
    number = read_number(f"{value.numerator}/{value.denominator}")
    assert number is not None
    assert number.value == value


@given(st.integers(-(10**12), 10**12))
def test_thousands_separators_change_nothing(value: int) -> None:
    assert score(f"<answer>{value:,}</answer>", value) == 1.0


@given(st.integers(-1000, 1000), st.integers(-1000, 1000))
def test_whole_numbers_are_paid_exactly_where_they_are_equal(one: int, other: int) -> None:
    assert score(f"<answer>{one}</answer>", other) == float(one == other)


@given(
    st.integers(-(10**6), 10**6),
    st.fractions(0, Fraction(1, 2), max_denominator=64),
    st.fractions(max_denominator=64),
)
def test_the_tolerance_is_kept_exactly(wanted: int, tolerance: Fraction, off: Fraction) -> None:
    got = wanted + off
    near = abs(off) <= tolerance * abs(wanted)
    text = f"<answer>{got.numerator}/{got.denominator}</answer>"
    assert score(text, wanted, relative_tolerance=float(tolerance)) == float(near)
