"""What a call to a reward prints, and for which of its rows.

A reward prints while it goes through its rows, and nothing in the text says for which. The variables of the code that
prints do, where one of them holds a completion of the call, the very object: the variable of a loop while it is in
that loop, or the parameter of a function. A variable left over from a loop that has ended tells nothing. What is
printed where no row can be told belongs to the call alone.
"""

from __future__ import annotations

import ast
import functools
import io
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from rewards.writable import writable

_FRAMES = 12
"""Callers looked at: a logger has several of its own."""

_WRITES = 5_000
"""Pieces of text of one call that are given to rows; what comes after belongs to the call alone."""

_INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>")


class Printed(io.StringIO):
    """A stream that keeps what is written to it; `rows` has the text of each row for which it was written."""

    def __init__(self, completions: Sequence[Any]) -> None:
        super().__init__()
        self.rows: dict[int, str] = {}
        self._completions = completions
        self._owners: dict[int, int | None] | None = None
        self._writes = 0

    def write(self, text: str, /) -> int:
        """Keep a text."""
        length = super().write(text)
        self._writes += 1
        if self._writes <= _WRITES:
            row = 0 if len(self._completions) == 1 else self._row_of(sys._getframe(1))
            if row is not None:
                self.rows[row] = self.rows.get(row, "") + writable(text)
        return length

    def getvalue(self) -> str:
        """All that was written, as text that can be written elsewhere."""
        return writable(super().getvalue())

    def _row_of(self, frame: FrameType | None) -> int | None:
        if self._owners is None:
            self._owners = {}
            for row, completion in enumerate(self._completions):
                for part in _parts_of(completion):
                    self._owners[id(part)] = None if id(part) in self._owners else row
        for _ in range(_FRAMES):
            if frame is None:
                return None
            held = {
                name: self._owners[id(value)]
                for name, value in frame.f_locals.items()
                if id(value) in self._owners
            }
            rows = {row for name, row in held.items() if _is_current(name, frame)}
            if held:
                return rows.pop() if len(rows) == 1 else None
            frame = frame.f_back
        return None


def _parts_of(completion: Any) -> Iterator[Any]:
    """The objects that stand for a completion: itself, its messages, their texts; never a text that others share."""
    if isinstance(completion, str):
        if len(completion) > 1:  # Python has each single character once
            yield completion
        return
    yield completion
    if isinstance(completion, list):
        for message in completion:
            yield message
            content = message.get("content") if isinstance(message, dict) else None
            if isinstance(content, str) and len(content) > 1:
                yield content


def _is_current(name: str, frame: FrameType) -> bool:
    """Whether a variable says what the code is at now: that of a loop it is in, or a parameter."""
    code = frame.f_code
    if code.co_name in _INNER or name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return True
    return any(
        first <= frame.f_lineno <= last and name in names for first, last, names in _loops(code.co_filename)
    )


@functools.lru_cache(maxsize=64)
def _loops(file: str) -> list[tuple[int, int, frozenset[str]]]:
    """The loops of a file: first and last line, and the names they bind."""
    try:
        with open(file, "rb") as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    kinds = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    return [
        (loop.lineno, loop.end_lineno or loop.lineno, _bound(loop))
        for loop in ast.walk(tree)
        if isinstance(loop, kinds)
    ]


def _bound(loop: ast.AST) -> frozenset[str]:
    """Names that a loop binds, its `else` left aside."""
    inside = [child for child in ast.iter_child_nodes(loop) if child not in getattr(loop, "orelse", [])]
    return frozenset(
        node.id
        for child in inside
        for node in ast.walk(child)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
