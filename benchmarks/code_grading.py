"""Programs a second: graded in the sandbox, against the customary checker.

The customary checker (as human-eval has it, written afresh here) forks the whole interpreter for each program, with
a manager process for the result, switches off some functions, and believes what the program's process says. It is
no sandbox. Both run HumanEval's canonical solutions against HumanEval's own tests.

    .venv/bin/python benchmarks/code_grading.py [-n PROGRAMS] [--rounds ROUNDS]
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import json
import multiprocessing
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from timing import interleaved, ratio, show

from rewards.errors import SandboxError
from rewards.sandbox import Level, Sandbox, Verdict, grade_all, read_tests

FIXTURE = Path(__file__).resolve().parent.parent / "fixtures" / "humaneval" / "samples.jsonl"
CHECKER = "customary checker, one after the other"
GOALS = {1: 3.5, 2: 6.0}


def problems(count: int) -> list[dict[str, Any]]:
    """Problems spread over the whole set, each with its canonical solution as `code`."""
    rows = [json.loads(line) for line in FIXTURE.read_text(encoding="utf-8").splitlines()]
    rows = rows[:: max(1, len(rows) // count)][:count]
    for row in rows:
        text = next(one["completion"] for one in row["samples"] if one["kind"] == "canonical")
        row["code"] = text.split("```python\n")[1].split("```")[0]
    return rows


# -------------------------------------------------------------------------------- the customary checker


def check_correctness(problem: dict[str, Any], timeout: float) -> bool:
    """Whether a program passes, as its own process says."""
    with multiprocessing.Manager() as manager:
        result = manager.list()
        process = multiprocessing.Process(target=unsafe_execute, args=(problem, timeout, result))
        process.start()
        process.join(timeout=timeout + 1)
        if process.is_alive():
            process.kill()
        return bool(result) and result[0] == "passed"


def unsafe_execute(problem: dict[str, Any], timeout: float, result: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        kept = shutil.rmtree, os.rmdir, os.chdir
        guard()
        program = f"{problem['setup']}\n{problem['code']}\n{problem['test']}\ncheck({problem['entry_point']})"
        try:
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
                limit(timeout),
            ):
                exec(program, {})  # noqa: S102  # what is measured
            result.append("passed")
        except TimeoutError:
            result.append("timed out")
        except BaseException as error:  # noqa: BLE001  # what is measured
            result.append(f"failed: {error}")
        shutil.rmtree, os.rmdir, os.chdir = kept
        os.chdir("/")


def guard() -> None:
    """Switch off what a program could do harm with by mistake."""
    import builtins
    import subprocess

    faulthandler.disable()
    builtins.exit = builtins.quit = None  # type: ignore[assignment]
    names = (
        "kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg rename renames truncate"
    )
    for name in f"{names} replace unlink fchmod fchown chmod chown chroot lchown getcwd chdir".split():
        setattr(os, name, None)
    shutil.rmtree = shutil.move = shutil.chown = None  # type: ignore[assignment]
    subprocess.Popen = None  # type: ignore[assignment,misc]


@contextlib.contextmanager
def limit(seconds: float) -> Iterator[None]:
    def over(number: int, frame: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


# ------------------------------------------------------------------------------------------ measurement


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-n", type=int, default=41, help="programs a round")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    multiprocessing.set_start_method("fork")
    rows = problems(options.n)
    programs = [
        (row["code"], read_tests(test=row["test"], entry_point=row["entry_point"], setup=row["setup"]))
        for row in rows
    ]

    def checker() -> None:
        assert all(check_correctness(row, 3.0) for row in rows)

    def sandboxed(box: Sandbox, workers: int) -> None:
        verdicts = grade_all(box, programs, workers=workers, stop=True)  # type: ignore[arg-type]
        assert all(isinstance(one, Verdict) and one.all_passed for one in verdicts)

    cases: dict[str, Any] = {CHECKER: checker}
    for level in (Level.LANDLOCK, Level.BUBBLEWRAP):
        box = Sandbox(only=level)
        try:
            box.level()
        except SandboxError as error:
            print(f"{level.value}: {error}")
            continue
        for workers in GOALS:
            cases[f"{level.value}, {workers} at a time"] = lambda box=box, workers=workers: sandboxed(
                box, workers
            )
    seconds = interleaved(cases, options.rounds)
    print(f"{len(rows)} programs a round, {options.rounds} rounds")
    print(show(seconds, CHECKER))
    used = {name: cpu_of(case) for name, case in cases.items()}
    for name in cases:
        if name != CHECKER:
            workers = int(name.split()[1])
            times = 1 / ratio(seconds, name, CHECKER)
            less = used[CHECKER] / used[name]
            goal = f"goal {GOALS[workers]}; {less:.1f} times less CPU a program"
            print(f"{name}: {times:.1f} times the checker's programs a second ({goal})")


def cpu_of(case: Any) -> float:
    """Seconds of CPU that a case takes in this process and all below it, servers that live on included."""
    before = cpu_now()
    case()
    return cpu_now() - before


def cpu_now() -> float:
    """Seconds of CPU of this process, of all it waited for, and of all that still run below it."""
    tick = os.sysconf("SC_CLK_TCK")
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
                used[int(entry.name)] = sum(map(int, fields[11:15])) / tick
    mine = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(used[pid] for pid in mine if pid in used)


if __name__ == "__main__":
    main()
