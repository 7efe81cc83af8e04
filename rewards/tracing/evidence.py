"""The places in a completion that a condition or an amount was about."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rewards.tracing.looking import look
from rewards.tracing.places import Places, is_match
from rewards.tracing.provenance import Origin, hard_test, plain
from rewards.tracing.state import tests_of

_DEEPEST = 30
_MOST = 60


@dataclass(frozen=True)
class Spans:
    """Places in the completion, in order; `approximate`: at least one was found by searching."""

    spans: tuple[tuple[int, int], ...] = ()
    approximate: bool = False


class Evidence:
    """Gathers places from origins."""

    def __init__(self, places: Places) -> None:
        self.places = places
        text = places.completion
        self._start = len(text) - len(text.lstrip())
        self._end = len(text.rstrip())
        self._spans: dict[tuple[int, int], bool] = {}
        self._visited: set[int] = set()

    def of(self, *things: Any) -> Spans:
        """The places that origins, texts and matches are about.

        The whole text is evidence only where it was matched: that its length was measured says nothing.
        """
        self._spans, self._visited = {}, set()
        for thing in things:
            self._gather(thing, 0)
        kept = sorted(self._spans.items())[:_MOST]
        return Spans(tuple(span for span, _ in kept), any(rough for _, rough in kept))

    def _add(self, span: tuple[int, int] | None, approximate: bool, *, matched: bool = True) -> None:
        whole = span is not None and span[0] <= self._start and span[1] >= self._end
        if span is None or span[0] == span[1] or (whole and not matched):
            return
        self._spans[span] = self._spans.get(span, True) and approximate

    def _gather(self, thing: Any, depth: int) -> None:
        if depth > _DEEPEST or len(self._spans) > _MOST:
            return
        if isinstance(thing, Origin):
            if type(thing.value) is str:
                place = self.places.of_origin(thing)
                if place is not None:
                    self._add(place.span(0, len(thing.value)), place.approximate, matched=False)
                return
            if id(thing) not in self._visited:
                self._visited.add(id(thing))
                method = getattr(self, f"_on_{thing.op}", None)
                if method is not None:
                    method(thing, depth + 1)
                elif thing.op != "load":
                    self._each(thing.parts, depth + 1)
        elif type(thing) is str:
            place = self.places.of(thing)
            if place is not None:
                self._add(place.span(0, len(thing)), place.approximate, matched=False)
        elif is_match(thing):
            self._match(thing)
        elif type(thing) in (list, tuple, set):
            self._each(tests_of(thing) or (), depth + 1)
            origin = self.places.state.identified(thing)
            if origin is not None and origin.op == "call":
                self._gather(origin, depth + 1)

    def _each(self, things: Iterable[Any], depth: int) -> None:
        for thing in things:
            self._gather(thing, depth)

    # ------------------------------------------------------------------------------------- by kind

    def _on_const(self, origin: Origin, depth: int) -> None:
        """A constant that stands for a test, like `found = True` under an `if`."""
        if origin.place.assigned and depth > 1:
            self._gather(origin.guard, depth)

    def _on_bin(self, origin: Origin, depth: int) -> None:
        """A sum; a counter that was counted up under a test stands for that test."""
        if origin.place.kind in ("aug", "augslot"):
            self._gather(hard_test(origin), depth)
        self._each(origin.parts, depth)

    def _on_sub(self, origin: Origin, depth: int) -> None:
        pass

    def _on_named(self, origin: Origin, depth: int) -> None:
        pass

    def _on_sum(self, origin: Origin, depth: int) -> None:
        self._each((part for value, part in origin.parts[0] if value), depth)

    _on_mean = _on_sum

    def _on_any(self, origin: Origin, depth: int) -> None:
        seen = origin.parts[0]
        self._each(
            (part for value, part in seen if bool(value) == origin.value) if origin.value else (), depth
        )

    def _on_all(self, origin: Origin, depth: int) -> None:
        seen = origin.parts[0]
        self._each((part for _, part in seen), depth)

    def _on_pick(self, origin: Origin, depth: int) -> None:
        self._each((part for _, part in origin.parts[0]), depth)

    def _match(self, match: Any) -> None:
        if type(match.string) is not str:
            return
        place = self.places.of(match.string, search=True)
        if place is not None:
            self._add(place.span(*match.span()), place.approximate)

    def _on_cmp(self, origin: Origin, depth: int) -> None:
        left, right = origin.parts
        if isinstance(left, Origin) and type(left.value) is str and isinstance(right, str):
            self._gather(left, depth)  # a single character, followed by its place in the code
            left = left.value
        if origin.place.extra in (ast.In, ast.NotIn):
            self._contained(left, right)
        else:
            before = len(self._spans)
            self._each((side for side in (left, right) if not _is_counter(side)), depth)
            if len(self._spans) == before:  # how far a counter has come is of interest where nothing else is
                self._each((side for side in (left, right) if _is_counter(side)), depth)

    def _contained(self, needle: Any, hay: Any) -> None:
        if type(hay) is str and type(needle) is str:
            place = self.places.of(hay, search=True)
            start = hay.find(needle)
            if place is not None and start >= 0:
                self._add(place.span(start, start + len(needle)), place.approximate)
        elif type(needle) is str:
            self._gather(needle, 1)
            if type(hay) in (list, tuple, set, frozenset):
                for item in hay:
                    if type(item) is str and item == needle:
                        self._gather(item, 1)
                        break

    def _on_call(self, origin: Origin, depth: int) -> None:
        function, parts, named = origin.parts
        receiver, name = look(function, "__self__", None), look(function, "__name__", "")
        if type(receiver) is str and self._text_test(receiver, name, parts, origin.value):
            return
        if is_match(receiver):
            self._gather(receiver, depth)
            return
        if name == "findall":
            for place, whole in self.places.found_by(origin):
                self._add(whole, place is not None and place.approximate)
            return
        if is_match(origin.value):
            self._match(origin.value)
            return
        if name in ("split", "rsplit", "splitlines", "partition", "rpartition"):
            return
        self._each((*parts, *named.values()), depth)
        if type(receiver) is str:
            self._gather(receiver, depth)

    def _text_test(self, receiver: str, name: str, parts: tuple[Any, ...], value: Any) -> bool:
        """The places of a text method's finding; False for methods that find nothing."""
        wanted = plain(parts[0]) if parts else None
        if name not in ("startswith", "endswith", "find", "rfind", "index", "rindex", "count"):
            return False
        place = self.places.of(receiver, search=True)
        if place is None:
            return True
        if name in ("startswith", "endswith"):
            options = wanted if isinstance(wanted, tuple) else (wanted,)
            hit = next((part for part in options if value and getattr(receiver, name)(part)), None)
            if hit:
                start = 0 if name == "startswith" else len(receiver) - len(hit)
                self._add(place.span(start, start + len(hit)), place.approximate)
        elif type(wanted) is str and name == "count":
            start = receiver.find(wanted)
            while wanted and start >= 0:
                self._add(place.span(start, start + len(wanted)), place.approximate)
                start = receiver.find(wanted, start + len(wanted))
        elif type(wanted) is str and type(value) is int and value >= 0:
            self._add(place.span(value, value + len(wanted)), place.approximate)
        return True


def _is_counter(side: Any) -> bool:
    """True for a number that statements have added to."""
    while isinstance(side, Origin) and side.op in ("use", "ret") and side.parts:
        side = side.parts[0]
    return isinstance(side, Origin) and side.op == "bin" and side.place.kind in ("aug", "augslot")
