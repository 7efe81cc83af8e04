"""Texts on which a pattern may run away, made of the pattern itself.

A pattern is read with Python's own parser. Its literals and a sample of each class, in order, are its *pieces*; the
body of each repeat without bound is what a looping text would repeat. A *pump* is such a body (or one, two or
three neighbouring pieces), written again and again after a beginning that gets the pattern as far as the repeat.
Repeats inside repeats come first: they are where time can grow exponentially.

What is read here is a suspicion only; `growth` measures.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from re import _constants, _parser  # type: ignore[attr-defined]  # no public way to a pattern's tree
from typing import Any

MOST = 140
"""Pumps tried of one pattern."""
GENERAL = (" ", "\n", "a", "a ", "1", "<", "{", "\\")
"""What models repeat whatever the pattern."""

_CATEGORIES = {
    _constants.CATEGORY_DIGIT: "1",
    _constants.CATEGORY_NOT_DIGIT: "a",
    _constants.CATEGORY_SPACE: " ",
    _constants.CATEGORY_NOT_SPACE: "a",
    _constants.CATEGORY_WORD: "a",
    _constants.CATEGORY_NOT_WORD: " ",
}
_REPEATS = tuple(
    getattr(_constants, name) for name in ("MAX_REPEAT", "MIN_REPEAT") if hasattr(_constants, name)
)
_POSSESSIVE = getattr(_constants, "POSSESSIVE_REPEAT", None)
_ATOMIC = getattr(_constants, "ATOMIC_GROUP", None)


@dataclass(frozen=True)
class Pump:
    """A text `before + again * n + after`; `nested` where a repeat without bound stands inside another."""

    before: str
    again: str
    nested: bool = False

    def text(self, length: int, after: str = "!") -> str:
        """About `length` characters, at least one repetition."""
        return self.before + self.again * max(1, length // len(self.again)) + after

    def times(self, count: int, after: str = "!") -> str:
        """With `count` repetitions."""
        return self.before + self.again * count + after


def pumps_of(pattern: str, flags: int = 0) -> list[Pump]:
    """The pumps of a pattern, the most suspicious first; [] for a pattern that Python does not accept.

    >>> pumps_of(r"^(a+)+$")[0]
    Pump(before='', again='a', nested=True)
    """
    try:
        tree = _parser.parse(pattern, flags)
    except (re.error, RecursionError, OverflowError):
        return []
    repeats = list(_repeats(tree, "", outer=False))
    repeats.sort(key=lambda pump: not pump.nested)
    parts = [part for part in _pieces(tree) if part]
    beginnings = list(
        dict.fromkeys(["", *("".join(parts[:count]) for count in range(1, min(len(parts), 6) + 1))])
    )
    bodies = [pump.again for pump in repeats]
    neighbours = [
        "".join(parts[place : place + size]) for size in (1, 2, 3) for place in range(len(parts) - size + 1)
    ]
    general = [text for text in GENERAL if text not in parts]
    mixed = (
        Pump(before, again)
        for again in dict.fromkeys([*bodies, *neighbours, *general])
        for before in beginnings
    )
    return list(_distinct(itertools.chain(repeats, mixed)))[:MOST]


def _distinct(pumps: Iterable[Pump]) -> Iterator[Pump]:
    seen: set[tuple[str, str]] = set()
    for pump in pumps:
        if pump.again and (pump.before, pump.again) not in seen:
            seen.add((pump.before, pump.again))
            yield pump


def is_unbounded(high: Any) -> bool:
    """Whether a repeat's upper end is none that a completion could not reach."""
    return high is _constants.MAXREPEAT or int(high) > 200


