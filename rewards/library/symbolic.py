"""What our own reading of mathematics cannot decide, asked of math-verify: sums, integrals, limits, sets by condition.

math-verify reads and compares with sympy, which can take for ever on a short text and whose own limit is a
signal that works in no thread but the main one. So two fences stand round it. Texts that are long, deep, or
hold towers of powers, large exponents, factorials or bounds are refused before it sees them. And `within` gives
every question a deadline that works in any thread: it is answered in a thread of its own, in which an exception
is raised when it takes too long.

What is not decided in time, or refused, is not equal.
"""

from __future__ import annotations

import ctypes
import functools
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

LONGEST = 300
DEEPEST = 12
SECONDS = 1.0

Result = TypeVar("Result")

_HELPS = re.compile(
    r"\\(?:sum|prod|int|iint|oint|lim|max|min|sup|inf|gcd|lcm|bmod|pmod|mod|det|arg|Re|Im|setminus|cap|mid|subset|"
    r"operatorname|begin|Gamma|zeta|perp|parallel)(?![a-z])"
)
_PROSE = re.compile(r"(?<![\\A-Za-z{])[A-Za-z]{4,}|[.!?] [A-Z]")
_NUMBER = re.compile(r"[0-9]+")
_FACTORIAL = re.compile(r"([0-9]*)\s*([)}\]]?)\s*!")
_POWER = re.compile(r"(?:\^|\*\*)\s*(\{|\(|-?[0-9]+|.)?", re.DOTALL)
_LIMITS = re.compile(r"\\(?:sum|prod|int|iint|oint|lim|binom)(?![a-z])")


class Overdue(SystemExit):
    """Raised inside work that takes too long. No `Exception`, since sympy catches those; it ends a thread quietly."""


def can_help(text: str) -> bool:
    r"""Whether a text holds something that math-verify may read and we do not.

    >>> can_help(r"\sum_{k=1}^{n} k"), can_help("2 +")
    (True, False)
    """
    return len(text) <= LONGEST and _HELPS.search(text) is not None and _PROSE.search(text) is None


def is_bounded(text: str) -> bool:
    r"""Whether the numbers in a text are small enough for sympy to be asked.

    >>> is_bounded(r"\sum_{k=1}^{10} k^2"), is_bounded("9^{9^{9^9}}"), is_bounded("10000000!")
    (True, False, False)
    """
    if len(text) > LONGEST or _depth(text) > DEEPEST:
        return False
    largest = 10_000 if _LIMITS.search(text) else 10**40
    if any(len(digits) > 40 or int(digits) > largest for digits in _NUMBER.findall(text)):
        return False
    if any(closing or int(digits or 0) > 200 for digits, closing in _FACTORIAL.findall(text)):
        return False
    return all(_is_small_power(text, match) for match in _POWER.finditer(text))


def _is_small_power(text: str, match: re.Match[str]) -> bool:
    first = match[1] or ""
    if first in ("{", "("):
        inside = text[match.end() : _closing(text, match.end())]
        numbers = [int(digits) for digits in _NUMBER.findall(inside)]
        tower = re.search(r"\^|\*\*|!", inside) is not None
        return max(numbers, default=0) <= (9 if tower else 999) and not (tower and _is_all_numbers(inside))
    return not first.lstrip("-").isdigit() or int(first) <= 999


def _is_all_numbers(text: str) -> bool:
    return re.search(r"[A-Za-z]", re.sub(r"\\[A-Za-z]+", "", text)) is None


def _closing(text: str, start: int) -> int:
    depth = 1
    for place in range(start, len(text)):
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return len(text)


def _depth(text: str) -> int:
    deepest = depth = 0
    for character in text:
        depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(character, 0)
        deepest = max(deepest, depth)
    return deepest


@functools.lru_cache(maxsize=1024)  # a reference comes once for every completion of its prompt
def parsed(text: str) -> tuple[Any, ...]:
    """What math-verify reads in a text: sympy's objects; () where it reads nothing, or was not asked."""
    if not is_bounded(text):
        return ()
    _load()
    return tuple(within(SECONDS, lambda: _parse(text)) or ())


@functools.lru_cache(maxsize=1024)
def equal(gold: str, found: str) -> bool:
    r"""Whether math-verify finds that `found` answers `gold`.

    >>> equal(r"\sum_{k=1}^{4} k", "10")
    True
    """
    wanted, got = parsed(gold), parsed(found)
    if not wanted or not got:
        return False
    return bool(within(SECONDS, lambda: _verify(list(wanted), list(got))))


@functools.lru_cache(maxsize=1)
def _load() -> None:
    """Import math-verify, which takes longer than a question, and tell it that the limit is ours."""
    from math_verify import grader, parser

    parser.TIMEOUT_WARNING_SHOWN = grader.TIMEOUT_WARNING_SHOWN = True


def _parse(text: str) -> list[Any]:
    from math_verify import LatexExtractionConfig, parse

    config = [LatexExtractionConfig(boxed_match_priority=0)]
    return list(parse(rf"\boxed{{{text}}}", config, fallback_mode="no_fallback", parsing_timeout=None))


def _verify(gold: list[Any], found: list[Any]) -> bool:
    from math_verify import verify

    return bool(verify(gold, found, timeout_seconds=None))


def within(seconds: float, work: Callable[[], Result]) -> Result | None:
    """The result of `work()`, or None where it takes more than `seconds` of the processor's time.

    The processor's time, so that a busy machine changes no score. Works in any thread: the work is done in a thread
    of its own, which is gone when this returns, and only that one is ever interrupted. What runs inside one
    instruction of the interpreter (a huge integer power) is waited for; that is what `is_bounded` is for.

    >>> within(1.0, lambda: 7)
    7
    """
    job = _Job(work)
    job.thread.start()
    try:
        end = time.process_time() + seconds
        while not job.finished.wait(max(end - time.process_time(), 0.02)) and job.thread.is_alive():
            if time.process_time() >= end:
                with _quiet():
                    while not job.finished.wait(0.02) and job.thread.is_alive():
                        job.interrupt()  # again and again, should it be caught on the way
    finally:
        if not job.finished.is_set():  # the caller itself was stopped
            job.interrupt()
        job.released.set()
    job.thread.join()
    if job.error is not None:
        raise job.error
    return job.result


@contextmanager
def _quiet() -> Iterator[None]:
    """Say nothing of an `Overdue` that was raised inside the garbage collection, where it has no effect."""
    before = sys.unraisablehook

    def hook(unraisable: Any) -> None:
        if unraisable.exc_type is not Overdue:
            before(unraisable)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        if sys.unraisablehook is hook:
            sys.unraisablehook = before


class _Job(Generic[Result]):
    """Work in a thread of its own; the thread stays until it is released, so that no other can be hit instead."""

    def __init__(self, work: Callable[[], Result]) -> None:
        self.work = work
        self.result: Result | None = None
        self.error: Exception | None = None
        self.finished = threading.Event()
        self.released = threading.Event()
        self.thread = threading.Thread(target=self._run, name="question", daemon=True)

    def _run(self) -> None:
        try:
            self.result = self.work()
        except Overdue:
            pass
        except Exception as error:  # noqa: BLE001  # raised again by `within`
            self.error = error
        while not self.released.is_set():
            try:
                self.finished.set()
                self.released.wait()
            except Overdue:
                continue

    def interrupt(self) -> None:
        """Have `Overdue` raised in the thread."""
        ident = ctypes.c_ulong(self.thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(Overdue))
