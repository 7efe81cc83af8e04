"""A long session of edits: memory stays flat and no process is left, with real workers and no browser."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewards.running import Runner
from tests.workbench.app.conftest import SOURCE, wait_for
from workbench.app.bench import Bench
from workbench.app.desk import Desk
from workbench.app.engine import ProcessEngine
from workbench.app.project_files import open_project
from workbench.app.state import desk_state

FLAT = 1.10
"""Memory after all edits, over that after the first third."""


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def offspring(pid: int) -> set[int]:
    """Processes that this one started, and theirs."""
    found: set[int] = set()
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it, or a thread of it, ended meanwhile
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found |= {int(child)} | offspring(int(child))
    return found


@pytest.fixture
def real(project: Path, tmp_path: Path) -> Iterator[tuple[Bench, Runner]]:
    with Runner(spawn=True) as runner:
        bench = Bench(open_project(project), lambda: ProcessEngine(runner), tmp_path / "drafts")
        yield bench, runner
        bench.close()


def edited(desk: Desk, number: int) -> None:
    """Type another version, wait for its scores, look at the page, now and then at a row; every tenth does not load."""
    text = SOURCE.replace("0.25", f"0.{number % 89 + 10}")
    run = desk.edit("rewards.py", text if number % 10 else "def shaped(completions:\n", force=True)
    wait_for(lambda: desk.run == run and desk.status != "running", 30)
    assert desk.status == ("scored" if number % 10 else "broken")
    desk_state(desk)
    if number % 4 == 1:
        desk.explain(number % 6)


def go_on_editing(real: tuple[Bench, Runner], edits: int) -> None:
    bench, _ = real
    before = offspring(os.getpid())
    desk = bench.desk("desk0000")
    wait_for(lambda: desk.status == "scored", 30)
    for number in range(1, edits // 3):
        edited(desk, number)
    third = resident()
    for number in range(edits // 3, edits + 1):
        edited(desk, number)
    assert resident() < third * FLAT
    assert len(list(desk.shelf.scratch.glob("desk0000-*"))) <= 1  # the mirrors of earlier texts are gone
    bench.close()
    wait_for(lambda: len(offspring(os.getpid()) - before) <= 1, 20)  # the runner's template alone


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc")
def test_sixty_edits_leave_memory_flat_and_no_process(real: tuple[Bench, Runner]) -> None:
    go_on_editing(real, 60)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc")
def test_a_thousand_edits_leave_memory_flat_and_no_process(real: tuple[Bench, Runner]) -> None:
    go_on_editing(real, 1000)


def test_a_worker_that_is_killed_loses_nothing_that_was_typed(real: tuple[Bench, Runner]) -> None:
    bench, _ = real
    desk = bench.desk("desk0000")
    wait_for(lambda: desk.status == "scored", 30)
    idle = offspring(os.getpid())
    typed = SOURCE.replace("    scores = []\n", "    while True:\n        pass\n", 1)
    desk.edit("rewards.py", typed)
    wait_for(lambda: bool(offspring(os.getpid()) - idle), 20)
    for pid in offspring(os.getpid()) - idle:
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: desk.status != "running", 30)
    draft = desk.shelf.drafts.read(desk.shelf.project.path("rewards.py"))
    assert draft is not None
    assert (desk.sheets["rewards.py"].text, draft.text) == (typed, typed)
    edited(desk, 1)


def test_two_tabs_edit_one_text_and_see_their_own_uploads_and_runs_only(bench: Bench) -> None:
    one, other = bench.desk("desk0001"), bench.desk("desk0002")
    one.edit("rewards.py", "typed in one tab\n")
    assert other.sheets["rewards.py"].text == "typed in one tab\n"
    (one.shelf.uploads("desk0001") / "mine.jsonl").write_text("{}")
    assert list(other.shelf.uploads("desk0002").iterdir()) == []
    assert one.checking is not other.checking
    assert one.generating is not other.generating
