from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rewards.errors import UsageError
from workbench.app import programs as module
from workbench.app.programs import Program, Programs

Wait = Callable[..., None]
SLEEP = ["-n", "1", "-r", "1", "print('begun', flush=True); import time; time.sleep(60)"]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Programs]:
    """Programs that are a module of Python's own."""
    monkeypatch.setattr(module, "MODULE", "timeit")
    made = Programs(tmp_path)
    yield made
    if made.look("long").running:
        made.kill("long")


def test_a_program_says_what_it_prints_and_how_it_ended(programs: Programs, wait_for: Wait) -> None:
    programs.start("short", ["-n", "1", "-r", "1", "print('error: no')"])
    wait_for(lambda: not programs.look("short").running)
    found = programs.look("short")
    assert (found.code, found.failed, found.interrupted) == (0, False, False)  # a model may say such a thing
    assert "error: no" in found.said


@pytest.mark.parametrize(
    ("code", "said", "failed", "interrupted"),
    [
        (0, "> what ends a program?\nerror: a bug\ninterrupted", False, False),
        (1, "", True, False),
        (130, "interrupted", True, True),
        (None, "torch is loading\nerror: no such run", True, False),
        (None, "the model wrote 'error: none' here", False, False),
        (None, "interrupted", False, True),
    ],
)
def test_how_a_program_ended_is_told_by_its_code_and_by_its_words_only_where_that_is_unknown(
    code: int | None, said: str, failed: bool, interrupted: bool
) -> None:
    found = Program("run", False, code, said)
    assert (found.failed, found.interrupted) == (failed, interrupted)


def test_another_server_finds_it_and_can_stop_it(programs: Programs, tmp_path: Path, wait_for: Wait) -> None:
    programs.start("long", SLEEP)
    wait_for(lambda: "begun" in programs.look("long").said)
    other = Programs(tmp_path)
    assert other.look("long").running
    with pytest.raises(UsageError, match="running already"):
        other.start("long", SLEEP)
    other.ask_to_stop("long")
    wait_for(lambda: not programs.look("long").running)
    wait_for(lambda: not other.look("long").running)
    assert other.look("long").interrupted
    assert programs.look("long").interrupted


def test_a_program_is_killed_with_all_it_started(programs: Programs, wait_for: Wait) -> None:
    programs.start("long", SLEEP)
    programs.kill("long")
    wait_for(lambda: not programs.look("long").running)
    assert programs.look("long").known  # though it may have said nothing at all
    with pytest.raises(UsageError, match="is not running"):
        programs.kill("long")


def test_a_number_that_another_process_has_by_now_is_not_it(programs: Programs, tmp_path: Path) -> None:
    programs.folder.mkdir(parents=True)
    (programs.folder / "old.json").write_text('{"pid": 1, "command": ["train"]}')
    (programs.folder / "torn.json").write_text("{")
    assert not programs.look("old").running
    assert not programs.look("torn").running
    assert (programs.look("never").said, programs.look("never").known) == ("", False)


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 200])
def test_a_name_that_leads_elsewhere_is_refused(programs: Programs, name: str) -> None:
    with pytest.raises(UsageError, match="is no name"):
        programs.start(name, [])