def _repeats(tree: Iterable[Any], before: str, *, outer: bool) -> Iterator[Pump]:
    """A pump for each repeat without bound: what stands before it, and samples of its body."""
    for op, value in tree:
        if op in _REPEATS or op is _POSSESSIVE:
            _, high, body = value
            endless = is_unbounded(high) and op is not _POSSESSIVE
            if endless:
                for text in dict.fromkeys((_sample(body, full=False), _sample(body, full=True))):
                    if text:
                        yield Pump(before, text, nested=outer or _has_repeat(body))
            yield from _repeats(body, before, outer=outer or endless)
        elif op is _constants.SUBPATTERN:
            yield from _repeats(value[3], before, outer=outer)
        elif op is _ATOMIC:
            yield from _repeats(value, before, outer=False)
        elif op is _constants.BRANCH:
            for branch in value[1]:
                yield from _repeats(branch, before, outer=outer)
        elif op in (_constants.ASSERT, _constants.ASSERT_NOT):
            yield from _repeats(value[1], before, outer=outer)
            continue
        before += _sample([(op, value)], full=False)


def _has_repeat(tree: Iterable[Any]) -> bool:
    """Whether a repeat without bound, or a choice, stands in it: several ways to read the same text."""
    for op, value in tree:
        if op in _REPEATS and (is_unbounded(value[1]) or _has_repeat(value[2])):
            return True
        if op is _constants.SUBPATTERN and _has_repeat(value[3]):
            return True
        if op is _constants.BRANCH:
            return True
    return False


def _sample(tree: Iterable[Any], *, full: bool) -> str:
    """A text that the tree matches, about: each repeat as often as it must be, `full`: once where it may."""
    text = ""
    for op, value in tree:
        if op is _constants.LITERAL:
            text += chr(value)
        elif op in _REPEATS or op is _POSSESSIVE:
            low, _, body = value
            text += _sample(body, full=full) * min(max(int(low), 1 if full else 0), 8)
        elif op is _constants.SUBPATTERN:
            text += _sample(value[3], full=full)
        elif op is _ATOMIC:
            text += _sample(value, full=full)
        elif op is _constants.BRANCH:
            text += _sample(value[1][0], full=full)
        else:
            text += _character(op, value)
    return text


def _pieces(tree: Iterable[Any]) -> Iterator[str]:
    """Runs of literals and a sample of each class, in order."""
    run = ""
    for op, value in tree:
        if op is _constants.LITERAL:
            run += chr(value)
            continue
        inner: Sequence[Any] = ()
        if op in _REPEATS or op is _POSSESSIVE:
            inner = (value[2],)
        elif op is _constants.SUBPATTERN:
            inner = (value[3],)
        elif op is _ATOMIC:
            inner = (value,)
        elif op is _constants.BRANCH:
            inner = value[1]
        elif op in (_constants.ASSERT, _constants.ASSERT_NOT):
            inner = (value[1],)
        character = _character(op, value)
        if inner or character:
            yield run
            run = ""
        for part in inner:
            yield from _pieces(part)
        yield character
    yield run


def _character(op: Any, value: Any) -> str:
    """One character of a class; "" for what takes none."""
    if op is _constants.ANY:
        return "a"
    if op is _constants.NOT_LITERAL:
        return "b" if value == ord("a") else "a"
    if op is not _constants.IN:
        return ""
    negated = bool(value) and value[0][0] is _constants.NEGATE
    members = value[1:] if negated else value
    if negated:
        return next((c for c in "a1 ~\n" if not any(_holds(kind, item, c) for kind, item in members)), "a")
    kind, item = members[0]
    if kind is _constants.LITERAL:
        return chr(item)
    if kind is _constants.RANGE:
        return chr(item[0])
    return _CATEGORIES.get(item, "a")


def _holds(kind: Any, item: Any, character: str) -> bool:
    if kind is _constants.LITERAL:
        return bool(ord(character) == item)
    if kind is _constants.RANGE:
        return bool(item[0] <= ord(character) <= item[1])
    sample = _CATEGORIES.get(item, "a")
    if item is _constants.CATEGORY_SPACE:
        return character.isspace()
    if item is _constants.CATEGORY_WORD:
        return character.isalnum() or character == "_"
    if item is _constants.CATEGORY_DIGIT:
        return character.isdigit()
    return character == sample


__all__ = ["GENERAL", "Pump", "is_unbounded", "pumps_of"]
