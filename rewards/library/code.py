"""Code: the program in a completion, its syntax, and the tests it passes.

Programs are run in the sandbox (`rewards.sandbox`), never here, and judged from outside: expected values do not
enter their process, what they print and how they exit is not believed.
"""

from __future__ import annotations

# ruff: noqa: PT028  # `tests_passed` is a reward, not a test of pytest
import hashlib
import os
import pickle
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.errors import SandboxError
from rewards.library.blanks import is_blank
from rewards.library.extraction import Found, after_thinking
from rewards.library.parameters import number, one_of, whole_number, wrong
from rewards.library.programs import LANGUAGES, fenced_blocks, find_program, has_statement, syntax_error
from rewards.marks import reward
from rewards.sandbox import DECLARED, Level, Limits, Sandbox, TestsError, Verdict, grade_all, read_tests
from rewards.sandbox.oneshot import OneShot, backend_of
from rewards.sandbox.task import FunctionTests, TestCode, Tests

PAID = ("all", "share")


@reward(kind="format", weight=0.5, range=(0.0, 1.0))
def code_block_present(completions: list[Any], **columns: Any) -> list[float | None]:
    """Reward a fenced block of Python.

    1.0 where a completion has, after its thinking, a block fenced with three back-quotes or tildes that says
    `python` or `py`, is closed, and is not blank; else 0.0. What it holds is not looked at: `valid_python` is there
    for that.

    Args:
        completions: chat or plain text.

    Returns:
        One of 0.0, 1.0 per completion; never None.

    >>> code_block_present(["```python\\nx = 1\\n```", "```\\nx = 1\\n```", "```python\\nx = 1"])
    [1.0, 0.0, 0.0]
    """
    return [_block(completion_text(completion)) for completion in completions]


