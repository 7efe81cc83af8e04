"""The verdict on a program: tests on this side, the program on the other, only plain values between them.

Expected values never enter the program's process; its exit code and what it prints are not believed. A program
that fails, hangs or dies fails its tests. What goes wrong with the sandbox or with the tests themselves is no
verdict: it raises.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from rewards.errors import SandboxError
from rewards.sandbox.comparing import matches, same_output, shown
from rewards.sandbox.inside.values import Uncrossable, encode
from rewards.sandbox.job import Job
from rewards.sandbox.level import Level
from rewards.sandbox.oneshot import OneShot
from rewards.sandbox.sandbox import Sandbox, status_of
from rewards.sandbox.server import Limits, Running, finish, pump
from rewards.sandbox.simple import is_simple
from rewards.sandbox.talk import MODULE, open_talk, program_job
from rewards.sandbox.task import Case, FunctionTests, ProgramTests, TestCode, Tests

_RESTARTS = 3
_NOT_RUN = "not run"


@dataclass(frozen=True)
class Outcome:
    """One test: its name, whether it passed, and why not."""

    name: str
    passed: bool
    why: str = ""


@dataclass(frozen=True)
class Verdict:
    """What the tests said of a program, in order, and the level it ran at."""

    outcomes: tuple[Outcome, ...]
    level: Level

    @property
    def passed(self) -> int:
        """How many tests passed."""
        return sum(outcome.passed for outcome in self.outcomes)

    @property
    def all_passed(self) -> bool:
        """Whether there are tests and all passed."""
        return bool(self.outcomes) and self.passed == len(self.outcomes)

    @property
    def share(self) -> float:
        """The share of tests passed, 0 where there are none."""
        return self.passed / len(self.outcomes) if self.outcomes else 0.0

    @property
    def first_failure(self) -> str:
        """The first test that failed and why; "" where none did."""
        failed = next((outcome for outcome in self.outcomes if not outcome.passed), None)
        return "" if failed is None else f"{failed.name}: {failed.why}" if failed.why else failed.name


class TestsError(ValueError):
    """The tests cannot be used: they fail by themselves, or ask for what cannot cross to the program."""

    __test__ = False


def grade(
    box: Sandbox | OneShot,
    code: str,
    tests: Tests,
    *,
    limits: Limits | None = None,
    tolerance: float = 0.0,
    stop: bool = False,
) -> Verdict:
    """The verdict of tests on a program.

    Args:
        box: where the program runs.
        code: the program.
        tests: see `rewards.sandbox.task`.
        limits: what it may use, for all calls of a function's tests or test code, and for each run with
            standard input; default: 3 seconds, 1 GiB.
        tolerance: numbers with a fraction may differ by that much, absolutely or relatively.
        stop: end at the first failure.

    Raises:
        SandboxError: the level is refused, or the sandbox failed twice.
        TestsError: the tests cannot be used.
    """
    level = box.require()
    grader = _Grading(box, code, limits or Limits(), tolerance, stop)
    failure: SandboxError | None = None
    for _ in range(2):  # a server that died is replaced, once
        try:
            return Verdict(tuple(grader.outcomes(tests)), level)
        except SandboxError as error:
            failure = error
    assert failure is not None
    raise failure


def grade_all(
    box: Sandbox | OneShot, programs: Sequence[tuple[str, Tests]], *, workers: int = 1, **options: Any
) -> list[Verdict | SandboxError | TestsError]:
    """`grade` for several programs, `workers` at a time; an error stands in the place of its verdict."""
    box.require()

    def one(program: tuple[str, Tests]) -> Verdict | SandboxError | TestsError:
        try:
            return grade(box, *program, **options)
        except (SandboxError, TestsError) as error:
            return error

    if workers <= 1 or len(programs) <= 1:
        return [one(program) for program in programs]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, programs))


@dataclass(frozen=True)
class _Grading:
    box: Sandbox | OneShot
    code: str
    limits: Limits
    tolerance: float
    stop: bool

    def outcomes(self, tests: Tests) -> list[Outcome]:
        if isinstance(tests, FunctionTests):
            return self.function(tests)
        if isinstance(tests, ProgramTests):
            return self.program(tests)
        return self.test_code(tests)

    def whole(self, setup: str) -> str:
        return f"{setup}\n{self.code}" if setup.strip() else self.code

    # ----------------------------------------------------------------------- standard input and output

    def program(self, tests: ProgramTests) -> list[Outcome]:
        outcomes: list[Outcome] = []
        timeouts = 0
        for number, (given, wanted) in enumerate(tests.cases, 1):
            name = f"test {number}"
            if timeouts > 1 or (self.stop and outcomes and not outcomes[-1].passed):
                outcomes.append(Outcome(name, False, _NOT_RUN))
                continue
            limits = replace(
                self.limits, kept=max(self.limits.kept, 2 * len(wanted.encode("utf-8", "surrogatepass")))
            )
            result = self.box.run(Job(self.whole(tests.setup), given, limits))
            if result.status == "error":
                raise SandboxError(result.error)
            timeouts += result.status == "timeout"
            outcomes.append(self.printed(name, result.status, result.output, result.error, wanted))
        return outcomes

    def printed(self, name: str, status: str, output: str, error: str, wanted: str) -> Outcome:
        if status != "ok":
            last = error.rpartition("\n")[2]
            return Outcome(name, False, f"{_SAID[status]}{f': {last[:200]}' if last else ''}")
        if same_output(wanted, output, self.tolerance):
            return Outcome(name, True)
        return Outcome(name, False, f"printed {_short(output)}")

    # ------------------------------------------------------------------------ arguments and expected value

    def function(self, tests: FunctionTests) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for _ in range(_RESTARTS):
            left = tests.cases[len(outcomes) :]
            if not left or (self.stop and outcomes and not outcomes[-1].passed):
                break
            if not self.calls(tests, left, outcomes):
                break
        numbers = range(len(outcomes) + 1, len(tests.cases) + 1)
        return [*outcomes, *(Outcome(f"test {number}", False, _NOT_RUN) for number in numbers)]

    def calls(self, tests: FunctionTests, cases: Sequence[Case], outcomes: list[Outcome]) -> bool:
        """Add the outcomes of `cases` until the program ends; whether the rest deserves a fresh start."""
        answered = False
        with open_talk(self.box, self.whole(tests.setup), self.limits) as talk:
            for case in cases:
                name = f"test {len(outcomes) + 1}"
                answer = talk.ask(_request(tests.entry, case, name))
                if answer is None:
                    outcomes.append(Outcome(name, False, _SAID[talk.status]))
                    return answered and talk.status in ("died", "ok", "failed")
                answered = True
                outcomes.append(self.judged(name, answer, case))
                if "x" in answer or (self.stop and not outcomes[-1].passed):
                    break
        return False

    def judged(self, name: str, answer: Any, case: Case) -> Outcome:
        if not isinstance(answer, dict) or "r" not in answer:
            return Outcome(name, False, _raised(answer))
        if matches(case.expected, answer["r"], self.tolerance):
            return Outcome(name, True)
        inner = case.expected if case.wrapped and isinstance(case.expected, list) else ()
        if len(inner) == 1 and matches(inner[0], answer["r"], self.tolerance):
            return Outcome(name, True)
        return Outcome(name, False, f"returned {shown(answer['r'])}")

    # ------------------------------------------------------------------------------------- test code

    def test_code(self, tests: TestCode) -> list[Outcome]:
        judge: dict[str, Any] = {
            "run": "grader:grade",
            "entry": tests.entry,
            "setup": tests.setup,
            "module": MODULE,
            "stop": self.stop,
            "test": tests.text,
            "asserts": tests.asserts,
        }
        patience = replace(self.limits, seconds=self.limits.seconds + 2.0)
        if isinstance(self.box, Sandbox):
            if all(map(is_simple, (tests.setup, tests.text, *(tests.asserts or ())))):
                return self.judged_quickly(self.box, tests, judge)
            return self.side_by_side(self.box, tests, judge, patience)
        return self.relayed(self.box, tests, judge, patience)

    def judged_quickly(self, sandbox: Sandbox, tests: TestCode, judge: dict[str, Any]) -> list[Outcome]:
        """The program in a process, its tests in one that judged others before."""
        job = program_job(self.whole(tests.setup))
        with sandbox.server("candidate") as server, sandbox.judge() as one:
            lines, candidate, died = one.judge(server, job, self.limits, judge)
        return _reported(lines, _ending(candidate, died))

    def side_by_side(
        self, sandbox: Sandbox, tests: TestCode, judge: dict[str, Any], patience: Limits
    ) -> list[Outcome]:
        """The program and its tests in two processes of the local sandbox, connected with each other."""
        job = program_job(self.whole(tests.setup))
        with sandbox.server("candidate") as one, sandbox.server("grader") as other:
            ours, theirs = socket.socketpair()
            candidate = Running(one, job, self.limits, channel=theirs.detach())
            try:
                grader = Running(other, judge, patience, channel=ours.detach(), report=True)
            except SandboxError:
                candidate.close()
                raise
            try:
                pump([candidate, grader], lambda: grader.ended is not None)
                died = candidate.ended
                finish([candidate, grader])
            finally:
                candidate.close()
                grader.close()
        return _reported(_lines(grader), _ending(candidate, died is not None))

    def relayed(
        self, box: OneShot, tests: TestCode, judge: dict[str, Any], patience: Limits
    ) -> list[Outcome]:
        """The tests in a process of the local sandbox, the program elsewhere."""
        # every request is a run elsewhere, whose time is not the tests'
        patience = replace(patience, seconds=600.0)
        ended = ""
        with (
            graders().server("grader") as server,
            open_talk(box, self.whole(tests.setup), self.limits) as talk,
        ):
            grader = Running(server, judge, patience, channel=True, report=True)
            try:
                while not ended:
                    pump([grader], lambda: grader.has_line or grader.ended is not None)
                    if not grader.has_line:
                        break
                    answer = talk.ask(json.loads(grader.take_line()))
                    if answer is None:
                        ended = talk.status
                        grader.hang_up()
                    else:
                        grader.send(answer)
                pump([grader], lambda: grader.ended is not None)
                finish([grader])
            finally:
                grader.close()
        return _reported(_lines(grader), ended)


def _request(entry: str, case: Case, name: str) -> dict[str, Any]:
    """The request for a case."""
    try:
        arguments = [encode(value) for value in case.arguments]
        named = {str(key): encode(value) for key, value in case.named.items()}
    except Uncrossable as error:
        raise TestsError(f"{name} has {error}, which cannot cross to the program") from None
    return {"op": "call", "of": entry, "a": arguments, "k": named}


@lru_cache(maxsize=1)
def graders() -> Sandbox:
    """Where the tests of programs that run elsewhere are run: they are the user's own, any level will do."""
    return Sandbox(Level.NONE)


