"""The parts of a mathematical answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library.maths_answers import (
    LONGEST,
    MOST_PARTS,
    Matrix,
    Quantity,
    Relation,
    Set,
    Several,
    Tuple,
    Union,
    Word,
    read,
)


@pytest.mark.parametrize(
    ("text", "kind", "parts"),
    [
        ("x = 2 or x = -3", Several, 2), ("1331 and 1728", Several, 2), ("5or9", Several, 2),
        (r"\pm 3", Several, 2), ("1, 2; 3", Several, 3),
        ("x = 5", Relation, 2), ("1 < x < 2", Relation, 3), ("x = 5+5+1 = 11", Relation, 3),
        (r"x \in [1, 2]", Relation, 2), ("(1, 2)", Tuple, 2),
        ("[1, 2)", Tuple, 2), (r"\langle 1, 2, 3 \rangle", Tuple, 3), (r"\{1, 2\}", Set, 2),
        ("{1, 2}", Set, 2), (r"(1,2) \cup [3,4]", Union, 2),
    ],
)  # fmt: skip
def test_an_answer_is_of_its_kind_with_its_parts(text: str, kind: type, parts: int) -> None:
    found = read(text)[0]
    assert type(found) is kind
    assert len(found.parts) == parts  # type: ignore[union-attr]


def test_a_matrix_has_rows() -> None:
    (found,) = read(r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}")
    assert isinstance(found, Matrix)
    assert [len(row) for row in found.rows] == [2, 2]


@pytest.mark.parametrize("text", ["see the figure", r"\text{odd}", "QuadrantIV", "Monday", "neither of them"])
def test_words_are_words(text: str) -> None:
    assert isinstance(read(text)[0], Word)


@pytest.mark.parametrize("text", ["X - x", "xy", "x-y", "abc", "a b", "n"])
def test_letters_are_quantities(text: str) -> None:
    assert isinstance(read(text)[0], Quantity)


@pytest.mark.parametrize(
    ("text", "unit"),
    [(r"15\text{ cm}^2", "cm^2"), ("5 apples", "apple"), ("5am", "am"),
     (r"9\,\mathrm{m}\cdot\mathrm{s}^{-1}", "m·s^-1"), ("7", ""),
     ("90°", "°"), ("$5", "dollar")],
)  # fmt: skip
def test_a_unit_stands_behind_a_number(text: str, unit: str) -> None:
    found = read(text)[0]
    assert isinstance(found, Quantity)
    assert found.unit == unit


@pytest.mark.parametrize("text", ["5m", "2x", "3 d", "4t"])
def test_a_letter_behind_a_number_is_a_quantity_and_no_unit(text: str) -> None:
    (found,) = read(text)
    assert isinstance(found, Quantity)
    assert (found.unit, found.term[0]) == ("", "*")


def test_what_is_rounded_or_follows_is_passed_over() -> None:
    assert read(r"\frac{x}{3} \approx 0.33x") == read(r"\frac{x}{3}")
    assert read(r"2x = 4 \Rightarrow x = 2") == read("x = 2")


@pytest.mark.parametrize(
    "text",
    ["", "  ", "2 +", "(1, 2", r"\frac{}{2}", "f()=2", r"x \in", ",",
     "x" * (LONGEST + 1), ",".join("7" * (MOST_PARTS + 1)) + ",x",
     r"\begin{pmatrix} 1", "He is 5 years old"],
)  # fmt: skip
def test_what_is_none_is_not_read(text: str) -> None:
    assert read(text) == ()


@given(st.text(max_size=60))
def test_any_text_is_read_or_not(text: str) -> None:
    assert isinstance(read(text), tuple)
