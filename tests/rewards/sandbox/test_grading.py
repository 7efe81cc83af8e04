"""The verdict: each kind of tests, what counts as equal, and what is a fault of the tests or of the sandbox."""

# ruff: noqa: E501  # programs, each in one piece

from __future__ import annotations

from typing import Any

import pytest

from rewards.errors import SandboxError
from rewards.sandbox import Level, Limits, Outcome, Sandbox, TestsError, Verdict, grade, grade_all, read_tests
from rewards.sandbox import judging as judging_module


def judged(
    sandbox: Sandbox,
    code: str,
    *,
    seconds: float = 3.0,
    stop: bool = False,
    tolerance: float = 0.0,
    **columns: Any,
) -> Verdict:
    tests = read_tests(**columns)
    assert tests is not None
    return grade(sandbox, code, tests, limits=Limits(seconds=seconds), stop=stop, tolerance=tolerance)


def passed(verdict: Verdict) -> list[bool]:
    return [outcome.passed for outcome in verdict.outcomes]


# ------------------------------------------------------------------------------ functions and their values

VALUES = {
    "numbers": ("lambda x: x + 1", [[[1], 2], [[1.5], 2.5], [[10**30], 10**30 + 1]]),
    "text": ("lambda x: x.upper()", [[["a\u00e4\n"], "A\u00c4\n"], [["\ud800"], "\ud800"]]),
    "lists and tuples": ("lambda x: (x, [x])", [[[1], [1, [1]]], [[2], (2, [2])]]),
    "sets": ("lambda x: set(x)", [[[[1, 2, 2]], {1, 2}], [[[]], set()]]),
    "sets of tuples": ("lambda x: {(1, 2), frozenset({3})}", [[[0], {(1, 2), frozenset({3})}]]),
    "dictionaries": ("lambda x: {x: {'a': None}, (1, x): [True]}", [[["k"], {"k": {"a": None}, (1, "k"): [True]}]]),
    "nothing": ("lambda x: None", [[[1], None]]),
    "infinities": ("lambda x: [float('inf'), float('nan')]", [[[1], [float("inf"), float("nan")]]]),
    "bytes": ("lambda x: bytes(x)", [[[[1, 2]], b"\x01\x02"]]),
    "ranges and complex numbers": ("lambda x: (range(x), complex(x, 1))", [[[3], (range(3), 3 + 1j)]]),
    "subclasses": (
        "lambda x: (lambda c: (c.namedtuple('P', 'a b')(1, 2), c.OrderedDict(a=1), c.Counter('aa')))(__import__('collections'))",
        [[[1], ((1, 2), {"a": 1}, {"a": 2})]],
    ),
    "enumerations": ("lambda x: __import__('enum').IntEnum('E', 'A B').B", [[[1], 2]]),
    "decimals, fractions, dates": (
        "lambda x: (__import__('decimal').Decimal('1.10'), __import__('fractions').Fraction(1, 3), __import__('datetime').date(2020, 1, 2))",
        [[[1], tuple(__import__("copy").copy(v) for v in (__import__("decimal").Decimal("1.1"), __import__("fractions").Fraction(1, 3), __import__("datetime").date(2020, 1, 2)))]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", VALUES)
def test_values_cross_and_compare(landlock: Sandbox, kind: str) -> None:
    code, tests = VALUES[kind]
    verdict = judged(landlock, f"solve = {code}", tests=tests, entry_point="solve")
    assert verdict.all_passed, verdict.first_failure


WRONG = {
    "another number": ("3", 2, "returned 3"),
    "text for a number": ("'2'", 2, "returned '2'"),
    "a set for a list": ("{1, 2}", [1, 2], "returned {1, 2}"),
    "a list too long": ("[1, 2, 2]", [1, 2], "returned [1, 2, 2]"),
    "another key": ("{1: 2}", {"1": 2}, "returned {1: 2}"),
    "nothing": ("None", 0, "returned None"),
    "a generator": ("(n for n in [1])", [1], "returned an object of class generator, which is no plain value"),
    "a function": ("print", 1, "returned an object of class builtin_function_or_method, which is no plain value"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_value_is_told(landlock: Sandbox, kind: str) -> None:
    returned, expected, why = WRONG[kind]
    verdict = judged(landlock, f"def f(): return {returned}", tests=[[[], expected]], entry_point="f")
    assert verdict.outcomes == (Outcome("test 1", False, why),)


def test_numbers_compare_within_the_tolerance_asked_for(landlock: Sandbox) -> None:
    tests = [[[], [0.333, {"a": 2}]]]
    code = "def f(): return [1 / 3, {'a': 2.0005}]"
    assert not judged(landlock, code, tests=tests, entry_point="f").all_passed
    assert judged(landlock, code, tests=tests, entry_point="f", tolerance=1e-3).all_passed


def test_an_exception_fails_its_test_and_no_other(landlock: Sandbox) -> None:
    verdict = judged(
        landlock, "def f(x): return 6 // x", tests=[[[2], 3], [[0], 0], [[3], 2]], entry_point="f"
    )
    assert passed(verdict) == [True, False, True]
    assert verdict.first_failure == "test 2: raised ZeroDivisionError: integer division or modulo by zero"


def test_a_death_fails_its_test_and_no_other(landlock: Sandbox) -> None:
    code = "import os\ndef f(x): return x or os._exit(0)"
    verdict = judged(landlock, code, tests=[[[1], 1], [[0], 0], [[2], 2]], entry_point="f")
    assert passed(verdict) == [True, False, True]
    assert verdict.first_failure == "test 2: the program ended before it answered"


def test_after_a_timeout_the_rest_is_not_run(landlock: Sandbox) -> None:
    code = "def f(x):\n    while not x: pass\n    return x"
    verdict = judged(landlock, code, tests=[[[1], 1], [[0], 0], [[2], 2]], entry_point="f", seconds=0.3)
    assert [outcome.why for outcome in verdict.outcomes] == ["", "took too long", "not run"]


def test_a_program_that_does_not_load_fails_every_test(landlock: Sandbox) -> None:
    verdict = judged(landlock, "def f(:", tests=[[[1], 1], [[2], 2]], entry_point="f")
    assert passed(verdict) == [False, False]
    assert verdict.first_failure.startswith("test 1: the program does not load: SyntaxError")


def test_a_function_that_is_not_there_is_told(landlock: Sandbox) -> None:
    verdict = judged(landlock, "def g(): pass", tests=[[[1], 1]], entry_point="f")
    assert verdict.first_failure == "test 1: raised NameError: name 'f' is not defined"


def test_a_method_of_solution_is_found(landlock: Sandbox) -> None:
    code = "class Solution:\n    def twice(self, x): return x * 2"
    assert judged(landlock, code, tests=[[[1], 2]], entry_point="twice").all_passed
    assert judged(landlock, code, tests=[[[1], 2]], entry_point="Solution().twice").all_passed


def test_an_expected_value_may_stand_in_a_list_where_data_sets_write_it_so(landlock: Sandbox) -> None:
    tests = {"inputs": [[1], [2]], "outputs": [[2], [[3]]], "fn_name": "f"}
    assert passed(judged(landlock, "def f(x): return x + 1", tests=tests)) == [True, False]
    assert passed(judged(landlock, "def f(x): return [x + 1]", tests=tests)) == [True, True]


def test_setup_comes_before_the_program(landlock: Sandbox) -> None:
    assert judged(
        landlock, "def f(): return base", tests=[[[], 3]], entry_point="f", setup="base = 3"
    ).all_passed


def test_what_a_program_prints_is_not_in_the_way(landlock: Sandbox) -> None:
    assert judged(
        landlock, "def f():\n    print('x' * 200000)\n    return 1", tests=[[[], 1]], entry_point="f"
    ).all_passed


# -------------------------------------------------------------------------------- programs that read and print


def test_a_program_is_judged_by_what_it_prints(sandbox: Sandbox) -> None:
    tests = [
        {"input": "1 2", "output": "3"},
        {"input": "5 6", "output": "11"},
        {"input": "0 0", "output": "1"},
    ]
    verdict = judged(sandbox, "print(sum(map(int, input().split())))", tests=tests)
    assert passed(verdict) == [True, True, False]
    assert verdict.first_failure == "test 3: printed '0\\n'"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("print(1)\nraise SystemExit(2)", "the program failed"),
        ("print(1)\n1 / 0", "the program failed: ZeroDivisionError: division by zero (line 2)"),
        ("print(1)\nimport ctypes\nctypes.string_at(0)", "the program died"),
        ("print(1, flush=True)\nwhile True: pass", "took too long"),
    ],
)
def test_a_right_output_of_a_program_that_fails_is_not_paid(landlock: Sandbox, code: str, why: str) -> None:
    verdict = judged(landlock, code, tests=[{"input": "", "output": "1"}], seconds=0.3)
    assert verdict.outcomes == (Outcome("test 1", False, why),)


def test_numbers_in_the_output_compare_within_the_tolerance(landlock: Sandbox) -> None:
    tests = [{"input": "", "output": "x 0.333\n"}]
    assert judged(landlock, "print('x', 1 / 3)", tests=tests, tolerance=1e-3).all_passed
    assert not judged(landlock, "print('y', 1 / 3)", tests=tests, tolerance=1e-3).all_passed


# --------------------------------------------------------------------------------------------- test code


def test_each_assertion_of_check_is_a_test_where_shares_are_paid(landlock: Sandbox) -> None:
    test = "def check(candidate):\n    assert candidate(1) == 1\n    assert candidate(2) == 0, 'two'\n    assert candidate(3) == 3"
    verdict = judged(landlock, "def f(x): return x", test=test, entry_point="f")
    assert verdict.outcomes == (
        Outcome("candidate(1) == 1", True),
        Outcome("candidate(2) == 0", False, "AssertionError: two"),
        Outcome("candidate(3) == 3", True),
    )
    assert judged(landlock, "def f(x): return x", test=test, entry_point="f", stop=True).outcomes == (
        Outcome("check", False, "AssertionError: two"),
    )


def test_assertions_that_were_not_reached_have_failed(landlock: Sandbox) -> None:
    test = "def check(candidate):\n    assert candidate(1) == 1\n    values = sorted(candidate(2))\n    assert values == 2\n    assert candidate(3) == 3"
    assert passed(judged(landlock, "def f(x): return x", test=test, entry_point="f")) == [True, False, False]


def test_an_assertion_in_a_loop_is_one_test(landlock: Sandbox) -> None:
    test = "def check(candidate):\n    for n in range(5):\n        assert candidate(n) < 4"
    assert passed(judged(landlock, "def f(x): return x", test=test, entry_point="f")) == [False]


def test_single_assertions_are_tests(landlock: Sandbox) -> None:
    tests = ["assert f(1) == 1", "assert f(2) == 3", "assert g(1) == 1"]
    verdict = judged(landlock, "def f(x): return x", tests=tests)
    assert passed(verdict) == [True, False, False]
    assert verdict.outcomes[2] == Outcome("3: assert g(1) == 1", False, "NameError: name 'g' is not defined")


UNITTEST = """
import unittest
from solution import Stack, Empty, SIZE

class TestStack(unittest.TestCase):
    def setUp(self):
        self.stack = Stack([1, 2])

    def test_pop(self):
        self.assertEqual(self.stack.pop(), 2)
        self.assertEqual(len(self.stack), 1)
        self.assertEqual(self.stack.items, [1])

    def test_empty(self):
        with self.assertRaises(Empty):
            Stack([]).pop()

    def test_contains(self):
        self.assertIn(1, self.stack)
        self.assertNotIn(3, self.stack)
        self.assertIsInstance(self.stack, Stack)

    def test_list_and_text(self):
        self.assertEqual([x for x in self.stack], [1, 2])
        self.assertEqual(str(self.stack), "Stack of 2")
        self.assertEqual(self.stack[0], 1)

    def test_map(self):
        self.assertEqual(self.stack.map(lambda x: x * 10), [10, 20])
        with self.stack as inside:
            self.assertEqual(inside.size, SIZE)

    @unittest.skip("later")
    def test_later(self):
        self.fail()

if __name__ == "__main__":
    unittest.main()
"""

STACK = """
SIZE = 2
class Empty(Exception): pass
class Stack:
    def __init__(self, items): self.items = list(items)
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __contains__(self, x): return x in self.items
    def __getitem__(self, n): return self.items[n]
    def __str__(self): return f"Stack of {len(self)}"
    def __enter__(self): return self
    def __exit__(self, *about): return None
    @property
    def size(self): return len(self)
    def map(self, f): return [f(x) for x in self.items]
    def pop(self):
        if not self.items: raise Empty("nothing here")
        return self.items.pop()
"""


def test_classes_are_tested_by_unittest(sandbox: Sandbox) -> None:
    verdict = judged(sandbox, STACK, test=UNITTEST)
    assert verdict.all_passed, verdict.first_failure
    assert [outcome.name for outcome in verdict.outcomes][:2] == [
        "TestStack.test_contains",
        "TestStack.test_empty",
    ]
    assert len(verdict.outcomes) == 5


def test_a_wrong_class_fails_the_tests_it_fails(landlock: Sandbox) -> None:
    verdict = judged(landlock, STACK.replace("self.items.pop()", "self.items.pop(0)"), test=UNITTEST)
    assert [outcome.name for outcome in verdict.outcomes if not outcome.passed] == ["TestStack.test_pop"]


PYTEST = """
import pytest
from solution import *

@pytest.mark.parametrize("x, wanted", [(1, 2), (2, 4)])
def test_twice(x, wanted):
    assert twice(x) == wanted

def test_near():
    assert twice(0.1) == pytest.approx(0.2)

def test_raises():
    with pytest.raises(TypeError, match="no text"):
        twice("a")

class TestMore:
    def setup_method(self):
        self.x = 3

    def test_three(self):
        assert twice(self.x) == 6
"""


def test_test_functions_run_without_pytest(landlock: Sandbox) -> None:
    code = "def twice(x):\n    if isinstance(x, str): raise TypeError('no text')\n    return x * 2"
    verdict = judged(landlock, code, test=PYTEST)
    assert verdict.all_passed, verdict.first_failure
    assert [outcome.name for outcome in verdict.outcomes] == [
        "test_twice[1]",
        "test_twice[2]",
        "test_near",
        "test_raises",
        "TestMore.test_three",
    ]


FAULTS = {
    "does not parse": ({"test": "def check(:", "entry_point": "f"}, "tests: SyntaxError"),
    "does not load": ({"test": "import no_such\ndef check(c): pass", "entry_point": "f"}, "No module named 'no_such'"),
    "fails before it asks": ({"test": "def test_it():\n    assert 1 == 2"}, "the tests fail by themselves: AssertionError"),
    "passes what cannot cross": ({"test": "class P: pass\ndef check(c):\n    assert c(P()) == 1", "entry_point": "f"}, "a value of type P"),
    "has no entry point": ({"test": "def check(candidate):\n    assert candidate(1) == 1"}, "no entry_point names the candidate"),
    "wants fixtures": ({"test": "from solution import f\ndef test_it(tmp_path):\n    assert f(1) == 1"}, "there are no fixtures"),
    "setup fails": ({"tests": ["assert f(1) == 1"], "setup": "1 / 0"}, "setup: ZeroDivisionError"),
    "a value that cannot cross": ({"tests": [[[object()], 1]], "entry_point": "f"}, "which cannot cross"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_of_the_tests_is_no_verdict(landlock: Sandbox, kind: str) -> None:
    columns, why = FAULTS[kind]
    with pytest.raises(TestsError) as caught:
        judged(landlock, "def f(x): return x", **columns)
    assert why in str(caught.value)


def test_what_a_program_lacks_is_its_own_fault(landlock: Sandbox) -> None:
    test = "def check(c):\n    assert poly(c(1)) == 1"
    verdict = judged(landlock, "def f(x): return x", test=test, entry_point="f")
    assert "name 'poly' is not defined" in verdict.first_failure
    assert passed(
        judged(landlock, "pass", test="from solution import f\ndef test_it():\n    assert f(1) == 1")
    ) == [False]


def test_tests_that_never_end_are_ended(landlock: Sandbox) -> None:
    test = "def check(candidate):\n    n = candidate(1)\n    while n: n = n + 1\n"
    verdict = judged(landlock, "def f(x): return 1", test=test, entry_point="f", seconds=0.1)
    assert verdict.first_failure == "the tests: took too long"
    assert judged(landlock, "def f(x): return 0", test=test, entry_point="f").all_passed


def test_what_one_program_left_in_the_channel_does_not_reach_the_next(landlock: Sandbox) -> None:
    test = "def check(candidate):\n    assert candidate({0}) == {0}\n    assert candidate({0} + 1) == {0} + 1"
    ends = 'import os\ndef f(x):\n    os.write(3, b\'{"r": 7}\\n{"r": 7}\\n\')\n    os._exit(0)'
    for number in range(5):
        assert not judged(landlock, ends, test=test.replace("{0}", str(number)), entry_point="f").all_passed
        good = judged(landlock, "def f(x): return x", test=test.replace("{0}", str(number)), entry_point="f")
        assert good.all_passed, good.first_failure


def test_a_judge_is_replaced_after_a_while(landlock: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging_module, "_JOBS", 2)
    landlock.close()
    test = "def check(candidate):\n    assert candidate(1) == 1"
    assert all(
        judged(landlock, "def f(x): return x", test=test, entry_point="f").all_passed for _ in range(5)
    )
    landlock.close()


# ---------------------------------------------------------------------------------------------- batches


def test_several_at_a_time_give_what_one_at_a_time_gives(sandbox: Sandbox) -> None:
    tests = read_tests([[[n], n * 2] for n in range(5)], entry_point="f")
    assert tests is not None
    programs = [(f"def f(x): return x * {n % 3}", tests) for n in range(30)]
    one, three = (grade_all(sandbox, programs, workers=workers) for workers in (1, 3))
    assert one == three
    assert [isinstance(verdict, Verdict) and verdict.all_passed for verdict in one] == [
        n % 3 == 2 for n in range(30)
    ]


def test_an_error_stands_in_the_place_of_its_verdict(landlock: Sandbox) -> None:
    good, bad = read_tests(["assert f(1) == 1"]), read_tests(["assert f(1) == 1"], setup="1 / 0")
    assert good is not None
    assert bad is not None
    found = grade_all(landlock, [("f = int", good), ("f = int", bad), ("f = str", good)])
    assert [type(one).__name__ for one in found] == ["Verdict", "TestsError", "Verdict"]


def test_below_the_level_nothing_is_graded() -> None:
    tests = read_tests(["assert f(1) == 1"])
    assert tests is not None
    with Sandbox(only=Level.LIMITS, unsafe=False) as box, pytest.raises(SandboxError, match="is not run"):
        grade(box, "f = int", tests)


# --------------------------------------------------------------------------------- what a program may answer with


def test_objects_of_the_tests_own_making_say_what_they_hold(landlock: Sandbox) -> None:
    code = (
        "class Bag:\n    def __init__(self): self.all = []\n    def add(self, x): self.all.append(x)\n"
        "    def __contains__(self, x): return x in self.all\n    def __len__(self): return len(self.all)\n"
    )
    test = "def test():\n    bag = Bag()\n    bag.add(3)\n    assert 3 in bag and 4 not in bag and len(bag) == 1\n"
    assert judged(landlock, code, test=test).all_passed


def test_what_a_function_returns_is_listed_and_looked_at_here(landlock: Sandbox) -> None:
    code = "class Evens:\n    def __init__(s, n): s.n = n\n    def __iter__(s): return iter(range(0, s.n, 2))\ndef evens(n): return Evens(n)\n"
    tests = [
        "assert 4 in evens(10)",
        "assert 3 not in evens(10)",
        "assert len(evens(10)) == 5",
        "assert 3 in evens(10)",
    ]
    assert passed(judged(landlock, code, tests=tests)) == [True, True, True, False]


@pytest.mark.parametrize("stop", [False, True])
def test_check_may_use_other_functions_of_the_program(landlock: Sandbox, stop: bool) -> None:
    code = "def poly(xs, x): return sum(c * x ** i for i, c in enumerate(xs))\ndef find_zero(xs): return -xs[0] / xs[1]\n"
    test = "def check(candidate):\n    for xs in ([1, 2], [-6, 3]):\n        assert abs(poly(xs, candidate(xs))) < 1e-4\n"
    assert judged(landlock, code, stop=stop, test=test, entry_point="find_zero").all_passed
    assert not judged(
        landlock, "def find_zero(xs): return 0.5\n", stop=stop, test=test, entry_point="find_zero"
    ).passed


@pytest.mark.parametrize(
    "value", ["ValueError", "type('Own', (Exception,), {})", "ValueError('x')", "[[[[1]]]]", "print"]
)
def test_a_value_of_the_program_that_comes_back_to_it_is_no_fault_of_the_tests(
    landlock: Sandbox, value: str
) -> None:
    code = f"def encode(t): return {value}\ndef decode(t): return t\n"
    assert passed(judged(landlock, code, tests=["assert decode(encode('abc')) == 'abc'"])) == [False]


def test_an_exception_of_the_program_handed_back_to_it_fails_the_test(landlock: Sandbox) -> None:
    test = "def test():\n    try:\n        f(1)\n    except Exception as error:\n        assert g(error) == 1\n    else:\n        assert False\n"
    verdict = judged(landlock, "def f(x): raise ValueError(x)\ndef g(x): return 1\n", test=test)
    assert "cannot go back to the program" in verdict.first_failure


def test_tests_may_pass_classes_of_exceptions(landlock: Sandbox) -> None:
    assert judged(landlock, "def f(kind): return kind is KeyError\n", tests=["assert f(KeyError)"]).all_passed


def test_a_value_of_the_tests_own_that_cannot_cross_is_their_fault(landlock: Sandbox) -> None:
    with pytest.raises(TestsError, match="the tests pass a value of type Mine to the program"):
        judged(
            landlock, "def f(x): return x\n", test="class Mine: pass\n\ndef test():\n    assert f(Mine())\n"
        )


@pytest.mark.parametrize("text", ["汉" * 40_000, "long " * 2_000_000], ids=["not ASCII", "long"])
def test_long_right_output_is_right(landlock: Sandbox, text: str) -> None:
    code = f"import sys\nsys.stdout.write({text[:5]!r} * {len(text) // 5})\n"
    assert judged(landlock, code, tests=[{"input": "", "output": text}]).all_passed
