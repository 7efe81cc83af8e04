"""Comparing what a program answered with what is expected, outside the program's process.

The answer comes as the JSON it crossed in and is never turned into sets or dictionaries of its own: a program
could choose keys that collide, and keep its judge busy for minutes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rewards.sandbox.inside.values import MAX_DEPTH, decode


def matches(expected: Any, answer: Any, tolerance: float = 0.0) -> bool:
    """Whether an encoded answer is the expected value.

    As Python's `==`, but that a list and a tuple of equal items are equal (expected values come from JSON, which
    knows no tuples) and that NaN equals NaN. With a tolerance, numbers of which one has a fraction may differ by
    that much, absolutely or relatively.

    >>> matches([1, (2, 3)], [1, {"t": [2, 3]}])
    True
    >>> matches({1, 2}, [1, 2])
    False
    >>> matches(0.3333, 1 / 3, tolerance=1e-3)
    True
    """
    return _matches(expected, answer, tolerance, 0)


def _matches(expected: Any, answer: Any, tolerance: float, depth: int) -> bool:
    if depth > MAX_DEPTH:
        return False
    if isinstance(expected, (list, tuple)):
        items = answer if isinstance(answer, list) else _marked(answer, "t")
        return (
            items is not None
            and len(items) == len(expected)
            and all(_matches(*pair, tolerance, depth + 1) for pair in zip(expected, items, strict=True))
        )
    if isinstance(expected, (set, frozenset)):
        items = _marked(answer, "s")
        items = _marked(answer, "z") if items is None else items
        return items is not None and len(items) == len(expected) and _same_set(expected, items, tolerance)
    if isinstance(expected, dict):
        pairs = _marked(answer, "d")
        return (
            pairs is not None
            and len(pairs) == len(expected)
            and _same_dict(expected, pairs, tolerance, depth)
        )
    return _same_single(expected, answer, tolerance)


def _marked(answer: Any, mark: str) -> list[Any] | None:
    content = answer.get(mark) if isinstance(answer, dict) and len(answer) == 1 else None
    return content if isinstance(content, list) else None


def _same_single(expected: Any, answer: Any, tolerance: float) -> bool:
    if isinstance(answer, list) or (isinstance(answer, dict) and not answer.keys() <= _SINGLE):
        return False
    try:
        got = decode(answer)
    except (ValueError, OverflowError):
        return False
    if isinstance(expected, (int, float)) and isinstance(got, (int, float)):
        return same_number(expected, got, tolerance)
    return bool(got == expected)


_SINGLE = {"i", "f", "b", "r", "c", "D", "F", "T", "e"}


def same_number(expected: float, got: float, tolerance: float) -> bool:
    """Whether two numbers are equal, or near enough where one of them has a fraction."""
    if expected == got or (expected != expected and got != got):
        return True
    if tolerance <= 0.0 or (isinstance(expected, int) and isinstance(got, int)):
        return False
    try:
        return math.isclose(expected, got, rel_tol=tolerance, abs_tol=tolerance)
    except OverflowError:
        return False


def _same_set(expected: set[Any] | frozenset[Any], items: Sequence[Any], tolerance: float) -> bool:
    """Each item is one of the expected, each once; only the expected side is ever hashed in bulk."""
    left = set(expected)
    for item in items:
        found = _find(left, item, tolerance)
        if found is _NONE:
            return False
        left.discard(found)
    return True


def _same_dict(expected: dict[Any, Any], pairs: Sequence[Any], tolerance: float, depth: int) -> bool:
    left = set(expected)
    for pair in pairs:
        key = _find(left, pair[0], 0.0) if isinstance(pair, list) and len(pair) == 2 else _NONE
        if key is _NONE or not _matches(expected[key], pair[1], tolerance, depth + 1):
            return False
        left.discard(key)
    return True


_NONE = object()


def _find(left: set[Any], item: Any, tolerance: float) -> Any:
    """The one of `left` that an encoded item is, or `_NONE`."""
    if _is_simple(item):
        try:
            value = decode(item)
            if value in left:
                return value
        except (ValueError, TypeError, OverflowError):
            return _NONE
        if tolerance <= 0.0:
            return _NONE
    return next((one for one in left if _matches(one, item, tolerance, 1)), _NONE)


def _is_simple(item: Any) -> bool:
    """Whether decoding an item hashes nothing: a single value, or a tuple of such."""
    if isinstance(item, dict) and len(item) == 1:
        ((mark, content),) = item.items()
        if mark == "t":
            return isinstance(content, list) and all(_is_simple(part) for part in content)
        return mark in _SINGLE
    return not isinstance(item, (list, dict))


def same_output(expected: str, got: str, tolerance: float = 0.0) -> bool:
    """Whether a program printed what is expected.

    White space at the end of lines and empty lines at the end do not matter; with a tolerance, words that are
    numbers may differ by that much.

    >>> same_output("1 2\\n", "1 2   \\n\\n")
    True
    >>> same_output("0.3333", "0.33333333", tolerance=1e-3)
    True
    """
    wanted, found = _lines(expected), _lines(got)
    if wanted == found:
        return True
    if tolerance <= 0.0 or len(wanted) != len(found):
        return False
    return all(
        _same_words(one.split(), other.split(), tolerance) for one, other in zip(wanted, found, strict=True)
    )


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _same_words(wanted: list[str], found: list[str], tolerance: float) -> bool:
    return len(wanted) == len(found) and all(
        one == other or _same_written(one, other, tolerance) for one, other in zip(wanted, found, strict=True)
    )


def _same_written(one: str, other: str, tolerance: float) -> bool:
    try:
        wanted, found = float(one), float(other)
    except ValueError:
        return False
    return math.isfinite(found) and same_number(wanted, found, tolerance)


def shown(answer: Any) -> str:
    """An encoded answer as a reader would write it, cut short.

    >>> shown({"t": [1, {"f": "nan"}]})
    '(1, nan)'
    """
    if isinstance(answer, dict) and "h" in answer:
        return f"an object of class {str(answer['h'][2])[:40]}, which is no plain value"
    try:
        text = repr(decode(answer, lambda told: _Name(str(told[2]))))
    except (ValueError, TypeError, IndexError, RecursionError):
        return "nothing that can be read"
    return text if len(text) <= 80 else text[:77] + "..."


class _Name:
    def __init__(self, name: str) -> None:
        self.name = name[:40]

    def __repr__(self) -> str:
        return f"<{self.name}>"
