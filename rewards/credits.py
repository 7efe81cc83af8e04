"""Named partial credit: a reward may say by itself what each part of a score is for.

    score += credit("opening tag", 0.25 if "<answer>" in text else 0.0, of=0.25)

`credit` returns its points and costs one function call where nobody records. Inside a `recording` every call
is kept and given to the row it belongs to. A reward is called with all rows at once, so the row is found by
looking for one of the completions among the variables of the code that called. A variable may be left over from
an earlier loop, so that counts where the credits then add up to the returned scores. Else, where the credits,
taken in order, can be cut in exactly one way into groups that add up, they are given to rows that way; else those
stay with their rows that one place in the code gave to several rows, as a loop over the rows does, and any other
belongs to no row: its `row` is None. Nothing is guessed.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from re import Match
from types import FrameType
from typing import Any, TypeVar

from rewards.writable import writable_parts

Points = TypeVar("Points", bound=float)

Span = tuple[int, int]

_FRAMES = 12
"""Callers looked through for the completion that a credit is about."""


@dataclass(frozen=True)
class NamedCredit:
    """One call to `credit`: what for, how much, of at most how much, where in the text, and of which row."""

    name: str
    points: float
    of: float | None
    spans: tuple[Span, ...]
    note: str | None
    line: int
    row: int | None
    file: str = ""

    def to_json(self) -> dict[str, Any]:
        """JSON-ready; an infinite or undefined number is text."""
        return {
            "name": self.name,
            "points": _json_number(self.points),
            "of": _json_number(self.of),
            "spans": [list(span) for span in self.spans],
            "note": self.note,
            "line": self.line,
            "file": self.file,
        }


def credit(
    name: str,
    points: Points,
    *,
    of: float | None = None,
    span: Span | Match[str] | Sequence[Span] | None = None,
    note: str | None = None,
) -> Points:
    """Say that `points` are given for `name`, and return them unchanged.

    Args:
        name: what they are for, as a reader would say it.
        points: the amount; negative for a penalty, 0 for a part that was missed.
        of: the most this part can give, if that is known.
        span: the place in the completion it is about: `(start, end)` in characters, several of them, or a
            regular expression's match.
        note: a word more for the reader.

    >>> credit("tag", 0.25, of=0.25)
    0.25
    """
    record = _record.get()
    if _observer is None and record is None:
        return points
    name, note = writable_parts(name), writable_parts(note)
    if _observer is not None:
        _observer(name, points, of, span, note)
    if record is not None:
        record.add(name, points, of, span, note, sys._getframe(1))
    return points


Observer = Callable[[str, Any, "float | None", Any, "str | None"], None]

_observer: Observer | None = None


def observe(observer: Observer | None) -> None:
    """Tell `observer` of every credit from now on (tracing does); None ends it."""
    global _observer
    _observer = observer


@dataclass
class Recording:
    """The credits of one call to a reward with `rows` rows."""

    rows: int
    completions: Sequence[Any] = ()
    credits: list[NamedCredit] = field(default_factory=list)

    @cached_property
    def _owner(self) -> dict[int, int | None]:
        """The row an object belongs to, by its identity; None for one that several rows share."""
        owner: dict[int, int | None] = {}
        for row, completion in enumerate(self.completions):
            for thing in _parts_of(completion):
                owner[id(thing)] = None if id(thing) in owner else row
        return owner

    def add(
        self, name: str, points: Any, of: float | None, span: Any, note: str | None, frame: FrameType
    ) -> None:
        """Keep one credit; called by `credit`."""
        row = 0 if self.rows == 1 else self._row_of(frame)
        file = frame.f_code.co_filename
        self.credits.append(
            NamedCredit(str(name), _number(points), of, spans_of(span), note, frame.f_lineno, row, file)
        )

    def _row_of(self, frame: FrameType | None) -> int | None:
        for _ in range(_FRAMES):
            if frame is None:
                return None
            rows = {self._owner[id(value)] for value in frame.f_locals.values() if id(value) in self._owner}
            if len(rows) == 1:
                return rows.pop()
            if rows:
                return None
            frame = frame.f_back
        return None

    def by_row(self, scores: Sequence[Any] | None = None) -> list[list[dict[str, Any]]]:
        """The credits of each row, JSON-ready.

        Args:
            scores: what the reward returned, used where the callers' variables did not tell the row.
        """
        rows: list[list[dict[str, Any]]] = [[] for _ in range(self.rows)]
        if not self.credits:
            return rows
        if scores is not None and self.rows > 1 and not self._add_up(scores):
            self._by_sums(scores)
        for credit in self.credits:
            if credit.row is not None:
                rows[credit.row].append(credit.to_json())
        return rows

    def _add_up(self, scores: Sequence[Any]) -> bool:
        """Whether every credit has a row, and those of each row make up its score, where it has one."""
        points: list[list[float]] = [[] for _ in range(self.rows)]
        for credit in self.credits:
            if credit.row is None:
                return False
            points[credit.row].append(credit.points)
        return len(scores) == self.rows and all(
            not math.isfinite(score) or _equal(sum(given), score)
            for given, score in zip(points, map(_number, scores), strict=True)
        )

    def _by_sums(self, scores: Sequence[Any]) -> None:
        """Rows by sums where these tell them; else no rows but where one place in the code gave to several."""
        cuts: Sequence[int | None] | None = None
        if len(scores) == self.rows:
            cuts = cut_by_sums(
                [credit.points for credit in self.credits], [_number(score) for score in scores]
            )
        if cuts is None:
            told = self._telling_places()
            cuts = [credit.row if (credit.file, credit.line) in told else None for credit in self.credits]
        self.credits = [replace(credit, row=row) for credit, row in zip(self.credits, cuts, strict=True)]

    def _telling_places(self) -> set[tuple[str, int]]:
        """The places that gave to several rows; with them those of the same file that gave only once."""
        places: dict[tuple[str, int], list[int | None]] = {}
        for credit in self.credits:
            places.setdefault((credit.file, credit.line), []).append(credit.row)
        several = {place for place, rows in places.items() if len(set(rows)) > 1}
        files = {file for file, _ in several}
        return several | {place for place, rows in places.items() if len(rows) == 1 and place[0] in files}

    @property
    def unplaced(self) -> list[NamedCredit]:
        """Credits whose row cannot be told."""
        return [credit for credit in self.credits if credit.row is None]


_record: ContextVar[Recording | None] = ContextVar("credits", default=None)


@contextmanager
def recording(rows: int, completions: Sequence[Any] = ()) -> Iterator[Recording]:
    """Record the credits of one call to a reward.

    Holds for the code run inside, coroutines and threads started with a copied context included.

    Args:
        rows: how many rows the call has; with one row every credit is that row's.
        completions: the very objects the reward gets, to tell the rows apart.
    """
    record = Recording(rows, completions)
    token = _record.set(record)
    try:
        yield record
    finally:
        _record.reset(token)


def active_recording() -> Recording | None:
    """The recording that credits go to at this moment, for code that hands on credits of others; mostly None."""
    return _record.get()


def spans_of(span: Any) -> tuple[Span, ...]:
    """A `span=` argument as pairs; what cannot be read as such gives none."""
    if isinstance(span, Match):
        return (span.span(),)
    if isinstance(span, (list, tuple)):
        if len(span) == 2 and all(isinstance(end, int) for end in span):
            return ((span[0], span[1]),)
        return tuple(pair for part in span for pair in spans_of(part))
    return ()


def _equal(total: float, score: float) -> bool:
    return abs(total - score) <= 1e-9 * max(1.0, abs(score))


def cut_by_sums(points: Sequence[float], scores: Sequence[float]) -> list[int] | None:
    """The row of each point if the points can be cut, in order, in exactly one way into the rows' sums.

    >>> cut_by_sums([0.5, 0.25, 1.0], [0.75, 0.0, 1.0])
    [0, 0, 2]
    """
    if len(points) * len(scores) > 250_000:
        return None
    ways: list[dict[int, tuple[int, int]]] = [{0: (1, 0)}]  # per row: end -> (ways to get there, start)
    for score in scores:
        reached: dict[int, tuple[int, int]] = {}
        for start, (count, _) in ways[-1].items():
            total = 0.0
            for end in range(start, len(points) + 1):
                if _equal(total, score):
                    reached[end] = (reached.get(end, (0, 0))[0] + count, start)
                if end < len(points):
                    total += points[end]
        ways.append(reached)
    if ways[-1].get(len(points), (0, 0))[0] != 1:
        return None
    rows: list[int] = []
    end = len(points)
    for row in range(len(scores) - 1, -1, -1):
        start = ways[row + 1][end][1]
        rows[:0] = [row] * (end - start)
        end = start
    return rows


def _parts_of(completion: Any) -> Iterator[Any]:
    """The objects by which a row is known: the completion, its messages, their texts."""
    if isinstance(completion, str):
        if len(completion) > 1:  # shorter strings are shared by the interpreter
            yield completion
        return
    yield completion
    if isinstance(completion, (list, tuple)):
        for message in completion:
            yield message
            content = message.get("content") if isinstance(message, Mapping) else None
            if isinstance(content, str) and len(content) > 1:
                yield content


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _json_number(value: float | None) -> float | str | None:
    if value is None or value - value == 0.0:
        return value
    return "nan" if value != value else ("inf" if value > 0 else "-inf")
