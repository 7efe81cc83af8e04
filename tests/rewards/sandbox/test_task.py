"""The shapes tests come in."""

# ruff: noqa: E501  # tables

from __future__ import annotations

import json
from typing import Any

import pytest

from rewards.sandbox.task import Case, FunctionTests, ProgramTests, TestCode, read_tests

CALL = FunctionTests("f", (Case((1, 2), 3), Case((4, 5), 9)))

FUNCTIONS: dict[str, tuple[Any, str | None]] = {
    "pairs": ([[[1, 2], 3], [[4, 5], 9]], "f"),
    "pairs as JSON": ("[[[1, 2], 3], [[4, 5], 9]]", "f"),
    "args and expected": ([{"args": [1, 2], "expected": 3}, {"args": [4, 5], "expected": 9}], "f"),
    "input and output": ([{"input": [1, 2], "output": 3}, {"input": [4, 5], "output": 9}], "f"),
    "filled up by a table": ([{"args": None, "input": [1, 2], "output": 3, "stdout": None}, {"input": [4, 5], "output": 9}], "f"),
    "calls as text": ([{"input": "1\n2", "output": "3", "testtype": "functional"}, {"input": "4\n5\n", "output": "9", "testtype": "functional"}], "f"),
    "names in the tests": ({"test_cases": [
        {"fn_name": "f", "input": [1, 2], "output": 3, "type": "function_call"},
        {"fn_name": "f", "input": [4, 5], "output": 9, "type": "function_call"},
    ]}, None),
}  # fmt: skip


@pytest.mark.parametrize("shape", FUNCTIONS)
def test_tests_of_a_function(shape: str) -> None:
    tests, entry = FUNCTIONS[shape]
    assert read_tests(tests, entry_point=entry) == CALL


def test_tests_in_two_lists() -> None:
    found = read_tests({"inputs": [[1, 2]], "outputs": [[3]], "fn_name": "f"})
    assert found == FunctionTests("f", (Case((1, 2), [3], {}, wrapped=True),))


def test_named_and_single_arguments() -> None:
    found = read_tests([[{"a": 1}, 2], [5, 6]], entry_point="f")
    assert found == FunctionTests("f", (Case((), 2, {"a": 1}), Case((5,), 6)))


PROGRAMS: dict[str, Any] = {
    "input and output": [{"input": "1 2", "output": "3"}],
    "pairs of text": [["1 2", "3"]],
    "stdin and stdout": [{"stdin": "1 2", "stdout": "3"}],
    "two lists": {"inputs": ["1 2"], "outputs": ["3"]},
    "two lists as JSON": '{"inputs": ["1 2"], "outputs": ["3"]}',
    "said to be so": [{"input": "1 2", "output": "3", "type": "stdin_stdout"}],
    "lists of lines and numbers": {"inputs": [["1 2"]], "outputs": [3]},
}


@pytest.mark.parametrize("shape", PROGRAMS)
def test_tests_of_a_program(shape: str) -> None:
    assert read_tests(PROGRAMS[shape]) == ProgramTests((("1 2", "3"),))


@pytest.mark.parametrize(
    ("columns", "wanted"),
    [
        ({"test": "def check(c): pass", "entry_point": "f", "setup": "x = 1"}, TestCode("def check(c): pass", None, "f", "x = 1")),
        ({"tests": ["assert f(1) == 1"]}, TestCode("", ("assert f(1) == 1",))),
        ({"tests": json.dumps(["assert f(1) == 1"])}, TestCode("", ("assert f(1) == 1",))),
        ({"tests": "assert f(1) == 1"}, TestCode("assert f(1) == 1")),
        ({"test": "x = 1", "setup": ["import a", "import b"]}, TestCode("x = 1", None, "", "import a\nimport b")),
    ],
)  # fmt: skip
def test_code_that_tests(columns: dict[str, Any], wanted: TestCode) -> None:
    assert read_tests(**columns) == wanted


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"tests": []},
        {"tests": ""},
        {"tests": None, "test": " \n"},
        {"tests": {"inputs": [], "outputs": []}},
    ],
)
def test_a_row_without_tests_has_none(columns: dict[str, Any]) -> None:
    assert read_tests(**columns) is None


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "a number": ({"tests": 3}, "must hold a list of tests, not int"),
    "three things": ({"tests": [[1, 2, 3]], "entry_point": "f"}, "is no pair of input and output"),
    "no output": ({"tests": [{"input": 1}]}, "lacks input or output"),
    "lists of two lengths": ({"tests": {"inputs": [1, 2], "outputs": [1]}}, "has 2 inputs and 1 outputs"),
    "other keys": ({"tests": {"a": 1}}, "has no lists 'inputs' and 'outputs'"),
    "no entry point": ({"tests": [[[1], 2]]}, "name it in a column 'entry_point'"),
    "two kinds": ({"tests": [[[1], 2], ["a", "b"]]}, "mixes tests of a function with tests of standard input"),
    "no text": ({"tests": [{"stdin": "1", "stdout": {"a": 1}}]}, "must be text, not dict"),
    "no Python": ({"tests": ["assert (", "x"]}, "is no Python"),
    "entry point that is no name": ({"tests": [[[1], 2]], "entry_point": 3}, "column 'entry_point' must hold text, not int"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_test_is_told(fault: str) -> None:
    columns, why = FAULTS[fault]
    with pytest.raises(ValueError, match=r"column|the tests") as caught:
        read_tests(**columns)
    assert why in str(caught.value)
