"""Plain values cross and come back as they were; anything else does not."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.sandbox.inside.values import Uncrossable, decode, encode

keys = st.integers() | st.text(max_size=3) | st.booleans() | st.none()
plain = st.recursive(
    keys
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.binary(max_size=4)
    | st.fractions()
    | st.decimals(allow_nan=False)
    | st.dates()
    | st.datetimes()
    | st.timedeltas(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.sets(keys, max_size=3)
        | st.frozensets(keys, max_size=3)
        | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=10,
)


@given(plain)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    back = decode(json.loads(json.dumps(encode(value), allow_nan=False)))
    assert (type(back), back) == (type(value), value)


class Colour(enum.IntEnum):
    RED = 3


class Text(str):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (Colour.RED, int),
        (Text("a"), str),
        (type("L", (list,), {})([1]), list),
        (bytearray(b"a"), bytes),
        (True, bool),
    ],
)
def test_a_subclass_crosses_as_the_plain_value_it_is(value: Any, kind: type) -> None:
    assert type(decode(encode(value))) is kind


@pytest.mark.parametrize(
    "value", [object(), print, int, (n for n in [1]), iter([1]), [object()], {1: object()}]
)
def test_what_is_not_plain_does_not_cross(value: Any) -> None:
    with pytest.raises(Uncrossable):
        encode(value)


def test_an_object_may_cross_as_a_handle() -> None:
    assert encode([print], lambda value: {"h": [value.__name__]}) == [{"h": ["print"]}]
    assert decode([{"h": ["print"]}], lambda told: told[0]) == ["print"]
    with pytest.raises(ValueError, match="unknown mark"):
        decode({"h": ["print"]})


def test_a_value_in_itself_does_not_cross() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(Uncrossable, match="nested"):
        encode(value)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=2),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from([*"tszdifbrcDFTeh?"]), inner, max_size=2)
        ),
    )
)
def test_whatever_is_sent_decodes_or_is_refused(value: Any) -> None:
    try:
        decode(value)
    except ValueError:
        pass


def test_numpy_values_cross_as_lists_and_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    assert encode([numpy.float64(1.5), numpy.arange(3), numpy.bool_(True)]) == [1.5, [0, 1, 2], True]


def test_some_values_by_hand() -> None:
    assert encode(2**64) == {"i": "0x10000000000000000"}
    assert encode(float("-inf")) == {"f": "-inf"}
    assert decode(encode(range(3, 0, -1))) == range(3, 0, -1)
    assert decode(encode(decimal.Decimal("1.10"))) == decimal.Decimal("1.10")
    assert decode(encode(fractions.Fraction(1, 3))) == fractions.Fraction(1, 3)
    assert decode(encode(datetime.time(1, 2))) == datetime.time(1, 2)
