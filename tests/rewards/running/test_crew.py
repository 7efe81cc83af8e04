"""All rewards of a set at the same time, and everything they say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rewards.contract import Batch, Status
from rewards.running import Crew

FILE = """
import time
from rewards import credit

seen = []

def says(completions, log_extra, log_metric, **_):
    print("hello")
    log_extra("length", [len(text) for text in completions])
    log_metric("rows", len(completions))
    return [credit("short", 0.5, of=0.5) if len(text) < 3 else 0.0 for text in completions]

def reads_state(completions, trainer_state, **_):
    return [trainer_state.global_step + len(trainer_state.log_history) / 100] * len(completions)

def remembers(completions, **_):
    seen.append(1)
    return [float(len(seen))] * len(completions)

def hangs(completions, trainer_state, **_):
    if "stop" in completions:
        time.sleep(60)
    return [float(len(trainer_state.log_history))] * len(completions)

def picky(completions, **_):
    return [float(text == "maths") for text in completions]

def waits(completions, **_):
    started = time.time()
    time.sleep(0.3)
    return [started] * len(completions)

also_waits = waits
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crew")
    (folder / "rewards.py").write_text(FILE)
    (folder / "rewardset.toml").write_text(
        "".join(
            f'[[reward]]\nfunction = "rewards.py::{name}"\n{more}\n'
            for name, more in [
                ("says", ""), ("reads_state", ""), ("remembers", ""), ("hangs", "timeout_s = 0.5"),
                ("picky", 'when = { task = "maths" }'), ("waits", ""), ("also_waits", ""),
            ]
        )
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def crew(folder: Path) -> Iterator[Crew]:
    with Crew(folder) as made:
        yield made


def rows(*texts: str, **columns: list[Any]) -> Batch:
    return Batch(["p"] * len(texts), list(texts), [[1]] * len(texts), columns=columns)


def state(step: int) -> Any:
    return SimpleNamespace(
        global_step=step, max_steps=9, epoch=0.5, log_history=[{"loss": 0.0}] * step, _private=1, odd=object()
    )


def by_name(crew: Crew, batch: Batch, trainer_state: Any = None) -> dict[str, Any]:
    return dict(zip(crew.names, crew.call_all(batch, trainer_state), strict=True))


def test_what_a_reward_says_crosses_the_boundary(crew: Crew) -> None:
    result = by_name(crew, rows("ab", "abcd"))["says"]
    assert result.scores.tolist() == [0.5, 0.0]
    assert (result.extra, result.metrics, result.printed) == ({"length": [2, 4]}, {"rows": [2.0]}, "hello\n")
    assert [[credit["name"] for credit in row] for row in result.credits or []] == [["short"], []]


def test_the_trainers_live_state_arrives_with_its_log(crew: Crew) -> None:
    seen = [by_name(crew, rows("a"), state(step))["reads_state"].scores[0] for step in (1, 2, 5)]
    assert seen == [1.01, 2.02, 5.05]


def test_a_reward_keeps_its_memory_between_calls(crew: Crew) -> None:
    first, second = (by_name(crew, rows("a"))["remembers"].scores[0] for _ in range(2))
    assert second == first + 1


def test_a_hanging_row_is_a_status_and_the_fresh_process_knows_the_log(crew: Crew) -> None:
    result = by_name(crew, rows("go", "stop", "go"), state(3))["hangs"]
    assert [Status(value) for value in result.status] == [Status.NUMBER, Status.TIMEOUT, Status.NUMBER]
    assert result.scores[[0, 2]].tolist() == [3.0, 3.0]


def test_a_reward_that_does_not_apply_abstains(crew: Crew) -> None:
    result = by_name(crew, rows("maths", "x", task=["maths", "code"]))["picky"]
    assert result.scores[0] == 1.0
    assert Status(result.status[1]) == Status.ABSTAINED


def test_rewards_run_at_the_same_time(crew: Crew) -> None:
    results = by_name(crew, rows("a"))
    assert abs(results["waits"].scores[0] - results["also_waits"].scores[0]) < 0.25
