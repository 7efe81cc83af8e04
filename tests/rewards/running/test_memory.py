"""Each reward has a memory limit of its own, in a process that several share."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewards.contract import Batch, Status
from rewards.running import Runner

FILE = """
from rewards.marks import reward

kept = []

@reward(memory_mb=700)
def large(completions, **_):
    kept.append(bytearray(500 << 20))
    return [1.0] * len(completions)

@reward(memory_mb=128)
def small(completions, **_):
    return [float(len(bytearray(int(text) << 20)) > 0) for text in completions]

@reward(memory_mb=16777216)
def endless(completions, **_):
    return [1.0] * len(completions)
"""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("memory") / "rewards.py"
    path.write_text(FILE)
    return path


def test_the_limit_is_the_rewards_own(target: Path) -> None:
    with Runner() as runner, runner.worker(target, Batch(["p"] * 2, ["20", "400"])) as worker:
        result = worker.call("small")
    assert result.scores[0] == 1.0
    assert "MemoryError" in result.errors[1]


def test_what_one_keeps_is_not_taken_from_another(target: Path) -> None:
    with Runner() as runner, runner.worker(target, Batch(["p"], ["20"])) as worker:
        results = [worker.call(name) for name in ("large", "small", "large", "small")]
    assert [Status(result.status[0]) for result in results] == [
        Status.NUMBER, Status.NUMBER, Status.RAISED, Status.NUMBER
    ]  # fmt: skip


def test_the_largest_limit_there_is_does_no_harm(target: Path) -> None:
    with Runner() as runner, runner.worker(target, Batch(["p"], ["20"])) as worker:
        assert worker.call("endless").scores.tolist() == [1.0]
