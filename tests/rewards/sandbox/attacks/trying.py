"""Trying attacks at a level: what they did, as a row of the table."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from rewards.sandbox import Job, Limits, Result, Sandbox, Verdict, grade, grade_all, read_tests
from rewards.sandbox.task import Tests
from tests.rewards.sandbox.attacks.attack import SECRET, VARIABLE, Attack, Cheat, Ground
from tests.rewards.sandbox.attacks.cheats import HONEST


@dataclass(frozen=True)
class Tried:
    """How an attack went: whether anything broke, and how it ended in a few words that are the same each time."""

    broke: bool
    how: str


def try_attack(sandbox: Sandbox, attack: Attack) -> Tried:
    """Run an attack in a sandbox and look at what happened outside."""
    with (
        tempfile.TemporaryDirectory(prefix="attack-", dir="/var/tmp") as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv(VARIABLE, SECRET)
        Path(folder).chmod(0o755)
        with Ground(Path(folder)).listening() as ground:
            limits = Limits(seconds=attack.seconds)
            if attack.before:
                assert sandbox.run(Job(attack.before)).status == "ok"
            server = _server_of(sandbox)
            result = sandbox.run(Job(ground.filled(attack.code), limits=limits))
            broke = attack.broke(ground, result) or result.status == "error" or _server_of(sandbox) != server
            after = sandbox.run(Job("print(6 * 7)"))
            broke = broke or after.output != "42\n" or ground.victim_changed
            columns, honest = HONEST[1]
            broke = broke or not grade(sandbox, honest, _tests(columns)).all_passed
    return Tried(broke, _words(result))


_ENDED = {
    "timeout": "ended at its deadline",
    "died": "its process died",
    "output": "ended: it printed too much",
    "disk": "ended: it wrote too much",
    "error": "the sandbox failed",
}


def _words(result: Result) -> str:
    """How a program ended, without anything that differs from run to run."""
    refused = [line.removeprefix("no ") for line in result.output.splitlines() if line.startswith("no ")]
    words = list(dict.fromkeys(refused))
    if result.status in _ENDED:
        words.append(_ENDED[result.status])
    elif result.status == "failed" and result.error:
        words.append(result.error.splitlines()[-1].partition(":")[0].partition(" ")[0])
    return ", ".join(words) or "nothing came of it"


def _server_of(sandbox: Sandbox) -> int:
    """The process of the one idle server; another one means that an attack ended it."""
    with sandbox.server("candidate") as server:
        return server.process.pid


def try_cheat(sandbox: Sandbox, cheat: Cheat) -> Tried:
    """Grade a cheating program, and an honest one after it by the same server and judge.

    Anything but a verdict that pays nothing is a break, and so is anything but full marks for the honest one.
    """
    limits = Limits(seconds=cheat.seconds)
    honest = next((code for columns, code in HONEST if columns is cheat.columns), None)
    programs = [(cheat.code, _tests(cheat.columns))]
    programs.append((honest, programs[0][1]) if honest is not None else (HONEST[1][1], _tests(HONEST[1][0])))
    verdict, after = grade_all(sandbox, programs, limits=limits)
    if not isinstance(verdict, Verdict):
        return Tried(True, f"no verdict: {verdict}")
    if not isinstance(after, Verdict) or not after.all_passed:
        return Tried(True, f"the next program has lost: {after}")
    return Tried(cheat.is_paid(verdict), f"{verdict.passed} of {len(verdict.outcomes)} tests passed")


def _tests(columns: dict[str, object]) -> Tests:
    tests = read_tests(**columns)  # type: ignore[arg-type]
    assert tests is not None
    return tests
