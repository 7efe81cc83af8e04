"""Frames between parent and worker."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.running.wire import decode_answer, encode_answer

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(VALUES)
def test_values_come_back_as_they_were(value: Any) -> None:
    assert decode_answer(bytearray(encode_answer(value))) == value


@pytest.mark.parametrize("dtype", ["float64", "uint8", "int64", "bool"])
def test_arrays_come_back_with_shape_and_type(dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    back = decode_answer(bytearray(encode_answer({"a": [array]})))["a"][0]
    assert back.dtype == array.dtype
    assert (back == array).all()


def test_not_a_number_and_strange_objects_cross_as_values() -> None:
    back = decode_answer(bytearray(encode_answer({"nan": math.nan, "object": object})))
    assert math.isnan(back["nan"])
    assert isinstance(back["object"], str)


@given(st.binary(max_size=64))
def test_a_hostile_answer_is_refused_and_never_executed(payload: bytes) -> None:
    framed = bytearray(struct.pack("!Q", len(payload)) + payload)
    try:
        decode_answer(framed)
    except (ValueError, RecursionError, TypeError, AttributeError):
        return


@pytest.mark.parametrize(
    "header",
    [b'{"__array__": ["object", [1]]}', b'{"__array__": ["float64", [1000000]]}', b'{"__pickle__": 1}'],
)
def test_an_array_that_is_none_is_refused(header: bytes) -> None:
    with pytest.raises(ValueError, match=r"array|mark"):
        decode_answer(bytearray(struct.pack("!Q", len(header)) + header))
