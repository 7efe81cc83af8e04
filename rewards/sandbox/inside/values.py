"""Plain values as JSON and back: all that ever crosses from a candidate program to those who judge it.

None, truth values, numbers, text, bytes, lists, tuples, sets, dictionaries, ranges, dates, decimals and fractions,
nested. An object of a subclass crosses as the plain value it holds, and so loses the methods it came with.
Anything else is refused, or stays where it is and crosses as a handle where both sides agreed on that.

Nothing here trusts what it decodes: wrong shapes raise `ValueError`.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
from collections.abc import Callable, Iterable
from typing import Any

MAX_DEPTH = 120
"""Levels of nesting that cross; a value that contains itself is refused by this too."""

_SAFE = 1 << 53


class Uncrossable(TypeError):
    """A value that is not plain."""


def encode(value: Any, handle: Callable[[Any], Any] | None = None, depth: int = 0) -> Any:
    """`value` as JSON.

    Args:
        value: any object.
        handle: what to do with an object that is not plain: returns its JSON; None: it is refused.

    Raises:
        Uncrossable: the value, or one in it, is not plain or is nested too deeply.
    """
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -_SAFE < value < _SAFE else {"i": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"f": repr(value)}
    if depth > MAX_DEPTH:
        raise Uncrossable(f"a value nested more than {MAX_DEPTH} levels deep")
    if kind is list:
        return [encode(item, handle, depth + 1) for item in value]
    return _encode_other(value, kind, handle, depth)


def _encode_other(value: Any, kind: type, handle: Callable[[Any], Any] | None, depth: int) -> Any:
    plain: Any
    for plain in (int, float, str, list):
        if isinstance(value, plain):
            return encode(plain(value), handle, depth)
    for mark, plain_kind in (("t", tuple), ("s", set), ("z", frozenset)):
        if isinstance(value, plain_kind):
            return {mark: [encode(item, handle, depth + 1) for item in value]}
    if isinstance(value, dict):
        pairs = dict.items(value)
        return {
            "d": [[encode(key, handle, depth + 1), encode(item, handle, depth + 1)] for key, item in pairs]
        }
    if isinstance(value, (bytes, bytearray)):
        return {"b": bytes(value).hex()}
    if kind is range:
        return {"r": [encode(part) for part in (value.start, value.stop, value.step)]}
    if kind is complex:
        return {"c": [encode(value.real), encode(value.imag)]}
    if isinstance(value, decimal.Decimal):
        return {"D": str(value)}
    if isinstance(value, fractions.Fraction):
        return {"F": [encode(value.numerator), encode(value.denominator)]}
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return {"T": [kind.__name__, value.isoformat()]}
    if isinstance(value, datetime.timedelta):
        return {"e": [value.days, value.seconds, value.microseconds]}
    if kind.__module__ == "numpy" and hasattr(value, "tolist"):
        return encode(value.tolist(), handle, depth)
    if handle is not None:
        return handle(value)
    raise Uncrossable(f"a value of type {kind.__name__}")


def decode(value: Any, handle: Callable[[Any], Any] | None = None, depth: int = 0) -> Any:
    """What `encode` encoded.

    Args:
        value: JSON.
        handle: gives the object for a handle's JSON; None: handles are refused.

    Raises:
        ValueError: it is nothing that `encode` makes.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if depth > MAX_DEPTH + 2:
        raise ValueError("nested too deeply")
    if isinstance(value, list):
        return [decode(item, handle, depth + 1) for item in value]
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("no encoded value")
    ((mark, content),) = value.items()
    try:
        return _decode_marked(mark, content, handle, depth + 1)
    except (TypeError, ArithmeticError, KeyError) as error:
        raise ValueError(f"no encoded value: {error}") from None


def _decode_marked(mark: str, content: Any, handle: Callable[[Any], Any] | None, depth: int) -> Any:
    if mark in ("t", "s", "z"):
        items = (decode(item, handle, depth) for item in _listed(content))
        return {"t": tuple, "s": set, "z": frozenset}[mark](items)
    if mark == "d":
        pairs = [_listed(pair) for pair in _listed(content)]
        return {decode(key, handle, depth): decode(item, handle, depth) for key, item in pairs}
    if mark == "i":
        return int(str(content), 16)
    if mark == "f":
        return float({"inf": "inf", "-inf": "-inf", "nan": "nan"}[content])
    if mark == "b":
        return bytes.fromhex(content)
    if mark == "r":
        return range(*(decode(part) for part in _listed(content)))
    if mark == "c":
        return complex(*(decode(part) for part in _listed(content)))
    if mark == "D":
        return decimal.Decimal(content)
    if mark == "F":
        return fractions.Fraction(*(decode(part) for part in _listed(content)))
    if mark == "T":
        kind, text = _listed(content)
        kinds: dict[str, Any] = {"datetime": datetime.datetime, "date": datetime.date, "time": datetime.time}
        return kinds[kind].fromisoformat(text)
    if mark == "e":
        return datetime.timedelta(*_listed(content))
    if mark == "h" and handle is not None:
        return handle(content)
    raise ValueError(f"unknown mark {mark!r}")


def _listed(content: Any) -> Iterable[Any]:
    if not isinstance(content, list):
        raise ValueError("no list")
    return content