@reward(kind="format", weight=0.5, range=(0.0, 1.0))
def valid_python(completions: list[Any], **columns: Any) -> list[float | None]:
    """Reward a program without syntax error.

    1.0 where the program of a completion (`rewards.library.programs.find_program`: the last fenced block of Python,
    or a text that is nothing but Python) compiles and is more than comments; else 0.0. It is never run.

    Args:
        completions: chat or plain text.

    Returns:
        One of 0.0, 1.0 per completion; never None.

    >>> valid_python(["```python\\nx = 1\\n```", "```python\\nx = = 1\\n```", "no program", "x = 1"])
    [1.0, 0.0, 0.0, 1.0]
    """
    return [_valid(completion_text(completion)) for completion in completions]


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), abstains=True, timeout_s=60.0)
def tests_passed(
    completions: list[Any],
    tests: Any = None,
    *,
    test: Any = None,
    entry_point: Any = None,
    setup: Any = None,
    paid: str = "all",
    tolerance: float = 0.0,
    seconds: float = 3.0,
    program_memory_mb: int = 1024,
    packages: Any = (),
    isolation: str = DECLARED.value,
    backend: str = "",
    workers: int = 0,
    log_extra: Callable[[str, list[Any]], None] | None = None,
    **columns: Any,
) -> list[float | None]:
    """Reward a program that passes its tests.

    The program of a completion is run in the sandbox against the tests of its own row. Tests are test cases in a
    column `tests` (`[arguments, expected]` pairs for the function `entry_point`; input and output text for a
    program that reads and prints; `{"inputs": ..., "outputs": ..., "fn_name": ...}`; assert statements; any of them
    as JSON text) or test code in a column `test` (`check(candidate)` for the function `entry_point`; test functions
    and unittest classes that import the program as `solution`). `setup` is code that both need first.

    Values are equal as in Python, but a list equals a tuple; printed text is equal line by line without the white
    space at line ends. A program that does not load, hangs, dies, prints or writes too much fails what it did not
    answer. Objects are judged by the plain values they give, never by their own opinion of what they equal.

    Beside the scores, the columns `sandbox` (the level of isolation) and `tests passed` are logged.

    Args:
        completions: chat or plain text.
        tests, test, entry_point, setup: columns as above; `entry_point` and `setup` may be one text for all.
        paid: "all": 1.0 for all tests, else 0.0; "share": the share of tests passed.
        tolerance: numbers with a fraction may differ by that much, absolutely or relatively.
        seconds: time for all calls of a function's tests or test code, and for each run with input.
        program_memory_mb: memory of a program.
        packages: what programs may import besides the standard library, such as ["numpy"].
        isolation: the level below which no program is run: "landlock", "bubblewrap" (`doctor` tells what there is).
        backend: "": this machine; "docker" or "podman", with ":IMAGE"; "http://...": a sandbox service.
        workers: programs that run at the same time; 0: one a core, at most four.

    Returns:
        From 0.0 to 1.0 per completion; None where the row has no tests.

    Raises:
        ValueError: if there is no column of tests, a row's tests cannot be used, or a parameter is not what it
            should be.
        SandboxError: if this machine cannot run model-written code as safely as asked, or the sandbox fails.

    >>> add = "```python\\ndef add(a, b):\\n    return a {} b\\n```".format
    >>> tests_passed([add("+"), add("-")], tests=[[[[1, 2], 3], [[5, 0], 5]]] * 2, entry_point="add")
    [1.0, 0.0]
    >>> tests_passed([add("-")], tests=[[[[1, 2], 3], [[5, 0], 5]]], entry_point="add", paid="share")
    [0.5]
    """
    one_of("tests_passed", "paid", paid, PAID)
    box = _sandbox(str(isolation), _packages(packages), str(backend))
    limits = Limits(
        seconds=number("tests_passed", "seconds", seconds, 0.1, 600.0),
        memory=whole_number("tests_passed", "program_memory_mb", program_memory_mb, least=64) << 20,
    )
    grading = {
        "limits": limits,
        "tolerance": number("tests_passed", "tolerance", tolerance, 0.0, 1.0),
        "stop": paid == "all",
        "workers": whole_number("tests_passed", "workers", workers, least=0) or _cores(),
    }
    if tests is None and test is None and completions:
        raise ValueError(
            "reward 'tests_passed' needs a column 'tests' (test cases) or 'test' (test code); "
            'map yours with [data] columns = { NAME = "tests" }'
        )
    texts = [completion_text(completion) for completion in completions]
    rows = _rows(len(texts), tests=tests, test=test, entry_point=entry_point, setup=setup)
    found = [
        None if one is None else find_program(text, entry_point=_entry(one))
        for text, one in zip(texts, rows, strict=True)
    ]
    verdicts = _verdicts(box, rows, found, grading)
    if log_extra is not None:
        log_extra("sandbox", ["" if one is None or not one.outcomes else one.level.value for one in verdicts])
        log_extra(
            "tests passed", ["" if one is None else f"{one.passed}/{len(one.outcomes)}" for one in verdicts]
        )
    return [
        _paid(text, one, paid) if row is not None else None
        for text, row, one in zip(texts, rows, verdicts, strict=True)
    ]


# ----------------------------------------------------------------------------------------- single texts


def _block(text: str) -> float:
    blocks, _ = fenced_blocks(text, after_thinking(text).start)
    block = next(
        (one for one in reversed(blocks) if one.form in LANGUAGES[:-1] and not is_blank(one.text)), None
    )
    return credit("a block of Python", float(block is not None), of=1.0, span=block.span if block else None)


def _valid(text: str) -> float:
    program = find_program(text)
    error = "no program" if program is None else syntax_error(program.text)
    if program is not None and error is None and not has_statement(program.text):
        error = "nothing but comments"
    span = program.span if program is not None else None
    return credit("compiles", float(error is None), of=1.0, span=span, note=error)


# ------------------------------------------------------------------------------------------- the tests


def _rows(count: int, **columns: Any) -> list[Tests | None]:
    """The tests of each row."""
    filled = {name: _column(name, value, count) for name, value in columns.items()}
    rows: list[Tests | None] = []
    for row in range(count):
        try:
            rows.append(read_tests(**{name: values[row] for name, values in filled.items()}))
        except ValueError as error:
            raise ValueError(f"reward 'tests_passed', row {row}: {error}") from None
    return rows