_SAID = {
    "ok": "the program ended before it answered",
    "failed": "the program failed",
    "timeout": "took too long",
    "died": "the program died",
    "output": "printed too much",
    "disk": "wrote too much",
}


def _ending(candidate: Running, died: bool) -> str:
    """The status of a program that ended before its tests did, else ""."""
    assert candidate.ended is not None
    if candidate.ended.how == "refused":
        raise SandboxError("the sandbox could not confine the program")
    return status_of(candidate.ended, flooded=candidate.flooded) if died else ""


def _lines(grader: Running) -> list[list[Any]]:
    """The report of a process that judged one program."""
    assert grader.ended is not None
    if grader.ended.how == "refused":
        raise SandboxError("the sandbox could not confine the tests")
    try:
        return [list(json.loads(line)) for line in bytes(grader.texts["report"]).split(b"\n") if line]
    except (ValueError, TypeError):
        raise TestsError("the tests wrote into their own report") from None


def _reported(lines: list[list[Any]], ended: str) -> list[Outcome]:
    """The outcomes in a report; `ended` is the status of a program that ended before its tests did."""
    outcomes = []
    end: tuple[bool, str] | None = None
    for name, passed, why in lines:
        if name == "end":
            end = (passed, why)
        else:
            outcomes.append(Outcome(name, passed, why))
    how = _SAID[ended] if ended else ""
    if end is None:
        return [
            *outcomes,
            Outcome("the tests", False, how or "the tests did not come to an end with its answers"),
        ]
    if not end[0]:
        raise TestsError(end[1])
    return [_explained(outcome, how) for outcome in outcomes]


def _explained(outcome: Outcome, how: str) -> Outcome:
    """An outcome that failed because the program's process ended, with how it ended."""
    kind, _, why = outcome.why.partition(": ")
    if kind != "CandidateGone":
        return outcome
    return replace(outcome, why=how if how and "does not load" not in why else why)


def _raised(answer: Any) -> str:
    try:
        if "x" in answer:
            return f"the program does not load: {str(answer['x'])[:200]}"
        return f"raised {str(answer['e'][0][0])[:60]}: {str(answer['m'])[:200]}"
    except (TypeError, KeyError, IndexError):
        return "answered nothing that can be read"


def _short(text: str) -> str:
    shown_text = repr(text)
    return shown_text if len(shown_text) <= 80 else f"{shown_text[:77]}..."
