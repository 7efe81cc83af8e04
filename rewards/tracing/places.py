"""Where a piece of text stands in the completion.

Texts made by strip, lower, slices, split, replace, join, `re.sub`, groups of matches and the like are followed
back, character by character, to the completion they were made of. A text that came by a way nobody watched is
searched for in the completion, and what is found that way is called approximate.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rewards.tracing.looking import look
from rewards.tracing.provenance import Origin, plain
from rewards.tracing.state import State

_CASE = frozenset(["lower", "upper", "casefold", "title", "capitalize", "swapcase"])
_LONGEST = 100_000
"""Texts longer than this are not followed through changes inside them."""

_SEARCHED = 12
"""Characters from which on a text is searched for; shorter ones are found everywhere."""


@dataclass(frozen=True)
class Place:
    """The place of every character of a text: an offset, or a position each (-1: not from the completion)."""

    length: int
    offset: int | None = None
    positions: tuple[int, ...] | None = None
    approximate: bool = False

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """The place of the characters `start` to `end`; None where none of them is from the completion."""
        start, end = max(0, start), min(self.length, end)
        if start >= end:
            return None
        if self.offset is not None:
            return self.offset + start, self.offset + end
        known = [position for position in (self.positions or ())[start:end] if position >= 0]
        return (min(known), max(known) + 1) if known else None

    def cut(self, start: int, end: int) -> Place:
        """The place of a piece."""
        start, end = max(0, start), max(start, min(self.length, end))
        if self.offset is not None:
            return Place(end - start, self.offset + start, None, self.approximate)
        return Place(end - start, None, (self.positions or ())[start:end], self.approximate)

    def each(self) -> tuple[int, ...]:
        """The position of every character."""
        if self.offset is not None:
            return tuple(range(self.offset, self.offset + self.length))
        return self.positions or ()


def is_match(thing: Any) -> bool:
    """True for a match of `re`, and of the `regex` package, which has the same interface."""
    if isinstance(thing, re.Match):
        return True
    return type(thing).__name__ == "Match" and type(thing).__module__ in ("_regex", "regex")


def is_pattern(thing: Any) -> bool:
    """True for a compiled pattern of `re` or `regex`."""
    if isinstance(thing, re.Pattern):
        return True
    return type(thing).__name__ == "Pattern" and type(thing).__module__ in ("_regex", "regex")


def receiver_of(origin: Origin) -> Any:
    """The object whose method was called."""
    return look(origin.parts[0], "__self__", None)


def _pattern_and_subject(origin: Origin, behind: int = 0) -> tuple[Any, Any]:
    """The compiled pattern and the text of a call to `findall`, or to `sub` with `behind` arguments between."""
    function, raw, named = origin.parts
    parts = [plain(part) for part in raw]
    receiver = receiver_of(origin)
    if is_pattern(receiver):
        return (receiver, parts[behind]) if len(parts) > behind else (None, None)
    if len(parts) < 2 + behind:
        return None, None
    pattern, subject = parts[0], parts[1 + behind]
    if type(pattern) is str:
        flags = plain(named.get("flags", parts[2] if len(parts) > 2 and not behind else 0))
        module = sys.modules.get(str(function.__module__).split(".")[0])
        compiled = getattr(module, "compile", None)
        pattern = compiled(pattern, flags) if compiled is not None and isinstance(flags, int) else None
    return (pattern, subject) if is_pattern(pattern) else (None, None)


def _spread(old: tuple[int, ...], length: int) -> list[int]:
    """The places of characters that stand for others: from the first to the last of those they stand for."""
    if not old:
        return [-1] * length
    return [*[old[0]] * (length - 1), old[-1]] if length else []


class Places:
    """Finds texts of one recording in one completion."""

    def __init__(self, completion: str, state: State, foreign: Iterable[str] = ()) -> None:
        self.completion = completion
        self.state = state
        self.foreign = {text.strip() for text in foreign}
        self._known: dict[int, Place | None] = {}
        self._held: list[str] = []  # so that an identity stays what it was

    def of(self, text: str, *, search: bool = False) -> Place | None:
        """The place of a text object; `search`: look for its characters where its way is not known."""
        if id(text) not in self._known:
            self._held.append(text)
            self._known[id(text)] = None  # no way leads through itself
            self._known[id(text)] = self._follow(text)
        found = self._known[id(text)]
        return found if found is not None or not search else self._searched(text)

    def _follow(self, text: str) -> Place | None:
        if text is self.completion:
            return Place(len(text), 0)
        if len(text) < 2 or len(text) > _LONGEST:
            return None
        origin = self.state.identified(text)
        found = self._made(origin, text) if origin is not None else None
        if found is None:
            found = self._item_of_list(text) or self._item_of_findings(text)
        if found is None and text == self.completion:
            found = Place(len(text), 0)
        return found

    def _given(self, part: Any, text: str) -> Place | None:
        return self.of(part) if part is text and len(text) > 1 else None

    def of_origin(self, origin: Origin) -> Place | None:
        """The place of a text that is known by its place in the code: a single character."""
        text = origin.value
        return self.of(text) if len(text) > 1 else self._made(origin, text)

    def _searched(self, text: str) -> Place | None:
        long_enough = len(text) >= _SEARCHED or 2 * len(text) >= len(self.completion)
        if not text or not long_enough or text.strip() in self.foreign:
            return None
        start = self.completion.find(text)
        if start < 0 and len(self.completion.lower()) == len(self.completion):
            start = self.completion.lower().find(text.lower())
        return Place(len(text), start, None, True) if start >= 0 else None

    # ------------------------------------------------------------------------------------ how made

    def _made(self, origin: Origin, text: str) -> Place | None:
        if origin.op in ("use", "ret", "if", "operand", "bool"):
            part = origin.parts[-1 if origin.op == "bool" else 0] if origin.parts else None
            return self._made(part, text) if isinstance(part, Origin) else self._given(part, text)
        if origin.op == "sub":
            return self._subscript(*origin.parts)
        if origin.op == "bin":
            return self._joined("", [part for part in origin.parts if type(part) is str], text)
        if origin.op != "call":
            return None
        function, raw, _ = origin.parts
        parts = tuple(plain(part) for part in raw)
        receiver = look(function, "__self__", None)
        name = look(function, "__name__", "")
        if type(receiver) is str:
            return self._text_method(name, receiver, parts, text)
        if is_match(receiver):
            return self._group(receiver, parts[0] if parts else 0)
        if name == "sub":
            return self._substituted(origin, text)
        if function is str and parts and type(parts[0]) is str:
            return self.of(parts[0])
        return None

    def _text_method(self, name: str, receiver: str, parts: tuple[Any, ...], text: str) -> Place | None:
        if name == "join":
            pieces = list(parts[0]) if parts and type(parts[0]) in (list, tuple) else []
            return self._joined(receiver, pieces, text)
        base = self.of(receiver)
        if base is None:
            return None
        if name in ("strip", "lstrip", "rstrip"):
            start = 0 if name == "rstrip" else len(receiver) - len(receiver.lstrip(*parts))
            return base.cut(start, start + len(text))
        if name == "removeprefix":
            return base.cut(len(receiver) - len(text), len(receiver))
        if name == "removesuffix":
            return base.cut(0, len(text))
        if name in _CASE:
            return self._recased(base, receiver, name, text)
        if name == "replace" and len(parts) >= 2 and type(parts[0]) is str and type(parts[1]) is str:
            return self._replaced(base, receiver, parts, text)
        return None

    def _recased(self, base: Place, receiver: str, name: str, text: str) -> Place | None:
        if len(text) == len(receiver):
            return base
        each = base.each()
        positions = [each[index] for index, letter in enumerate(receiver) for _ in getattr(letter, name)()]
        return Place(len(text), None, tuple(positions)) if len(positions) == len(text) else None

    def _replaced(self, base: Place, receiver: str, parts: tuple[Any, ...], text: str) -> Place | None:
        old, new = parts[0], parts[1]
        if not old:
            return None
        each, at = base.each(), 0
        positions: list[int] = []
        while (hit := receiver.find(old, at)) >= 0:
            positions += each[at:hit]
            inside = each[hit : hit + len(old)]
            positions += inside if len(new) == len(old) else _spread(inside, len(new))
            at = hit + len(old)
        positions += each[at:]
        return (
            Place(len(text), None, tuple(positions), base.approximate)
            if len(positions) == len(text)
            else None
        )

    def _substituted(self, origin: Origin, text: str) -> Place | None:
        pattern, subject = _pattern_and_subject(origin, behind=1)
        replacement = plain(origin.parts[1][0 if is_pattern(receiver_of(origin)) else 1]) if pattern else None
        base = self.of(subject) if type(subject) is str else None
        if type(replacement) is not str or base is None:
            return None
        each, at = base.each(), 0
        positions: list[int] = []
        for match in pattern.finditer(subject):
            new = match.expand(replacement)
            positions += each[at : match.start()]
            kept = new and subject.find(new, match.start(), match.end())
            if type(kept) is int and kept >= 0:
                positions += each[kept : kept + len(new)]
            else:
                positions += _spread(each[match.start() : match.end()], len(new))
            at = match.end()
        positions += each[at:]
        return (
            Place(len(text), None, tuple(positions), base.approximate)
            if len(positions) == len(text)
            else None
        )

    def _joined(self, separator: str, pieces: list[Any], text: str) -> Place | None:
        positions: list[int] = []
        known = False
        for index, piece in enumerate(pieces):
            if type(piece) is not str:
                return None
            positions += [-1] * (len(separator) if index else 0)
            place = self.of(piece)
            known = known or place is not None
            positions += place.each() if place is not None else [-1] * len(piece)
        return Place(len(text), None, tuple(positions)) if known and len(positions) == len(text) else None

    # ------------------------------------------------------------------------------ pieces of texts

    def _subscript(self, container: Any, key: Any) -> Place | None:
        if type(container) is str:
            base = self.of(container)
            if base is None:
                return None
            if isinstance(key, slice):
                start, stop, step = key.indices(len(container))
                return base.cut(start, max(start, stop)) if step == 1 else None
            return base.cut(range(len(container))[key], range(len(container))[key] + 1)
        if is_match(container):
            return self._group(container, key)
        if type(container) in (list, tuple) and type(key) is int:
            places = self._pieces(container)
            return places[key] if places is not None and -len(places) <= key < len(places) else None
        return None

    def _group(self, match: Any, group: Any) -> Place | None:
        base = self.of(match.string) if type(match.string) is str else None
        if base is None and type(match.string) is str:
            base = self._searched(match.string)
        try:
            start, end = match.span(group)
        except (IndexError, TypeError):
            return None
        return base.cut(start, end) if base is not None and start >= 0 else None

    def _item_of_list(self, text: str) -> Place | None:
        if len(text) < 2:
            return None
        for items in self.state.lists_of_text:
            for index, item in enumerate(items):
                if item is text:
                    places = self._pieces(items)
                    return places[index] if places is not None and index < len(places) else None
        return None

    def _pieces(self, items: Any) -> list[Place | None] | None:
        """The places of the texts that one call gave together."""
        origin = self.state.identified(items)
        if origin is None or origin.op != "call":
            return None
        function = origin.parts[0]
        receiver, name = look(function, "__self__", None), look(function, "__name__", "")
        if type(receiver) is str:
            base = self.of(receiver)
            return self._split(base, receiver, name, items) if base is not None else None
        if is_match(receiver) and name == "groups":
            return [self._group(receiver, number + 1) for number in range(len(items))]
        if name == "findall":
            return [place for place, _ in self.found_by(origin)]
        return None

    def _item_of_findings(self, text: str) -> Place | None:
        """The place of a text in one of the tuples that `findall` gives where a pattern has several groups."""
        for findings in self.state.lists_of_tuples:
            for at, groups in enumerate(findings):
                for number, item in enumerate(groups):
                    if item is text:
                        origin = self.state.identified(findings)
                        return self._finding(origin, at, number + 1) if origin is not None else None
        return None

    def _finding(self, origin: Origin, at: int, group: int) -> Place | None:
        if origin.op != "call" or look(origin.parts[0], "__name__", "") != "findall":
            return None
        pattern, subject = _pattern_and_subject(origin)
        base = self.of(subject, search=True) if type(subject) is str and len(subject) <= _LONGEST else None
        match = (
            next(itertools.islice(pattern.finditer(subject), at, None), None) if base is not None else None
        )
        return base.cut(*match.span(group)) if base is not None and match is not None else None

    def _split(self, base: Place, receiver: str, name: str, items: Any) -> list[Place | None]:
        if name not in ("split", "rsplit", "splitlines", "partition", "rpartition"):
            return [None] * len(items)
        places: list[Place | None] = []
        at = 0
        for item in items:
            start = receiver.find(item, at)
            places.append(base.cut(start, start + len(item)) if start >= 0 else None)
            at = max(at, start + len(item))
        return places

    def found_by(self, origin: Origin) -> list[tuple[Place | None, tuple[int, int] | None]]:
        """The places of what `findall` found, as it found them: the one group, or the whole match."""
        pattern, subject = _pattern_and_subject(origin)
        if pattern is None:
            return []
        if type(subject) is not str or len(subject) > _LONGEST:
            return []
        base = self.of(subject, search=True)
        if base is None:
            return []
        group = 1 if pattern.groups == 1 else 0
        return [
            (base.cut(*match.span(group)), base.span(*match.span())) for match in pattern.finditer(subject)
        ]
