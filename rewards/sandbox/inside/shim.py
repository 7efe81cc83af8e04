"""A small stand-in for pytest, which the sandbox does not have.

Of pytest: `raises`, `approx`, `mark.parametrize`, `skip`, `fail`; other marks do nothing; fixtures are refused.
"""

from __future__ import annotations

import inspect
import itertools
import math
import re
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from rewards.sandbox.inside.remote import Ungradable


class Skipped(BaseException):
    """A test that did not want to run; it counts neither way."""


def install() -> None:
    """Make `import pytest` give the stand-in where pytest is not there."""
    module = types.ModuleType("pytest")
    vars(module).update(
        raises=_Raises,
        approx=_Approx,
        mark=_Marks(),
        skip=_skip,
        fail=_fail,
        fixture=_fixture,
        main=lambda: 0,
    )
    sys.modules["pytest"] = module


def calls(
    name: str, function: Callable[..., Any], owner: Any = None
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The calls to a test function: one, or one for each set of its parameters."""
    sets: list[dict[str, Any]] = getattr(function, "__parameters__", [{}])
    lacking = set(inspect.signature(function).parameters) - set(sets[0])
    if lacking:
        raise Ungradable(f"{name} wants {', '.join(sorted(lacking))}, and there are no fixtures")
    before = getattr(owner, "setup_method", None)
    for number, values in enumerate(sets, 1):
        label = name if len(sets) == 1 else f"{name}[{number}]"
        yield label, _call(function, values, before)


def _call(function: Callable[..., Any], values: dict[str, Any], before: Any) -> Callable[[], Any]:
    def run() -> None:
        if before is not None:
            before()
        function(**values)

    return run


class _Raises:
    def __init__(self, expected: Any, *call: Any, match: str | None = None, **named: Any) -> None:
        self.expected, self.match, self.value = expected, match, None
        self.type: type[BaseException] | None = None
        if call:
            with self:
                call[0](*call[1:], **named)

    def __enter__(self) -> _Raises:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if kind is None:
            raise AssertionError(f"did not raise {self.expected}")
        if not issubclass(kind, self.expected):
            return False
        self.type, self.value = kind, error
        if self.match is not None and not re.search(self.match, str(error)):
            raise AssertionError(f"{str(error)!r} does not match {self.match!r}")
        return True


class _Approx:
    def __init__(self, expected: Any, rel: float | None = None, abs: float | None = None) -> None:
        self.expected = expected
        self.rel = 1e-6 if rel is None and abs is None else rel or 0.0
        self.abs = 1e-12 if abs is None else abs

    def __eq__(self, other: object) -> bool:
        return self._close(self.expected, other)

    __hash__ = None  # type: ignore[assignment]

    def _close(self, wanted: Any, got: Any) -> bool:
        if isinstance(wanted, dict):
            return (
                isinstance(got, dict)
                and wanted.keys() == got.keys()
                and all(self._close(item, got[key]) for key, item in wanted.items())
            )
        if isinstance(wanted, (list, tuple)):
            return (
                type(got) is type(wanted)
                and len(got) == len(wanted)
                and all(self._close(*pair) for pair in zip(wanted, got, strict=True))
            )
        if isinstance(wanted, (int, float)) and isinstance(got, (int, float)):
            return math.isclose(got, wanted, rel_tol=self.rel, abs_tol=self.abs)
        return bool(wanted == got)


class _Marks:
    def __getattr__(self, name: str) -> Any:
        return _parametrize if name == "parametrize" else _nothing


def _nothing(*values: Any, **named: Any) -> Any:
    if len(values) == 1 and callable(values[0]) and not named:
        return values[0]
    return lambda function: function


def _parametrize(names: Any, rows: Any, **options: Any) -> Callable[[Any], Any]:
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    sets = [dict(zip(listed, row if len(listed) > 1 else (row,), strict=True)) for row in rows]

    def mark(function: Any) -> Any:
        before = getattr(function, "__parameters__", [{}])
        function.__parameters__ = [{**one, **other} for one, other in itertools.product(before, sets)]
        return function

    return mark


def _skip(*reason: Any, **named: Any) -> None:
    raise Skipped


def _fail(reason: str = "", **named: Any) -> None:
    raise AssertionError(reason)


def _fixture(*values: Any, **named: Any) -> Any:
    raise Ungradable("the tests use pytest fixtures, which the sandbox does not have")
