"""Explanations under deadlines: what `score` says, whatever hangs, and nothing hangs twice."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewards.running import Runner
from rewards.tracing.explanation import RewardExplanation
from tests.workbench.tables import samples
from workbench import explained_calls
from workbench.explanation import explain
from workbench.samples import Samples
from workbench.scoring import score

FILE = """
import time
from rewards import reward

@reward(timeout_s=0.3{declared})
def slow(completions, **_):
    scores = []
    for text in completions:
        with open({log!r}, "a") as log:
            log.write(text + "\\n")
        time.sleep(30 if text == "slow" else 0)
        scores.append(0.5 if "o" in text else 0.0)
    return scores
"""

ROWS = samples(["no", "yes", "slow"], ["x", "x", "x"])


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as runner:
        yield runner


def written(folder: Path, declared: str = "") -> tuple[Path, Path]:
    """The rewards' file, and the one in which it says what it was called with."""
    file, log = folder / "rewards.py", folder / "calls.txt"
    file.write_text(FILE.format(declared=declared, log=str(log)))
    return file, log


def explained(file: Path, rows: Samples, numbers: list[int], runner: Runner) -> list[RewardExplanation]:
    return [row.rewards[0] for row in explain(file, rows, numbers, runner)]


@pytest.mark.parametrize("declared", ["", ", scope='row'", ", scope='group'"])
def test_scores_and_failures_are_those_of_score(tmp_path: Path, runner: Runner, declared: str) -> None:
    file, _ = written(tmp_path, declared)
    table = score(file, ROWS, runner=runner)
    found = explained(file, ROWS, [0, 1, 2], runner)
    assert [one.score for one in found] == [table.cell(row, 0) for row in range(3)]
    assert {row: one.error for row, one in enumerate(found) if one.error} == {
        row: why for (row, _), why in table.errors.items()
    }
    assert [bool(one.credits) for one in found] == [one.score is not None for one in found]


def test_a_row_that_hangs_is_over_after_its_deadline(tmp_path: Path, runner: Runner) -> None:
    file, _ = written(tmp_path)
    began = time.monotonic()
    (found,) = explained(file, ROWS, [2], runner)
    assert (found.score, found.error) == (None, "took over 0.3 s and was ended")
    assert time.monotonic() - began < 15


def test_a_single_row_that_hangs_is_tried_once(tmp_path: Path, runner: Runner) -> None:
    file, log = written(tmp_path)
    (found,) = explained(file, samples(["slow"], ["x"]), [0], runner)
    assert (found.error, log.read_text()) == ("took over 0.3 s and was ended", "slow\n")


def test_a_row_that_hung_is_not_tried_again_with_its_neighbours(tmp_path: Path, runner: Runner) -> None:
    file, log = written(tmp_path)
    list(explain(file, ROWS, [2], runner))
    once = log.read_text().count("slow")
    log.unlink()
    list(explain(file, ROWS, [0, 1, 2, 0, 1, 2], runner))
    assert log.read_text().count("slow") == once


def test_the_place_in_the_group_is_that_among_the_scored(tmp_path: Path, runner: Runner) -> None:
    file, _ = written(tmp_path)
    table = score(file, ROWS, runner=runner)
    places = [row.standing for row in explain(file, ROWS, None, runner)]
    assert [place.advantage if place else None for place in places] == [*table.advantages[:2].tolist(), None]


def test_a_call_that_is_slow_though_no_row_is_keeps_its_scores(tmp_path: Path, runner: Runner) -> None:
    file, _ = written(tmp_path)
    file.write_text(file.read_text().replace('30 if text == "slow" else 0', "0.12"))
    rows = samples([f"{number} o" for number in range(5)], ["x"] * 5)
    assert [one.score for one in explained(file, rows, [0, 4], runner)] == [0.5, 0.5]


RECORDED = """
import gc, os, time

def slow(completions, **_):
    if not gc.isenabled():  # it is being recorded
        {what}
    return [0.5 for _ in completions]
"""


def lost(folder: Path, what: str) -> Path:
    """A reward that does this where it is recorded."""
    file = folder / "rewards.py"
    file.write_text(RECORDED.format(what=what))
    return file


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("time.sleep(60)", "there are no credits: the recorded call took over 1 s and was ended"),
        ("os._exit(3)", "there are no credits: the recorded call ended its process: exit code 3"),
    ],
)
def test_a_trace_that_is_lost_costs_no_score(
    tmp_path: Path, runner: Runner, monkeypatch: pytest.MonkeyPatch, what: str, why: str
) -> None:
    monkeypatch.setattr(explained_calls, "TRACING_S", 1.0)
    monkeypatch.setattr(explained_calls, "TRACES_LOST", 1)
    found = explained(lost(tmp_path, what), ROWS, [0, 1, 2], runner)
    assert [one.score for one in found] == [0.5] * 3
    assert [one.exact for one in found] == [False] * 3
    assert [one.notes for one in found] == [(why,)] * 3
