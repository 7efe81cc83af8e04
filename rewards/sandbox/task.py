"""What a program is tested with, read from the columns of a row.

Three kinds of tests:

    FunctionTests   arguments and the expected value, of one function
    ProgramTests    standard input and the expected standard output
    TestCode        code of the data set: check(candidate), asserts, test functions, unittest classes

`read_tests` knows the shapes these come in.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """One call of a function: arguments and the expected value.

    `wrapped`: the expected value may stand in a list of its own, as some data sets write it.
    """

    arguments: tuple[Any, ...]
    expected: Any
    named: Mapping[str, Any] = field(default_factory=dict)
    wrapped: bool = False


@dataclass(frozen=True)
class FunctionTests:
    """Calls to the function `entry` (a name, or an expression such as `Solution().solve`)."""

    entry: str
    cases: tuple[Case, ...]
    setup: str = ""


@dataclass(frozen=True)
class ProgramTests:
    """Runs of the program as a script: pairs of standard input and expected standard output."""

    cases: tuple[tuple[str, str], ...]
    setup: str = ""


@dataclass(frozen=True)
class TestCode:
    """Code that tests: one text, or single assertions; `setup` runs before it and before the program."""

    __test__ = False  # not a test class of pytest

    text: str = ""
    asserts: tuple[str, ...] | None = None
    entry: str = ""
    setup: str = ""


Tests = FunctionTests | ProgramTests | TestCode


def read_tests(
    tests: Any = None, test: Any = None, entry_point: Any = None, setup: Any = None
) -> Tests | None:
    """The tests of a row; None where it has none.

    Args:
        tests: test cases, or JSON of them: `[arguments, expected]` pairs; mappings with `input` or `args` and
            `output` or `expected`; `{"inputs": [...], "outputs": [...], "fn_name": ...}`; texts of asserts.
        test: code that tests.
        entry_point: the name of the function.
        setup: code that comes before the program and before the tests.

    Raises:
        ValueError: there is something, but nothing that is a test.

    >>> read_tests([[[1, 2], 3]], entry_point="add").cases[0].arguments
    (1, 2)
    >>> read_tests([{"input": "1 2", "output": "3"}]).cases
    (('1 2', '3'),)
    >>> read_tests(test="def check(candidate): assert candidate(1) == 2", entry_point="f").entry
    'f'
    """
    entry = _text("entry_point", entry_point)
    before = _text("setup", setup)
    code = _text("test", test)
    if code.strip():
        return TestCode(code, None, entry, before)
    if isinstance(tests, str):
        if not tests.strip():
            return None
        try:
            tests = json.loads(tests)
        except ValueError:
            return TestCode(tests, None, entry, before)
    if tests is None or len(_sized(tests)) == 0:
        return None
    if isinstance(tests, Mapping):
        tests, entry = _columns(tests, entry)
        if not tests:
            return None
    return _listed(list(tests), entry, before)


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    raise ValueError(f"column '{name}' must hold text, not {type(value).__name__}")


def _sized(tests: Any) -> Any:
    if isinstance(tests, (list, tuple, Mapping)):
        return tests
    raise ValueError(f"column 'tests' must hold a list of tests, not {type(tests).__name__}")


_INPUT = ("input", "stdin", "args", "arguments", "inputs")
_OUTPUT = ("output", "expected", "expected_output", "stdout", "outputs")


def _columns(tests: Mapping[str, Any], entry: str) -> tuple[list[Any], str]:
    """`{"inputs": [...], "outputs": [...]}` or `{"cases": [...]}` as a list, and the entry point it may name."""
    entry = entry or _text("fn_name", tests.get("fn_name") or tests.get("entry_point"))
    for name in ("test_cases", "cases", "tests"):
        if isinstance(tests.get(name), (list, tuple)):
            return list(tests[name]), entry
    inputs, outputs = tests.get("inputs"), tests.get("outputs")
    if not isinstance(inputs, (list, tuple)) or not isinstance(outputs, (list, tuple)):
        raise ValueError("column 'tests' has no lists 'inputs' and 'outputs', and no list 'test_cases'")
    if len(inputs) != len(outputs):
        raise ValueError(f"column 'tests' has {len(inputs)} inputs and {len(outputs)} outputs")
    kind = "function" if entry else "stdin"
    pairs = zip(inputs, outputs, strict=True)
    return [{"input": one, "output": other, "type": kind, "wrapped": True} for one, other in pairs], entry


def _listed(tests: list[Any], entry: str, setup: str) -> Tests:
    if all(isinstance(test, str) for test in tests):
        for test in tests:
            try:
                ast.parse(test)
            except (SyntaxError, ValueError) as error:
                raise ValueError(f"column 'tests': {test[:60]!r} is no Python ({error})") from None
        return TestCode("", tuple(tests), entry, setup)
    cases = [_read(test) for test in tests]
    names = {case.name for case in cases if case.name}
    entry = entry or (names.pop() if len(names) == 1 else "")
    kinds = {case.kind or ("function" if entry else "stdin") for case in cases}
    if kinds == {"stdin"}:
        return ProgramTests(tuple((_lines(case.given), _lines(case.wanted)) for case in cases), setup)
    if kinds != {"function"}:
        raise ValueError("column 'tests' mixes tests of a function with tests of standard input")
    if not entry:
        raise ValueError("the tests call a function: name it in a column 'entry_point'")
    return FunctionTests(entry, tuple(_call(case) for case in cases), setup)


@dataclass(frozen=True)
class _Read:
    """A test as written; `kind` is "function", "stdin", or "" for: see whether there is an entry point."""

    given: Any
    wanted: Any
    kind: str = ""
    name: str = ""
    wrapped: bool = False


def _read(test: Any) -> _Read:
    if isinstance(test, Mapping):
        return _read_mapping(test)
    if isinstance(test, (list, tuple)) and len(test) == 2:
        return _Read(test[0], test[1], "" if all(isinstance(part, str) for part in test) else "function")
    raise ValueError(f"column 'tests': {str(test)[:60]} is no pair of input and output")


def _read_mapping(test: Mapping[str, Any]) -> _Read:
    given = _key(test, _INPUT)
    wanted = _key(test, _OUTPUT)
    if given is None or wanted is None:
        raise ValueError(
            f"column 'tests': a test with keys {', '.join(map(str, test))} lacks input or output"
        )
    kind = _KINDS.get(str(test.get("type") or test.get("testtype") or ""), "")
    kind = {"args": "function", "arguments": "function", "stdin": "stdin"}.get(given, kind)
    value, output = test[given], test[wanted]
    if kind == "function" and isinstance(value, str):
        value, output = [_written(line) for line in value.splitlines() if line.strip()], _written(output)
    name = test.get("fn_name")
    return _Read(value, output, kind, name if isinstance(name, str) else "", bool(test.get("wrapped")))


def _key(test: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The key of a test that is there and filled; tables fill missing ones with None."""
    there = [name for name in names if name in test]
    return next((name for name in there if test[name] is not None), there[0] if there else None)


_KINDS = {
    "stdin": "stdin",
    "stdin_stdout": "stdin",
    "function": "function",
    "function_call": "function",
    "functional": "function",
}


def _written(value: Any) -> Any:
    """A value written as JSON or as a Python literal; the text itself where it is neither."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        pass
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


def _call(case: _Read) -> Case:
    if isinstance(case.given, Mapping):
        return Case((), case.wanted, dict(case.given), case.wrapped)
    given = case.given if isinstance(case.given, (list, tuple)) else (case.given,)
    return Case(tuple(given), case.wanted, {}, case.wrapped)


def _lines(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"column 'tests': standard input and output must be text, not {type(value).__name__}")
