"""What terms are worth, and which are the same."""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library.maths_terms import Terms, plain_maths, tokens
from rewards.library.maths_values import as_fraction, constant, exact, proportion, same


def term(text: str) -> Any:
    return Terms(tokens(plain_maths(text))).term()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2+3*4", Fraction(14)), ("2^{-3}", Fraction(1, 8)), ("5!/3!", Fraction(20)),
        (r"\binom{5}{2}", Fraction(10)), ("|-3|", Fraction(3)),
        (r"\sqrt{\frac{9}{4}}", Fraction(3, 2)), ("50%", Fraction(1, 2)), ("(-1)^{1001}", Fraction(-1)),
        ("0.1+0.2", Fraction(3, 10)),
        (r"\sqrt2", None), (r"\pi", None), ("x", None), ("1/0", None), ("9^{9^{9}}", None), ("5000!", None),
        ("2^{1/2}", None),
    ],
)  # fmt: skip
def test_a_rational_number_is_exact(text: str, value: Fraction | None) -> None:
    assert exact(term(text)) == value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"\sqrt{2}\sqrt{3}", r"\sqrt6"), (r"\sqrt{x}\sqrt{y}", r"\sqrt{xy}"), (r"\log(x-50)", r"\ln(x-50)"),
        ("n!", "n(n-1)!"), ("(-1)^n", "(-1)^{n+2}"),
        (r"\arcsin(x)+\arccos x", r"\frac{\pi}{2}"), (r"\cosh(at)", r"\frac{e^{at}+e^{-at}}{2}"),
        (r"\sqrt[3]{-8}", "-2"), ("e^{i\\pi}", "-1"),
        ("x-x", "0"), (r"\sqrt{-x^2-1}", r"i\sqrt{x^2+1}"), (r"\log_{2} x", r"\frac{\ln x}{\ln 2}"),
        (r"\sin(30^\circ)", "1/2"),
    ],
)  # fmt: skip
def test_terms_that_are_worth_the_same_are_the_same(one: str, other: str) -> None:
    assert same(term(one), term(other))
    assert same(term(other), term(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [("x", "y"), ("x^2", "x^3"), (r"\sqrt{x^2}", "x"), ("e^{-100}", "0"),
     (r"e^{\pi\sqrt{163}}", "262537412640768744"), ("1/0", "2"),
     ("9^{9^{9}}", "9^{9^{8}}"), (r"\lfloor x \rfloor", "x"), (r"\frac{x}{x}", "x"), ("2x", "x")],
)  # fmt: skip
def test_terms_that_are_not_are_not(one: str, other: str) -> None:
    assert not same(term(one), term(other))


def test_a_proportion_is_found_at_all_points_or_not_at_all() -> None:
    assert proportion(term("2x-4y"), term("x-2y")) == 2
    assert proportion(term("x-2y"), term("x-3y")) is None
    assert proportion(term("x-x"), term("x")) is None


def test_a_constant_has_forty_digits() -> None:
    value = constant(term(r"\pi"))
    assert value is not None
    assert str(float(as_fraction(value) or 0)) == "3.141592653589793"
    assert constant(term("x")) is not None  # at a fixed point: only asked of terms without quantities
    assert as_fraction(constant(term("i"))) is None


def test_threads_share_the_arithmetic_without_harm() -> None:
    pairs = [(rf"\sqrt{{{n}x+1}}^2", f"{n}x+1") for n in range(1, 40)]
    results: list[bool] = []
    work = [threading.Thread(target=lambda p=p: results.append(same(term(p[0]), term(p[1])))) for p in pairs]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert results == [True] * len(pairs)


@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9))
def test_a_product_is_its_expansion(a: int, b: int, c: int) -> None:
    product, sum_ = term(f"({a}x+{b})(x+{c})"), term(f"{a}x^2+{a * c}x+{b}x+{b * c}")
    assert same(product, sum_)
    assert not same(product, term(f"{a}x^2+{a * c}x+{b}x+{b * c}+1"))
