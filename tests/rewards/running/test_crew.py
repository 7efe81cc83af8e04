"""All rewards of a set at the same time, and everything they say."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rewards.contract import Batch, Status
from rewards.errors import ShortfallError
from rewards.running import Crew
from rewards.running.crew import QUICK_CALLS

FILE = """
import time
from pathlib import Path
from rewards import credit

HERE = Path(__file__).parent
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

def met(own, other):
    (HERE / own).touch()
    for _ in range(3000):
        if (HERE / other).exists():
            return 1.0
        time.sleep(0.01)
    return 0.0

def waits(completions, **_):
    return [met("first", "second") if text == "meet" else time.sleep(0.3) for text in completions]

def also_waits(completions, **_):
    return [met("second", "first") if text == "meet" else time.sleep(0.3) for text in completions]
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
    results = by_name(crew, rows("meet"))
    assert [results[name].scores[0] for name in ("waits", "also_waits")] == [1.0, 1.0]


QUICK = """
import os, time
from rewards import credit

seen = []

def one(completions, trainer_state, log_extra, **_):
    log_extra("length", [len(text) for text in completions])
    if "stop" in completions:
        time.sleep(60)
    if "end" in completions:
        os._exit(3)
    return [credit("process", float(os.getpid())) for _ in completions]

def two(completions, trainer_state, **_):
    if "raise" in completions:
        raise ValueError("no")
    return [os.getpid() + len(trainer_state.log_history) / 100] * len(completions)

def slow(completions, **_):
    time.sleep(0.02)
    return [os.getpid()] * len(completions)

def keeps(completions, **_):
    seen.append(1)
    return [os.getpid()] * len(completions)
"""


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Crew]:
    (tmp_path / "quick.py").write_text(QUICK)
    (tmp_path / "rewardset.toml").write_text(
        "".join(
            f'[[reward]]\nfunction = "quick.py::{name}"\ntimeout_s = 2\n'
            for name in ("one", "two", "slow", "keeps")
        )
    )
    with Crew(tmp_path) as made:
        for _ in range(QUICK_CALLS):
            apart = by_name(made, rows("a"), state(0))
            assert len({result.scores[0] for result in apart.values()}) == 4
        for _ in range(200):  # a busy machine takes its time
            if all(made._quick_calls[name] >= QUICK_CALLS for name in ("one", "two")):
                break
            by_name(made, rows("a"), state(0))
        yield made


def test_quick_rewards_that_keep_nothing_share_a_process_once_they_are_known(quick: Crew) -> None:
    results = by_name(quick, rows("a", "bc"), state(2))
    process = results["one"].scores[0]
    assert results["two"].scores.tolist() == [process + 0.02] * 2
    assert len({process, results["slow"].scores[0], results["keeps"].scores[0]}) == 3
    assert results["one"].extra == {"length": [1, 2]}
    assert [row[0]["name"] for row in results["one"].credits or []] == ["process"] * 2


@pytest.mark.parametrize(("text", "fault"), [("stop", Status.TIMEOUT), ("end", Status.DIED)])
def test_where_one_of_them_fails_the_others_have_their_scores_and_all_are_apart_again(
    quick: Crew, text: str, fault: Status
) -> None:
    results = by_name(quick, rows("a", text), state(2))
    assert [Status(value) for value in results["one"].status] == [Status.NUMBER, fault]
    assert [Status(value) for value in results["two"].status] == [Status.NUMBER] * 2
    assert results["two"].scores[0] % 1 == pytest.approx(0.02)
    later = by_name(quick, rows("a"), state(3))
    assert later["two"].scores[0] % 1 == pytest.approx(0.03)
    assert int(later["two"].scores[0]) != later["one"].scores[0]


def test_one_that_raises_does_so_alone(quick: Crew) -> None:
    results = by_name(quick, rows("a", "raise"), state(0))
    assert [Status(value) for value in results["two"].status] == [Status.NUMBER, Status.RAISED]
    assert [Status(value) for value in results["one"].status] == [Status.NUMBER] * 2


def test_one_that_changes_its_rows_changes_them_for_itself(tmp_path: Path) -> None:
    (tmp_path / "quick.py").write_text(
        "def changes(completions, **_):\n    completions[0] = 'other'\n    return [0.0] * len(completions)\n\n"
        "def reads(completions, **_):\n    return [float(text == 'own') for text in completions]\n"
    )
    (tmp_path / "rewardset.toml").write_text(
        "".join(f'[[reward]]\nfunction = "quick.py::{name}"\n' for name in ("changes", "reads"))
    )
    with Crew(tmp_path) as crew:
        for _ in range(3 * QUICK_CALLS):
            assert by_name(crew, rows("own"))["reads"].scores.tolist() == [1.0]


def test_a_slow_first_call_costs_no_process(tmp_path: Path) -> None:
    (tmp_path / "quick.py").write_text(
        "import functools, os, time\n\n"
        "@functools.cache\ndef table():\n    time.sleep(1.2)\n    return 1.0\n\n"
        "def looks_up(completions, **_):\n    return [table() + os.getpid()] * len(completions)\n\n"
        "def plain(completions, **_):\n    return [float(os.getpid())] * len(completions)\n"
    )
    (tmp_path / "rewardset.toml").write_text(
        "".join(f'[[reward]]\nfunction = "quick.py::{name}"\n' for name in ("plain", "looks_up"))
    )
    with Crew(tmp_path) as crew:
        for _ in range(4 * QUICK_CALLS):
            crew.call_all(rows("a"))
        assert [post.worker.generation for post in crew._posts.values()] == [1, 1]


def test_a_process_that_is_replaced_does_not_go_on_with_changed_code(quick: Crew, tmp_path: Path) -> None:
    code = (tmp_path / "quick.py").read_text()
    (tmp_path / "quick.py").write_text(code.replace("float(os.getpid())", "0.0"))
    with pytest.raises(ShortfallError, match="changed since the run began"):
        by_name(quick, rows("end"), state(0))


def test_processes_that_end_are_looked_into_at_the_same_time(tmp_path: Path) -> None:
    names = [f"ends_{at}" for at in range(3)]
    (tmp_path / "ends.py").write_text(
        "import os, time\n\n"
        + "".join(
            f"def {name}(completions, **_):\n"
            "    if 'end' in completions:\n        os._exit(3)\n"
            "    began = time.time()\n    time.sleep(0.5 * len(completions))\n"
            "    return [began, *[time.time()] * (len(completions) - 1)]\n\n"
            for name in names
        )
    )
    (tmp_path / "rewardset.toml").write_text(
        "".join(f'[[reward]]\nfunction = "ends.py::{name}"\n' for name in names)
    )
    with Crew(tmp_path) as crew:
        results = crew.call_all(rows("a", "end", "b"))
    spans = sorted((result.scores[[0, 2]].min(), result.scores[[0, 2]].max()) for result in results)
    assert any(later[0] < earlier[1] for earlier, later in itertools.pairwise(spans)), "one after the other"
    assert [Status(result.status[1]) for result in results] == [Status.DIED] * 3
