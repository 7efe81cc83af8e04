"""`runs = "warm"`: one process per code version keeps what took long to load."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rewards.contract import Batch
from rewards.running import Runner
from workbench.app.leash import Leash, Stopped

FILE = """
import os
from rewards.marks import reward

LOADED = os.getpid()

@reward(runs="warm")
def process(completions, **_):
    return [float(LOADED)] * len(completions)

@reward(runs="warm")
def length(completions, **_):
    if "die" in completions:
        os._exit(3)
    return [float(len(text)) for text in completions]
"""


@pytest.fixture
def runner() -> Iterator[Runner]:
    with Runner() as made:
        yield made


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "rewards.py").write_text(FILE)
    return tmp_path / "rewards.py"


def once(runner: Runner, target: Path, *texts: str) -> tuple[float, list[float]]:
    """The process that answered, and the lengths."""
    with runner.worker(target, Batch(["p"] * len(texts), list(texts))) as worker:
        return float(worker.call("process").scores[0]), worker.call("length").scores.tolist()


def test_the_process_is_kept_and_gets_the_new_rows(runner: Runner, target: Path) -> None:
    first, second = once(runner, target, "a", "bb"), once(runner, target, "ccc")
    assert (first[1], second[1]) == ([1.0, 2.0], [3.0])
    assert first[0] == second[0]


def test_changed_code_gets_a_process_of_its_own(runner: Runner, target: Path) -> None:
    first = once(runner, target, "a")
    target.write_text(FILE.replace("len(text)", "len(text) + 10"))
    second = once(runner, target, "a")
    assert second[1] == [11.0]
    assert first[0] != second[0]


def test_two_at_a_time_have_a_process_each(runner: Runner, target: Path) -> None:
    rows = Batch(["p"], ["a"])
    with runner.worker(target, rows) as one, runner.worker(target, rows) as two:
        assert one.call("process").scores[0] != two.call("process").scores[0]


def test_a_process_that_died_is_not_kept(runner: Runner, target: Path) -> None:
    first = once(runner, target, "a")
    assert once(runner, target, "die")[0] == first[0]
    assert once(runner, target, "bb")[1] == [2.0]


def test_an_ordinary_reward_starts_clean_each_time(runner: Runner, target: Path) -> None:
    target.write_text(FILE.replace('runs="warm"', "weight=1.0"))
    assert once(runner, target, "a")[0] != once(runner, target, "a")[0]


def test_a_leash_keeps_and_cuts_warm_processes_too(runner: Runner, target: Path) -> None:
    first = once(Leash(runner), target, "a")
    second = once(Leash(runner), target, "bb")
    assert first[0] == second[0]
    leash = Leash(runner)
    with pytest.raises(Stopped), leash.watched(), leash.worker(target, Batch(["p"], ["a"])):
        leash.cut()
    assert once(Leash(runner), target, "a")[0] != first[0]
