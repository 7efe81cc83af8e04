"""Slow, hanging and dying calls: who is at fault, and that nobody else's score changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rewards.contract import Batch, Status
from rewards.running import Crew, Runner
from rewards.running.calling import _spread

FILE = """
import os, time
from rewards.marks import reward

def longest(completions, **_):
    if "hang" in completions:
        while True: pass
    if "die" in completions:
        os._exit(3)
    most = max(map(len, completions))
    return [float(len(text) == most) for text in completions]

def slow(completions, **_):
    time.sleep(0.1 * len(completions))
    return longest(completions)

@reward(scope="row")
def slow_rows(completions, **_):
    time.sleep(0.1 * len(completions))
    return [float(len(completions))] * len(completions)

def crowd(completions, **_):
    if len(completions) > 3:
        os._exit(4)
    return [1.0] * len(completions)

def stuck(completions, **_):
    while not completions[0].startswith("9"): pass
    return [1.0] * len(completions)

def together(completions, **_):
    if len(completions) > 1:
        time.sleep(30)
    return [1.0] * len(completions)

@reward(scope="group")
def of_groups(completions, **_):
    return longest(completions)
"""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("calling") / "rewards.py"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as made:
        yield made


def rows(*texts: str, groups: str = "") -> Batch:
    return Batch(["p"] * len(texts), list(texts), groups=list(groups))


def test_a_slow_call_gets_the_time_its_rows_may_take_together(runner: Runner, target: Path) -> None:
    batch = rows(*("x" * (1 + number) for number in range(12)))
    with runner.worker(target, batch) as worker:
        result = worker.call("slow", timeout_s=0.3)
        kept = worker.generation
    assert result.scores.tolist() == [0.0] * 11 + [1.0]
    assert (result.errors, result.notes, kept) == ({}, (), 1)


def test_a_crew_leaves_a_slow_call_to_finish_as_well(target: Path) -> None:
    with Crew(target, ["slow"]) as crew:
        crew._posts["slow"].worker.description.rewards[0].entry.__dict__["timeout_s"] = 0.3
        (result,) = crew.call_all(rows(*("x" * (1 + number) for number in range(8))))
    assert result.scores.tolist() == [0.0] * 7 + [1.0]


@pytest.mark.parametrize("fault", ["hang", "die"])
def test_the_others_are_called_together_without_the_row_at_fault(
    runner: Runner, target: Path, fault: str
) -> None:
    with runner.worker(target, rows("a", "bb", fault, "ccccc", "d")) as worker:
        result = worker.call("longest", timeout_s=0.3)
    assert result.scores[[0, 1, 3, 4]].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert list(result.errors) == [2]
    assert "1 of 5 rows failed, and the others were scored in a call without it" in result.notes[0]


def test_groups_that_are_declared_are_told_apart(runner: Runner, target: Path) -> None:
    with runner.worker(target, rows("a", "bb", "die", "cccc", groups="xxyy")) as worker:
        result = worker.call("of_groups", timeout_s=0.3)
    assert (result.scores[:2].tolist(), list(result.errors), result.notes) == ([0.0, 1.0], [2, 3], ())


def test_rows_that_are_declared_keep_what_they_got_alone(runner: Runner, target: Path) -> None:
    with runner.worker(target, rows(*"abcdefgh")) as worker:
        result = worker.call("slow_rows", timeout_s=0.3)
    assert set(result.scores) <= {1.0, 8.0}
    assert result.errors == {}


def test_a_call_that_dies_though_no_row_does_has_died(runner: Runner, target: Path) -> None:
    with runner.worker(target, rows(*"abcde")) as worker:
        result = worker.call("crowd")
    assert (result.status == Status.DIED).all()
    assert result.errors[0] == "ended its process: exit code 4"


def test_a_call_that_hangs_though_no_row_does_ends_with_the_time_of_its_rows(
    runner: Runner, target: Path
) -> None:
    with runner.worker(target, rows(*"abc")) as worker:
        result = worker.call("together", timeout_s=0.4)
    assert (result.status == Status.TIMEOUT).all()
    assert result.errors[1] == "took over 1.2 s and was ended"


def test_rows_after_many_that_hang_keep_their_scores(runner: Runner, target: Path) -> None:
    with runner.worker(target, rows(*(f"{number // 2}" for number in range(20)))) as worker:
        result = worker.call("stuck", timeout_s=0.1)
    assert [row for row in range(20) if row not in result.errors] == [18, 19]
    assert "not run" not in "".join(result.errors.values())


@pytest.mark.parametrize("number", [1, 2, 7, 8, 200])
def test_rows_are_tried_from_all_over_the_call(number: int) -> None:
    order = _spread(number)
    assert sorted(order) == list(range(number))
    assert number < 8 or max(order[:4]) >= number // 2
