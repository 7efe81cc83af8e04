"""The tests' side: it runs the tests of the data set against stand-ins for the candidate program.

The tests are trusted as far as their verdict goes, and sandboxed all the same. What they find goes line by line
into a report that the program cannot reach: `[name, passed, why]` for each test, then `["end", ...]`. Tests
that fail before they ever asked the program are faults of the tests and are reported as such.
"""

from __future__ import annotations

import ast
import builtins
import functools
import json
import os
import re
import sys
import types
import unittest
from collections.abc import Callable, Iterator
from typing import Any

from rewards.sandbox.inside import shim
from rewards.sandbox.inside.job import CHANNEL, REPORT, finish
from rewards.sandbox.inside.remote import CandidateGone, Channel, Remote, RemoteModule, Ungradable

_WHY = 300


def grade(job: dict[str, Any]) -> None:
    """Run `job["test"]` (a text) or `job["asserts"]` (a list of texts) and report.

    Read too: "setup" (run before), "entry" (what the program's function is called, or ""), "module" (the name
    tests import the program by), "stop" (end at the first failure).
    """
    grade_with(job, Channel(CHANNEL, objects=not job["entry"]), REPORT)
    finish(0)


def grade_with(job: dict[str, Any], channel: Channel, report: int) -> None:
    """The same with a channel to the program, and a descriptor for the report."""
    grader = _Grader(job, channel)
    try:
        grader.run()
        grader.tell("end", True, "")
    except _Stop:
        grader.tell("end", True, "")
    except Ungradable as error:
        grader.tell("end", False, str(error))
    text = "".join(json.dumps(line) + "\n" for line in grader.told)
    data = text.encode()
    while data:
        data = data[os.write(report, data) :]


class _Stop(BaseException):
    """A test failed, and the rest does not matter."""


class _Grader:
    def __init__(self, job: dict[str, Any], channel: Channel) -> None:
        self.entry: str = job["entry"]
        self.setup: str = job["setup"]
        self.texts: list[str] | None = job.get("asserts")
        self.text: str = job.get("test", "")
        self.stop: bool = job["stop"]
        self.channel = channel
        self.told: list[list[Any]] = []
        self.module = RemoteModule(self.channel, job["module"])
        self.space: dict[str, Any] = {"__name__": "tests", "__record__": self.record}
        self.seen: dict[str, tuple[bool, str]] = {}
        self.lacking: set[str] = set()

    def run(self) -> None:
        sys.modules[self.module.__name__] = self.module
        shim.install()
        self.own("setup", self.setup)
        if self.entry:
            self.space[self.entry.rpartition(".")[2]] = Remote(self.channel, self.entry, self.entry)
        if self.texts is not None:
            self.run_asserts(self.texts)
            return
        if re.search(r"^def check\b", self.text, re.MULTILINE):
            self.run_check()
            return
        tree = self.parsed("tests", self.text)
        self.bind(tree)
        names = _instrument(tree.body)
        why = self.attempt(lambda: self.execute(tree))
        self.unreached(names, "the tests' own code", why)
        if why is None:
            self.run_cases()
        self.told_all()

    # ------------------------------------------------------------------------------------- kinds of tests

    def run_check(self) -> None:
        """`check(candidate)`: one test where the first failure decides, else each of its assertions is one."""
        if not self.entry:
            raise Ungradable("the tests define check(candidate), but no entry_point names the candidate")
        names: list[str] = []
        tree = self.parsed("tests", self.text)
        self.bind(tree)
        if not self.stop:
            for node in tree.body:
                if isinstance(node, ast.FunctionDef) and node.name == "check":
                    names = _instrument(node.body)
        self.own("tests", tree)
        entry = self.space[self.entry.rpartition(".")[2]]
        why = self.attempt(lambda: self.space["check"](entry))
        self.unreached(names, "check", why)
        if not names and why is None:
            self.record("check", True, "")
        self.told_all()

    def run_asserts(self, texts: list[str]) -> None:
        """Texts of one or more statements; each is a test."""
        trees = [self.parsed(f"test {number}", text) for number, text in enumerate(texts, 1)]
        for number, tree in enumerate(trees, 1):
            self.bind(tree)
            why = self.attempt(functools.partial(self.execute, tree))
            self.record(f"{number}: {_short(ast.unparse(tree))}", why is None, why or "")
            self.told_all()

    def run_cases(self) -> None:
        """`test_*` functions and `unittest.TestCase` classes."""
        for name, test in list(_cases(self.space)):
            try:
                why = self.attempt(test)
            except shim.Skipped:
                continue
            self.record(name, why is None, why or "")

    # ------------------------------------------------------------------------------------------ recording

    def record(self, name: str, passed: bool, why: str | BaseException) -> None:
        """Keep what one test gave; one that failed once has failed."""
        if isinstance(why, BaseException):
            self.blame(why)
            why = _why(why)
        before = self.seen.get(name)
        self.seen[name] = (passed, why) if before is None or before[0] else before
        if not passed and self.stop:
            self.told_all()
            raise _Stop

    def told_all(self) -> None:
        """Report what was recorded since the last time."""
        for name, (passed, why) in self.seen.items():
            self.tell(name, passed, why)
        self.seen.clear()

    def tell(self, name: str, passed: bool, why: str) -> None:
        """One line of the report."""
        self.told.append([name, passed, why[:_WHY]])

    def unreached(self, names: list[str], whole: str, why: str | None) -> None:
        """Where code ended early, the assertions it did not come to have failed, or the code as a whole."""
        if why is not None:
            missing = [name for name in names if name not in self.seen]
            for name in missing or [whole]:
                self.record(name, False, why)

    def attempt(self, action: Callable[[], Any]) -> str | None:
        """Why an action fails; None where it ends well.

        Raises:
            Ungradable: the program has no part in the failure.
        """
        try:
            action()
        except (Ungradable, shim.Skipped, _Stop):
            raise
        except BaseException as error:  # noqa: BLE001  # a test that failed
            self.blame(error)
            return _why(error)
        return None

    def blame(self, error: BaseException) -> None:
        """See whose fault a failure is.

        Raises:
            Ungradable: the program has no part in it.
        """
        own = _is_own(error) and getattr(error, "name", "") not in self.lacking
        if own or not self.channel.asked:
            raise Ungradable(f"the tests fail by themselves: {_why(error)}") from None

    # ------------------------------------------------------------------------------------------- code

    def parsed(self, what: str, text: str) -> ast.Module:
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError) as error:
            raise Ungradable(f"{what}: {_why(error)}") from None

    def own(self, what: str, code: str | ast.Module) -> None:
        """Run code of the data set that has nothing to do with the program."""
        try:
            exec(compile(code, f"{what}.py", "exec", dont_inherit=True), self.space)  # noqa: S102
        except BaseException as error:  # noqa: BLE001  # the data set's fault
            raise Ungradable(f"{what}: {_why(error)}") from None

    def execute(self, tree: ast.Module) -> None:
        exec(compile(tree, "tests.py", "exec", dont_inherit=True), self.space)  # noqa: S102

    def bind(self, tree: ast.Module) -> None:
        """Names that the tests use and nobody here defines are the program's."""
        for name in sorted(_free_names(tree) - set(self.space)):
            try:
                self.space[name] = getattr(self.module, name)
            except (AttributeError, CandidateGone):
                self.lacking.add(name)


