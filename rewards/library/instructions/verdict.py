"""What a kind of instruction says about a response, and how its arguments are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Span = tuple[int, int]


class UnreadableInstruction(ValueError):
    """An instruction of an unknown kind, or one whose arguments are missing or of the wrong type."""


@dataclass(frozen=True)
class Verdict:
    """Whether an instruction was followed, what was found, and where.

    >>> Verdict(False, "268 words, at least 300 asked for").followed
    False
    """

    followed: bool
    note: str
    spans: tuple[Span, ...] = ()


class Arguments:
    """The arguments of one instruction; None counts as not given, as data sets fill missing keys with it.

    >>> Arguments({"num_words": 300.0, "relation": None}).count("num_words")
    300
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = {name: value for name, value in values.items() if value is not None}

    def count(self, name: str) -> int:
        """A whole number of at least 0; a float that is one is read.

        Raises:
            UnreadableInstruction: there is none.
        """
        value = self._values.get(name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        raise UnreadableInstruction(f"{name}={value!r} must be a whole number of at least 0")

    def text(self, name: str) -> str:
        """A text that is not blank.

        Raises:
            UnreadableInstruction: there is none.
        """
        value = self._values.get(name)
        if isinstance(value, str) and value.strip():
            return value
        raise UnreadableInstruction(f"{name}={value!r} must be a text")

    def texts(self, name: str) -> tuple[str, ...]:
        """Texts that are not blank, at least one.

        Raises:
            UnreadableInstruction: there is none.
        """
        value = self._values.get(name)
        listed = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []
        if listed and all(isinstance(one, str) and one.strip() for one in listed):
            return tuple(listed)
        raise UnreadableInstruction(f"{name}={value!r} must be a list of texts")

    def compare(self, found: int, relation: str, wanted: str, what: str) -> Verdict:
        """`found` against the number named `wanted`: "at least" or "less than" it, as `relation` says.

        Raises:
            UnreadableInstruction: the number or the relation is missing.
        """
        number, words = self.count(wanted), self._values.get(relation)
        if words not in ("at least", "less than"):
            raise UnreadableInstruction(f"{relation}={words!r} must be 'at least' or 'less than'")
        followed = found >= number if words == "at least" else found < number
        return Verdict(followed, f"{found} {what}, {words} {number} asked for")
