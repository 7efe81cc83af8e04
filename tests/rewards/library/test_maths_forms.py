"""Mathematical answers in wrappers, with units, as ratios, as sets by name: paid, and their neighbours not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library import maths_equal, numeric
from rewards.library.extraction import find_answer, joined_boxes
from rewards.library.maths import read_reference
from rewards.library.maths_terms import plain_maths
from rewards.library.maths_units import unit_powers, unit_term


def score(completion: str, answer: str) -> float | None:
    return maths_equal([completion], answer=[answer])[0]


RIGHT = [
    ("5", r"\boxed 5"), ("5", r"So it is \boxed 5."), ("5", r"\boxed {5}"), ("5", r"\boxed{\color{red}5}"),
    ("5", r"\boxed{\color{red}{5}}"), ("5", r"\boxed{\color{red} 5}"), ("5", r"\boxed{\textcolor{red}{5}}"),
    ("5", r"\boxed{\underline{5}}"), ("5", r"\boxed{5 \tag{1}}"),
    ("5 m/s", r"\boxed{5\,\frac{\text{m}}{\text{s}}}"), ("5 m/s", r"\boxed{5 \text{ m s}^{-1}}"),
    ("5 m/s", r"\boxed{5\ \mathrm{m/s}}"), ("5 m/s", r"\boxed{5\ \mathrm{m}\cdot\mathrm{s}^{-1}}"),
    (r"5\text{ m/s}", r"\boxed{5 m/s}"), (r"5\text{ m/s}", r"\boxed{5\,\mathrm{\frac{m}{s}}}"),
    ("5", r"\boxed{5\,\frac{\text{m}}{\text{s}}}"),
    (r"5\text{ m/s}^2", r"\boxed{5\,\frac{\text{m}}{\text{s}^2}}"), ("60 km/h", r"\boxed{60\text{ km/h}}"),
    ("3:4", r"\boxed{3/4}"), ("3:4", r"\boxed{6:8}"), ("3:4", r"\boxed{0.75}"),
    (r"\frac{2}{5}", r"\boxed{2:5}"), ("12:30", r"\boxed{12:30}"), ("12:30", r"\boxed{12{:}30}"),
    ("1:2:3", r"\boxed{1 : 2 : 3}"), (r"\infty", r"\boxed{\infty}"), (r"\infty", r"\boxed{+\infty}"),
    (r"\emptyset", r"\boxed{\varnothing}"), (r"\emptyset", r"\boxed{\{\}}"),
    (r"$\emptyset$", r"\boxed{\{ \}}"), ("p - q", r"\boxed{-q+p}"),
    (r"\text{Evelyn}", r"\boxed{\text{Evelyn}}"), (r"\text{Evelyn}", "Evelyn"),
    (r"\text{Evelyn}", r"\boxed{Evelyn}"), (r"\text{(C)}", r"\boxed{C}"),
    (r"\text{(C)}", r"\boxed{\text{(C)}}"), (r"\text{(C)}", r"\boxed{(C)}"), (r"0.\dot{3}", r"\boxed{1/3}"),
    ("1/3", r"\boxed{0.\dot{3}}"), ("1/7", r"\boxed{0.\dot{1}4285\dot{7}}"), ("1/6", r"\boxed{0.1\dot{6}}"),
    ("x>3 or x<-1", r"\boxed{(-\infty,-1)\cup(3,\infty)}"),
    (r"(-\infty,-1)\cup(3,\infty)", r"\boxed{x<-1 \text{ or } x>3}"),
    (r"(-\infty,-1)\cup(3,\infty)", r"\boxed{x<-1, \text{ or } x>3}"),
    (r"\mathbb{R}", r"\boxed{(-\infty,\infty)}"), (r"(-\infty,\infty)", r"\boxed{\mathbb{R}}"),
    (r"x\in\mathbb{R}", r"\boxed{(-\infty,\infty)}"), (r"\{0\}\cup(3,\infty)", r"\boxed{x=0 or x>3}"),
    (r"x \neq 2", r"\boxed{x<2 or x>2}"), ("x>3 or x<-1", r"\boxed{x<-1, x>3}"), (r"\pi", r"\boxed{\pi}"),
    (r"\alpha", r"\boxed{\alpha}"), (r"\text{odd}", r"\boxed{\text{Odd}}"),
    ("x>3 or x<-1", r"\boxed{3<x or -1>x}"), ("-x>1 or x>3", r"\boxed{(-\infty,-1)\cup(3,\infty)}"),
]  # fmt: skip

WRONG = [
    ("5", r"\boxed 6"), ("5", r"\boxed{3} or \boxed 5"), ("3", r"\boxed{3} or \boxed 5"),
    ("5", r"\boxed 5^2"), ("5", r"\boxed 5,000"), ("5", r"\boxed{\color{red}6}"),
    ("5", r"\boxed{5 \tag{1} 6}"), ("51", r"\boxed{5\tag{1}}"), ("1", r"\boxed{5\tag{1}}"),
    ("5", r"\boxed{\textcolor{5}{6}}"), ("5", r"\boxed{\underline{5}6}"), ("5", r"\boxed{\cancel{5}}"),
    ("5", r"\boxed{\phantom{5}}"), ("5 m/s", r"\boxed{5\,\frac{\text{s}}{\text{m}}}"),
    ("5 m/s", r"\boxed{5 \text{ m s}}"), ("5 m/s", r"\boxed{5\text{ km/h}}"),
    ("5 m/s", r"\boxed{5\text{ m}}"), ("5 m/s", r"\boxed{5\text{ m/s}^2}"),
    ("5 m/s", r"\boxed{6\text{ m/s}}"), ("5 m/s", r"\boxed{5 \text{ m s}^{-2}}"),
    (r"5\text{ m/s}", r"\boxed{5\text{ s/m}}"), ("5m", r"\boxed{5\text{ s}}"),
    ("5m", r"\boxed{6\text{ m}}"), ("5x", r"\boxed{5\text{ y}}"), (r"5\text{ kg}", r"\boxed{5\text{ g}}"),
    (r"5\text{ ms}", r"\boxed{5\text{ m/s}}"), (r"5\text{ ms}", r"\boxed{5\text{ m}}"),
    ("0.4", r"\boxed{12:30}"), ("12:30", r"\boxed{0.4}"), ("12:30", r"\boxed{2/5}"),
    ("12:30", r"\boxed{12/30}"), ("12:30", r"\boxed{12:31}"), ("3:4", r"\boxed{4:3}"),
    ("3:4", r"\boxed{3:5}"), ("1:2:3", r"\boxed{1/6}"), ("1:2:3", r"\boxed{1:3:2}"),
    ("1:2:3", r"\boxed{1:6}"), ("0.75", r"\boxed{3:4}"), ("2", r"\boxed{4:2}"),
    (r"\infty", r"\boxed{-\infty}"), (r"\infty", r"\boxed{1000}"), (r"\emptyset", r"\boxed{0}"),
    (r"\emptyset", r"\boxed{\{0\}}"), (r"\emptyset", r"\boxed{\{\emptyset\}}"),
    (r"\emptyset", r"\boxed{\mathbb{R}}"), (r"\{\}", r"\boxed{\{1\}}"), (r"\{1\}", r"\boxed{\{\}}"),
    ("p - q", r"\boxed{q - p}"), ("p - q", r"\boxed{p}"), (r"\text{Evelyn}", r"\boxed{\text{Eve}}"),
    (r"\text{Evelyn}", r"\boxed{\text{not Evelyn}}"), (r"\text{Evelyn}", r"\boxed{Evelyn or Carla}"),
    (r"\text{Evelyn}", r"\boxed{5}"), (r"\text{(C)}", r"\boxed{D}"), (r"\text{(C)}", r"\boxed{C, D}"),
    (r"0.\dot{3}", r"\boxed{0.3}"), (r"0.\dot{3}", r"\boxed{0.\dot{4}}"),
    ("1/3", r"\boxed{0.\dot{3}1\dot{3}}"), ("0.33", r"\boxed{0.\dot{3}}"),
    ("x>3 or x<-1", r"\boxed{(-1,3)}"), ("x>3 or x<-1", r"\boxed{(-\infty,-1]\cup(3,\infty)}"),
    ("x>3 or x<-1", r"\boxed{(3,\infty)}"), ("x>3 or x<-1", r"\boxed{x>3}"),
    ("x>3", r"\boxed{x>3 or x<-1}"), ("(-1,3)", r"\boxed{x>-1 or x<3}"),
    (r"\mathbb{R}", r"\boxed{x>-1 or x<3 or x>9}"),
    (r"(-\infty,-1)\cup(3,\infty)", r"\boxed{x<-1 and x>3}"),
    (r"(-\infty,-1)\cup(3,\infty)", r"\boxed{x<-1 or y>3}"),
    (r"(-\infty,-1)\cup(3,\infty)", r"\boxed{x<-1 or x>4}"), (r"\mathbb{R}", r"\boxed{(0,\infty)}"),
    (r"\mathbb{R}", r"\boxed{R}"), (r"\mathbb{R}", r"\boxed{\mathbb{Z}}"),
    (r"\mathbb{R}", r"\boxed{[-\infty,0)}"), (r"(-\infty,\infty)", r"\boxed{\mathbb{Q}}"),
    ("(-1,1)", r"\boxed{\mathbb{R}}"), ("x>3 or x=0", r"\boxed{(3,\infty)}"),
    ("x>3 or x=0", r"\boxed{[0,\infty)}"), ("x=2 or x=3", r"\boxed{2}"), ("7", r"\boxed{7 or 8}"),
    ("x>3 or x<-1", r"\boxed{x>3 or x<-1 or x=0}"), ("x>3 or x<-1", r"\boxed{x\ge 3 or x<-1}"),
    (r"\{2,3\}", r"\boxed{(2,3)}"), ("(2,3)", r"\boxed{\{2,3\}}"),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "completion"), RIGHT)
def test_another_way_to_write_the_reference_is_paid(gold: str, completion: str) -> None:
    assert score(completion, gold) == 1.0


@pytest.mark.parametrize(("gold", "completion"), WRONG)
def test_what_only_looks_like_the_reference_is_not_paid(gold: str, completion: str) -> None:
    assert score(completion, gold) == 0.0


POWERS = [
    ("16", "2^4"), ("2^4", "16"), ("10^6", "1000000"), ("10!", "3628800"), ("120", "5!"),
    ("10^{-3}", "0.001"), ("-2^3", "-8"),
    ("x=2^3", "8"), ("2**4", "16"), ("5²", "25"), ("64", "2^3!"), ("7", "$7$!"),
    ("5 cm", r"5 \text{ cm}!"), ("odd", "odd!"),
]  # fmt: skip
NO_POWERS = [
    ("16", "2"), ("2^4", "2"), ("10^6", "10"), ("10!", "10"), ("5", "5!"), ("5", "5^2"),
    ("10^{-3}", "10"), ("-2^3", "-2"),
    ("x=2^3", "2"), ("2**4", "24"), ("5²", "5"), ("n!", "n"), (r"\alpha!", r"\alpha"),
    ("(n-1)!", "(n-1)"), ("720", "3!!"),
    ("5 cm^2", "5 cm"), ("3^5", "3^6"),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "found"), POWERS)
def test_a_power_or_factorial_is_worth_its_value(gold: str, found: str) -> None:
    assert score(rf"\boxed{{{found}}}", rf"\boxed{{{gold}}}") == 1.0


@pytest.mark.parametrize(("gold", "found"), NO_POWERS)
def test_a_power_or_factorial_is_not_worth_its_base(gold: str, found: str) -> None:
    assert score(rf"\boxed{{{found}}}", rf"\boxed{{{gold}}}") == 0.0


@given(st.integers(2, 40), st.integers(2, 12))
def test_every_power_is_its_value_and_not_its_base(base: int, exponent: int) -> None:
    for power in (f"{base}^{{{exponent}}}", f"{base}^{exponent}", f"{base}**{exponent}"):
        assert score(rf"\boxed{{{base**exponent}}}", power) == 1.0
        assert score(rf"\boxed{{{power}}}", str(base**exponent)) == 1.0
        assert score(rf"\boxed{{{base}}}", power) == score(rf"\boxed{{{power}}}", str(base)) == 0.0


@given(st.integers(-30, 30), st.integers(-30, 30), st.integers(-30, 30))
def test_or_joins_rays_as_their_union(low: int, high: int, other: int) -> None:
    gold = rf"(-\infty,{low})\cup({high},\infty)"
    assert score(rf"\boxed{{x<{low} or x>{high}}}", gold) == 1.0
    assert score(rf"\boxed{{{gold}}}", rf"x<{low} \text{{ or }} x>{high}") == 1.0
    assert score(rf"\boxed{{x<{low} or x>{other}}}", gold) == float(other == high)
    assert score(rf"\boxed{{x<{low} and x>{high}}}", gold) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "the area is large",
        "C",
        "Paris",
        "x-ray",
        "co-op",
        "n",
        "see the figure",
        "A B",
        "e-mail",
        "p-value",
        "to-do",
    ],
)
def test_bare_words_are_no_mathematics(text: str) -> None:
    assert read_reference(text) is None


def test_a_box_without_braces_holds_one_number_or_letter() -> None:
    for text in (r"so \boxed 5.", r"\boxed{4}, no: \boxed 5", r"\boxed {5}"):
        found = find_answer(text)
        assert found is not None
        assert (found.text, text[found.start : found.end]) == ("5", "5")
    text = r"\boxed{3} or \boxed 5"
    found = find_answer(text)
    assert found is not None
    assert joined_boxes(text, found).text == "3, 5"


def test_units_are_products() -> None:
    assert unit_powers("m/s") == unit_powers("m s^-1") == unit_powers("m·s^-1") == {"m": 1, "s": -1}
    assert unit_powers("km/hour") == unit_powers("km/h") != unit_powers("km/s")
    assert unit_powers("m²") == unit_powers("m^2") == unit_powers("m m")
    assert unit_powers("5/") == "5/"
    assert unit_term("+") is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [(r"\textcolor{red}{5}", "{5}"), (r"\color[rgb]{1,0,0} 5", "5"), (r"5 \tag{1}", "5"), (r"\underline{5}", "{5}"),
     (r"5\,\frac{\text{m}}{\text{s}^2}", r"5 \text{ m/s}^{2}"), (r"\frac{\text{m}}{2}", r"\frac{\text{m}}{2}")],
)  # fmt: skip
def test_paint_is_no_content(text: str, plain: str) -> None:
    assert plain_maths(text) == plain


@pytest.mark.parametrize("graded", [maths_equal, numeric])
def test_an_exclamation_behind_a_number_in_a_sentence_is_read_both_ways(graded: Any) -> None:
    said = ["The answer is 7!", "7!", r"\boxed{7!}", "The answer is 7!", "The answer is 7!"]
    assert graded(said, answer=["7", "7", "7", "5040", "8"]) == [1.0, 1.0, 0.0, 1.0, 0.0]