def _column(name: str, value: Any, count: int) -> Sequence[Any]:
    if value is None:
        return [None] * count
    if isinstance(value, str) and name in ("entry_point", "setup", "test"):
        return [value] * count
    if isinstance(value, (list, tuple)) and len(value) == count:
        return value
    raise ValueError(f"reward 'tests_passed': {name} must be a column with one entry for each completion")


def _entry(tests: Tests) -> str:
    return tests.entry if isinstance(tests, (FunctionTests, TestCode)) else ""


def _packages(packages: Any) -> tuple[str, ...]:
    if isinstance(packages, (list, tuple)) and all(isinstance(name, str) and name for name in packages):
        return tuple(packages)
    raise wrong("tests_passed", "packages", packages, 'a list of names of packages, such as ["numpy"]')


def _cores() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(4, cores)


# ----------------------------------------------------------------------------------------- the verdicts


@lru_cache(maxsize=8)
def _sandbox(isolation: str, packages: tuple[str, ...], backend: str) -> Sandbox | OneShot:
    """One pool for each way of running, which lasts as long as this process."""
    return backend_of(backend) or Sandbox(Level.named(isolation), packages=packages)


_REMEMBERED: OrderedDict[bytes, Verdict] = OrderedDict()
"""Verdicts of a call that then failed for another row: it is called again without that row."""

_MOST_REMEMBERED = 2048
_NO_PROGRAM = "no program"


def _verdicts(
    box: Sandbox | OneShot,
    rows: Sequence[Tests | None],
    found: Sequence[Found | None],
    grading: dict[str, Any],
) -> list[Verdict | None]:
    """The verdict of each row that has tests; equal programs with equal tests are run once.

    Raises:
        SandboxError, ValueError: a row could not be judged; the others are remembered for the next call.
    """
    keys = [
        None if row is None or program is None else _key(program.text, row, grading)
        for row, program in zip(rows, found, strict=True)
    ]
    wanted = {
        key: (program.text, row)
        for key, program, row in zip(keys, found, rows, strict=True)
        if key is not None and program is not None and row is not None and key not in _REMEMBERED
    }
    given = dict(zip(wanted, grade_all(box, list(wanted.values()), **grading), strict=True)) if wanted else {}
    known = {key: _REMEMBERED[key] for key in keys if key is not None and key in _REMEMBERED} | given
    for number_, key in enumerate(keys):
        failed = known[key] if key is not None else None
        if isinstance(failed, (SandboxError, TestsError)):
            _remember({key: one for key, one in given.items() if isinstance(one, Verdict)})
            if isinstance(failed, TestsError):
                raise ValueError(f"reward 'tests_passed', row {number_}: {failed}")
            raise failed
    none = Verdict((), Level.NONE)
    return [
        None if row is None else none if key is None else known[key]  # type: ignore[misc]
        for key, row in zip(keys, rows, strict=True)
    ]


def _key(program: str, tests: Tests, grading: dict[str, Any]) -> bytes:
    text = pickle.dumps((program, tests, grading))
    return hashlib.blake2b(text, digest_size=16).digest()


def _remember(verdicts: dict[bytes, Verdict]) -> None:
    _REMEMBERED.update(verdicts)
    while len(_REMEMBERED) > _MOST_REMEMBERED:
        _REMEMBERED.popitem(last=False)


def _paid(text: str, verdict: Verdict | None, paid: str) -> float:
    """The score of a row, told as credits."""
    assert verdict is not None
    if not verdict.outcomes:
        return credit("tests passed", 0.0, of=1.0, note=_NO_PROGRAM)
    place = f"sandbox: {verdict.level.value}"
    if paid == "all":
        why = verdict.first_failure
        points = float(verdict.all_passed)
        return credit("tests passed", points, of=1.0, note=f"{why} ({place})" if why else place)
    each = 1.0 / len(verdict.outcomes)
    for outcome in verdict.outcomes:
        note = f"{outcome.why} ({place})" if outcome.why else place
        credit(outcome.name, each if outcome.passed else 0.0, of=each, note=note)
    return verdict.passed / len(verdict.outcomes)
