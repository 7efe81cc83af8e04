"""A short text that a regular expression matches, made from the expression itself.

Python's own parser of patterns says what the parts are; a text is put together from the simplest choice of each:
the first branch, the least number of repeats (at least one where any is allowed), a letter for "any character". The
text is tried on the pattern before it is given out, so that look-arounds and back references that it does not
understand only make for no text.
"""

from __future__ import annotations

import re
from re import _parser as parser  # type: ignore[attr-defined]  # Python's own, undocumented since it is internal
from typing import Any

LONGEST = 2_000
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def example_of(
    pattern: str, flags: int = 0, *, filler: str = "so it is", number: str | None = None
) -> str | None:
    """A text in which the pattern is found, with the whole text matched where that works; None where none was made.

    Args:
        pattern, flags: as given to `re`.
        filler: what stands where any text may stand.
        number: what a group that takes a number is to take; None where the pattern has no such group.

    >>> example_of(r"^<a>.*?</a>\\s*\\d{2}$")
    '<a>so it is</a> 11'
    >>> example_of(r"Score:\\s*(\\d+)", number="95")
    'Score: 95'
    """
    try:
        compiled = re.compile(pattern, flags)
        parsed = parser.parse(pattern, flags)
        text = _Writer(filler, number).all_of(parsed)
    except (re.error, RecursionError, _Unknown, OverflowError, ValueError):
        return None
    found = compiled.search(text) if len(text) <= LONGEST else None
    return text if found is not None and (number is None or number in found.groups()) else None


class _Unknown(Exception):
    """A part of a pattern for which no text is known."""


class _Writer:
    def __init__(self, filler: str, number: str | None = None) -> None:
        self.filler = filler
        self.number = number
        self.groups: dict[int, str] = {}

    def all_of(self, parsed: Any) -> str:
        return "".join(self.one(str(operation), argument) for operation, argument in parsed)

    def one(self, operation: str, argument: Any) -> str:
        if operation == "LITERAL":
            return chr(argument)
        if operation == "NOT_LITERAL":
            return "a" if argument != ord("a") else "b"
        if operation == "ANY":
            return "a"
        if operation == "IN":
            return _member(argument)
        if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self.repeated(*argument)
        if operation == "SUBPATTERN":
            number, inner = argument[0], argument[-1]
            text = self.all_of(inner)
            if number is not None:
                if self.number is not None and _NUMBER.fullmatch(text):
                    text = self.number
                self.groups[number] = text
            return text
        if operation == "ATOMIC_GROUP":
            return self.all_of(argument)
        if operation == "BRANCH":
            return self.all_of(argument[1][0])
        if operation == "GROUPREF":
            return self.groups.get(argument, "")
        if operation in ("AT", "ASSERT", "ASSERT_NOT"):
            return ""
        raise _Unknown(operation)

    def repeated(self, least: int, most: int, inner: Any) -> str:
        if len(inner) == 1 and str(inner[0][0]) == "ANY" and most > len(self.filler):
            return self.filler if len(self.filler) >= least else self.filler.ljust(least, "o")
        times = max(least, 1 if most else 0)
        return "".join(self.all_of(inner) for _ in range(min(times, LONGEST)))


_CATEGORIES = {
    "CATEGORY_DIGIT": "1",
    "CATEGORY_NOT_DIGIT": "a",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_SPACE": "a",
    "CATEGORY_WORD": "a",
    "CATEGORY_NOT_WORD": " ",
}


def _member(choices: Any) -> str:
    """A character of a set."""
    negated = str(choices[0][0]) == "NEGATE"
    if negated:
        allowed = re.compile(_set_pattern(choices[1:]))
        return next((char for char in "a1 .A-\n" if not allowed.match(char)), "b")
    kind, argument = str(choices[0][0]), choices[0][1]
    if kind == "LITERAL":
        return chr(argument)
    if kind == "RANGE":
        return chr(argument[0] + (1 if argument == (48, 57) else 0))
    if kind == "CATEGORY":
        return _CATEGORIES.get(str(argument), "a")
    raise _Unknown(kind)


def _set_pattern(choices: Any) -> str:
    parts = []
    for kind, argument in choices:
        if str(kind) == "LITERAL":
            parts.append(re.escape(chr(argument)))
        elif str(kind) == "RANGE":
            parts.append(f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}")
        elif str(kind) == "CATEGORY":
            name = str(argument)
            parts.append({"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}.get(name.rpartition("_")[2], ""))
    return "[" + "".join(parts) + "]" if parts else "(?!)"


__all__ = ["example_of"]
