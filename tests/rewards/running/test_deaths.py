"""Many failures in one batch: no other row is lost, no process is left."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rewards.contract import Batch, Status
from rewards.running import Runner

FILE = """
import os, time

def killer(completions, **_):
    for text in completions:
        if text.startswith("exit"):
            os._exit(3)
        if text.startswith("signal"):
            os.kill(os.getpid(), 11)
        if text.startswith("child"):
            if os.fork() == 0:
                os.setsid()
                time.sleep(300)
            os._exit(4)
        if text.startswith("loop"):
            while True:
                pass
    return [float(text) for text in completions]
"""


def children() -> set[int]:
    """Processes below this one, however deep, dead ones not counted."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    below = {os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in below} - below
        if not more:
            return below - {os.getpid()}
        below |= more


def check(tmp_path: Path, rows: int, deaths: dict[int, str], spawn: bool) -> None:
    (tmp_path / "rewards.py").write_text(FILE)
    texts = [deaths.get(row, str(row)) for row in range(rows)]
    batch = Batch(["p"] * rows, texts)
    before = children()
    with Runner(spawn=spawn, batch=batch) as runner:
        with runner.worker(tmp_path / "rewards.py", batch) as worker:
            result = worker.call("killer", timeout_s=0.2)
        assert len(children() - before) == 2, "only the template and its guard are left"
    assert children() - before == set()
    failed = {row: Status(result.status[row]) for row in range(rows) if result.status[row] != Status.NUMBER}
    assert failed == {row: Status.TIMEOUT if text == "loop" else Status.DIED for row, text in deaths.items()}
    assert all(result.scores[row] == row for row in range(rows) if row not in deaths)


@pytest.mark.parametrize("spawn", [False, True])
def test_killers_among_the_rows_cost_nobody_else_a_score(tmp_path: Path, spawn: bool) -> None:
    check(tmp_path, 400, {3: "exit", 50: "signal", 51: "loop", 120: "child", 399: "exit"}, spawn)


@pytest.mark.slow
def test_a_thousand_deaths_leave_no_process(tmp_path: Path) -> None:
    kinds = ["exit", "signal", "child", "exit"]
    check(tmp_path, 1100, {row: kinds[row % 4] for row in range(1000)}, spawn=False)


@pytest.mark.slow
def test_six_killers_among_ten_thousand_rows(tmp_path: Path) -> None:
    deaths = {10: "exit", 2500: "signal", 4000: "loop", 5000: "child", 7777: "loop", 9999: "exit"}
    check(tmp_path, 10_000, deaths, spawn=False)
