"""Frames between parent and worker."""

from __future__ import annotations

import contextlib
import json
import math
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.running.wire import BAD_ANSWER, decode_answer, encode_answer

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


class Hostile:
    shape = ()
    dtype = property(lambda self: 1 / 0)

    def __repr__(self) -> str:
        raise RuntimeError("no")


class Half:
    def __repr__(self) -> str:
        return "half \ud83d"


class Whole(int):
    def __repr__(self) -> str:
        return "not JSON"


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "back"),
    [
        (np.float64("nan"), None),
        (np.float32("inf"), math.inf),
        (Whole(3), 3),
        (10**5000, 10**5000),
        ({(1, 2): 3, None: 4}, {"(1, 2)": 3, None: 4}),
        ({Hostile(): 1}, {"a key of type Hostile": 1}),
        (Hostile(), "Hostile: it cannot be shown"),
        (Half(), "Half: half \\ud83d"),
        ([{1, 2}], ["set: {1, 2}"]),
    ],
    ids=["nan", "infinity", "its own integer", "long", "tuple", "hostile key", "hostile", "half", "set"],
)  # fmt: skip
def test_whatever_a_reward_hands_over_crosses(value: Any, back: Any) -> None:
    found = decode_answer(bytearray(encode_answer([value])))[0]
    assert found == back or (back is None and math.isnan(found))


def test_what_contains_itself_crosses_as_far_as_it_goes() -> None:
    assert "nested too deeply" in str(decode_answer(bytearray(encode_answer(LOOP))))


@given(st.binary(max_size=64))
def test_a_hostile_answer_is_refused_and_never_executed(payload: bytes) -> None:
    framed = bytearray(struct.pack("!Q", len(payload)) + payload)
    with contextlib.suppress(*BAD_ANSWER):
        decode_answer(framed)


@given(
    VALUES | st.dictionaries(st.sampled_from(["__array__", "__dict__", "__float__", "__integer__"]), VALUES)
)
def test_an_answer_of_another_shape_is_refused_in_known_ways(value: Any) -> None:
    header = json.dumps(value).encode()  # with the words that are no JSON too
    with contextlib.suppress(*BAD_ANSWER):
        decode_answer(bytearray(struct.pack("!Q", len(header)) + header))


@pytest.mark.parametrize(
    "header",
    [b'{"__array__": ["object", [1]]}', b'{"__array__": ["float64", [1000000]]}', b'{"__pickle__": 1}'],
)
def test_an_array_that_is_none_is_refused(header: bytes) -> None:
    with pytest.raises(ValueError, match=r"array|mark"):
        decode_answer(bytearray(struct.pack("!Q", len(header)) + header))
