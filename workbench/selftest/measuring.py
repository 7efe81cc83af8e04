"""Running `check` over entries of the zoos, each in a process of its own with a limit on its time.

The command itself is run, as a user runs it. An entry on which it hangs, dies or prints no report has not been
found, whatever was wrong with it.
"""

from __future__ import annotations

import concurrent.futures
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from workbench.selftest.naming import names_it
from workbench.selftest.zoo import Entry, manifest

LIMIT_S = 120.0
"""Seconds after which the checks of an entry are given up."""


@dataclass(frozen=True)
class Said:
    """A finding as far as counting needs it; `also` are the codes of the checks that it speaks for beside its own."""

    check: str
    severity: str
    message: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """What the checks said of an entry, with its declaration or without.

    `loud` are the findings at warning level or above, what costs most first; `seconds` the report's own time;
    `problem` is "" or why there is no report.
    """

    id: str
    zoo: str
    kind: str | None
    severity: str | None
    declared: bool
    loud: tuple[Said, ...]
    seconds: float
    problem: str = ""

    @property
    def naming(self) -> list[str]:
        """The checks that name the defect or a consequence of it, in the order of the report."""
        said = [code for one in self.loud for code in (one.check, *one.also)]
        return [code for code in said if self.kind and names_it(self.kind, code)]

    @property
    def found(self) -> bool:
        """Whether a broken entry was found."""
        return bool(self.naming)

    @property
    def alarmed(self) -> bool:
        """Whether a sound entry was called broken."""
        return self.kind is None and bool(self.loud)

    def to_json(self) -> dict[str, Any]:
        """The fields, with what was counted."""
        return {**asdict(self), "found": self.found, "alarmed": self.alarmed}


def measure(
    entries: Sequence[Entry],
    *,
    declared: Sequence[bool] = (True, False),
    quick: bool = False,
    jobs: int = 2,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Result]:
    """The results of all entries, in their order, first with declarations and then without.

    Args:
        entries: what to check.
        declared: with declarations, without, or both.
        quick: run `check --quick`.
        jobs: processes at a time.
        progress: called with "rewards", the number done and the number to do.
    """
    work = [(entry, flag) for flag in declared for entry in entries]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(check_entry, entry, declared=flag, quick=quick) for entry, flag in work]
        for done, _ in enumerate(concurrent.futures.as_completed(waiting), 1):
            if progress is not None:
                progress("rewards", done, len(work))
    return [future.result() for future in waiting]


def check_entry(entry: Entry, *, declared: bool, quick: bool = False, limit_s: float = LIMIT_S) -> Result:
    """One entry in a folder of its own: its code as `rewards.py`, with a manifest where something is declared."""
    with tempfile.TemporaryDirectory(prefix="selftest-") as name:
        folder = Path(name)
        (folder / "rewards.py").write_bytes(entry.file.read_bytes())
        target = f"rewards.py::{entry.functions[0]}"
        if declared or entry.is_set:
            (folder / "rewardset.toml").write_text(manifest(entry, "rewards.py", declared=declared), "utf-8")
            target = "."
        return _run(entry, folder, target, declared=declared, quick=quick, limit_s=limit_s)


def _run(entry: Entry, folder: Path, target: str, *, declared: bool, quick: bool, limit_s: float) -> Result:
    began = time.perf_counter()
    command = [sys.executable, "-P", "-m", "workbench.cli.main", "check", target]
    command += ["--samples", str(entry.tasks.resolve()), "--format", "json", *(["--quick"] if quick else [])]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=limit_s
        )
    except subprocess.TimeoutExpired:
        return _result(entry, declared, (), limit_s, f"not finished after {limit_s:g} s")
    try:
        report = json.loads(done.stdout)
    except ValueError:
        why = (done.stderr.strip().splitlines() or ["no output"])[-1]
        seconds = time.perf_counter() - began
        return _result(entry, declared, (), seconds, f"exit code {done.returncode}: {why}")
    return _result(entry, declared, tuple(_loud(report)), report["seconds"])


def _result(
    entry: Entry, declared: bool, loud: tuple[Said, ...], seconds: float, problem: str = ""
) -> Result:
    return Result(entry.id, entry.zoo, entry.kind, entry.severity, declared, loud, seconds, problem)


def _loud(report: dict[str, Any]) -> Iterator[Said]:
    rewards = [finding for reward in report["rewards"] for finding in reward["findings"]]
    for finding in [*rewards, *report["set"]["findings"]]:
        if finding["severity"] != "info":
            also = tuple(other["check"] for other in finding.get("also", ()))
            yield Said(finding["check"], finding["severity"], finding["message"], also)


__all__ = ["Result", "Said", "check_entry", "measure"]