def _is_own(error: BaseException) -> bool:
    """Whether an error says that the tests use a name nobody defined."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return (
        isinstance(error, NameError) and trace is not None and trace.tb_frame.f_code.co_filename == "tests.py"
    )


def _why(error: BaseException) -> str:
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 100 else text[:97] + "..."


# -------------------------------------------------------------------------------- assertions as tests


class _Asserts(ast.NodeTransformer):
    """Each `assert` becomes a test that is recorded; what follows goes on. Those inside `try` stay as they are."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.told: list[str] = []

    def visit_Try(self, node: ast.Try) -> ast.AST:
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        name = _short(ast.unparse(node.test))
        count = self.names[name] = self.names.get(name, 0) + 1
        if count > 1:
            name = f"{name} ({count})"
        self.told.append(name)
        source = f"""
try:
    pass
    __record__({name!r}, True, "")
except Exception as __error__:
    __record__({name!r}, False, __error__)
"""
        wrapped = ast.parse(source).body[0]
        assert isinstance(wrapped, ast.Try)
        wrapped.body[0] = node
        return ast.fix_missing_locations(ast.copy_location(wrapped, node))


def _instrument(body: list[ast.stmt]) -> list[str]:
    """Let the assertions of a block be recorded one by one; their names."""
    asserts = _Asserts()
    body[:] = [asserts.visit(node) if _is_plain(node) else node for node in body]
    return asserts.told


def _is_plain(node: ast.stmt) -> bool:
    return not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


class _Names(ast.NodeVisitor):
    def __init__(self) -> None:
        self.used: set[str] = set()
        self.bound: set[str] = {"__record__", "__error__"}

    def visit_Name(self, node: ast.Name) -> None:
        (self.used if isinstance(node.ctx, ast.Load) else self.bound).add(node.id)

    def visit_arg(self, node: ast.arg) -> None:
        self.bound.add(node.arg)
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        self.bound.add((node.asname or node.name).partition(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.bound.add(node.name or "")
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.bound.add(node.name)
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bound.add(node.name)
        self.generic_visit(node)


def _free_names(tree: ast.Module) -> set[str]:
    """Names used in a text and bound nowhere in it."""
    names = _Names()
    names.visit(tree)
    return {name for name in names.used - names.bound if not hasattr(builtins, name) and name != "__name__"}


# ------------------------------------------------------------------------------ functions and classes


def _cases(space: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The tests a module defines: name and a function that raises where the test fails."""
    for name, value in list(space.items()):
        if isinstance(value, types.FunctionType) and name.startswith("test"):
            yield from shim.calls(name, value)
        elif isinstance(value, type) and issubclass(value, unittest.TestCase):
            for case in unittest.TestLoader().loadTestsFromTestCase(value):
                if isinstance(case, unittest.TestCase):
                    yield f"{name}.{case.id().rpartition('.')[2]}", _unittest_case(case)
        elif isinstance(value, type) and name.startswith("Test"):
            yield from _methods(name, value)


def _methods(name: str, kind: type) -> Iterator[tuple[str, Callable[[], Any]]]:
    for method in [key for key in vars(kind) if key.startswith("test")]:
        owner = kind()
        yield from shim.calls(f"{name}.{method}", getattr(owner, method), owner)


def _unittest_case(case: unittest.TestCase) -> Callable[[], Any]:
    def run() -> None:
        result = unittest.TestResult()
        case.run(result)
        for _, text in [*result.errors, *result.failures]:
            raise AssertionError(text.strip().rpartition("\n")[2])
        if result.skipped or result.expectedFailures:
            raise shim.Skipped
        if result.unexpectedSuccesses or result.testsRun != 1:
            raise AssertionError("it was expected to fail")

    return run
