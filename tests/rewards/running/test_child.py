"""Calls inside a worker: every reward gets the rows as they came."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from rewards.contract import Batch
from rewards.rewardset import RewardSet
from rewards.running.child import Context, call_reward, call_rewards, call_units

FILE = """
def lowers(completions, answer, **_):
    answer[0].append("more")
    for completion in completions:
        completion[-1]["content"] = completion[-1]["content"].lower()
    return [1.0 for _ in completions]

def capitals(completions, answer, **_):
    assert "more" not in answer[0]
    return [float(sum(map(str.isupper, completion[-1]["content"]))) for completion in completions]
"""


def rows() -> Batch:
    completions = [[{"role": "assistant", "content": text}] for text in ("ABC", "AB")]
    return Batch(["p", "p"], completions, columns={"answer": [["a"], ["b"]]})


@pytest.fixture
def context(tmp_path: Path) -> Context:
    file = tmp_path / "rewards.py"
    file.write_text(FILE)
    return Context(RewardSet.load(file), rows(), str(file))


def scores(result: dict[str, Any]) -> list[float]:
    return [float(score) for score in result["scores"]]


@pytest.mark.parametrize("numbers", [None, [0, 1]])
def test_the_next_reward_does_not_see_what_this_one_changes(
    context: Context, numbers: list[int] | None
) -> None:
    call_reward(context, "lowers", numbers)
    assert scores(call_reward(context, "capitals", numbers)) == [3.0, 2.0]
    assert context.batch == rows()


def test_rows_called_by_units_stay_as_they_are(context: Context) -> None:
    given = rows()
    for batch in (None, given):
        list(call_units(context, "lowers", [[0], [1], [0]], batch))
        found = [scores(one) for one in call_units(context, "capitals", [[0], [1], [0, 1]], batch)]
        assert found == [[3.0], [2.0], [3.0, 2.0]]
    assert context.batch == given == rows()


def test_several_rewards_of_one_request_get_the_same_rows(context: Context) -> None:
    found = call_rewards(context, ["lowers", "capitals"], pickle.dumps(rows()))
    assert scores(found["capitals"]) == [3.0, 2.0]
