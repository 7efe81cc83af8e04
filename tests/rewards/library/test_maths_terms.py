"""Mathematical notation as terms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library.maths_terms import DEEPEST, Terms, Unread, number_term, plain_maths, quantities, tokens


def term(text: str) -> Any:
    reader = Terms(tokens(plain_maths(text)))
    found = reader.term()
    assert reader.next.kind == "end", f"{reader.next.value!r} is left"
    return found


def n(value: int) -> Any:
    return ("n", Fraction(value), 0)


X = ("v", "x")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2x", ("*", n(2), X)), ("-x^2", ("neg", ("^", X, n(2)))), ("x^{-2}", ("^", X, ("neg", n(2)))),
        ("x^-2", ("^", X, ("neg", n(2)))),
        (r"\frac12x", ("*", ("/", n(1), n(2)), X)), (r"\frac1{23}", ("/", n(1), n(23))),
        ("1/2x", ("*", ("/", n(1), n(2)), X)),
        ("x - 2", ("+", X, ("neg", n(2)))), ("|x|", ("abs", X)),
        ("x!", ("!", X)), ("50%", ("%", n(50))), (r"\sqrt[3]{x}", ("root", n(3), X)),
        (r"\log_2 x", ("log", n(2), X)), ("x_{1}", ("v", "x_1")),
        (r"\sin^2 x", ("^", ("f", "sin", X), n(2))), (r"\sin^{-1} x", ("f", "arcsin", X)),
        ("sinx", ("f", "sin", X)), ("x'", ("v", "x'")),
        (r"1\frac{1}{4}", ("+", n(1), ("/", n(1), n(4)))), (r"2\frac{3}{2}", ("*", n(2), ("/", n(3), n(2)))),
        ("2**3", ("^", n(2), n(3))),
        (r"\frac{dx}{dt}", ("v", "dx/dt")), (r"\pix", ("*", ("v", "pi"), X)), ("length", ("v", "length")),
        (r"\lfloor x \rfloor", ("f", "floor", X)),
        ("2:1", ("/", n(2), n(1))), ("(x)", X), ("{x}", X), ("[x]", X),
        (r"\binom{5}{2}", ("binom", n(5), n(2))), (r"90^\circ", ("deg", n(90))),
        (r"\vec{x}", ("v", "vec x")), ("theta", ("v", "theta")), ("0.50", ("n", Fraction(1, 2), 2)),
        ("1.70e4", ("n", Fraction(17000), 3)),
    ],
)  # fmt: skip
def test_notation_is_read_as_people_mean_it(text: str, found: Any) -> None:
    assert term(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2 +",
        "(2",
        "2)",
        "2 3",
        "x 3",
        "^2",
        r"\frac{}{2}",
        r"\frac{1}",
        "|x",
        r"\zzz",
        "f()",
        "=",
        "2..3",
        "x_{",
    ],
)
def test_what_is_no_term_is_not_read(text: str) -> None:
    with pytest.raises((Unread, AssertionError)):
        term(text)


@pytest.mark.parametrize(
    "text", ["(" * 99 + "x" + ")" * 99, "2^" * 99 + "2", r"\sqrt" * 99 + "2", "1/" * 99 + "2", "x" + "!" * 99]
)
def test_depth_is_bounded(text: str) -> None:
    with pytest.raises(Unread, match=r"too (?:deep|many)"):
        term(text)
    assert len(text) > DEEPEST


def test_a_plus_minus_is_read_once_for_each_sign() -> None:
    found = tokens(r"1 \pm 2")
    readers = [Terms(found, sign) for sign in (1, -1)]
    assert [reader.term() for reader in readers] == [("+", n(1), n(2)), ("+", n(1), ("neg", n(2)))]
    assert all(reader.either_sign for reader in readers)


def test_the_quantities_of_a_term_are_its_letters_but_the_constants() -> None:
    assert quantities(term(r"x_1 + 2\pi y e^{i t}")) == {"x_1", "y", "t"}


def test_a_number_beyond_reason_is_not_read() -> None:
    for text in ("1e999999", "1e-99999", "9" * 6000):
        with pytest.raises(Unread):
            number_term(text)


@given(st.text("x12+-*/^()[]{}|!%\\fracsqtpie_ .", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        term(text)
    except (Unread, AssertionError):
        return
