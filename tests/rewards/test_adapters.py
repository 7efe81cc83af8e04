"""Rewards written for verl, OpenRLHF and verifiers, called as TRL calls one."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from rewards.adapters import Adapted, adapted, system_of
from rewards.contract import Batch, Status, call, signature
from rewards.rewardset import RewardSet

PROMPTS = [
    "one and one",
    [{"role": "system", "content": "Sums."}, {"role": "user", "content": "two and two"}],
]
COMPLETIONS = ["#### 2", [{"role": "assistant", "content": "#### 5"}]]
COLUMNS: dict[str, list[Any]] = {
    "ground_truth": ["2", "4"],
    "extra_info": [{"w": 2.0}, None],
    "unused": [0, 0],
}


def verl(data_source, solution_str, ground_truth, extra_info=None):
    weight = (extra_info or {}).get("w", 1.0)
    return {"score": weight * solution_str.endswith(ground_truth), "source": data_source}


def openrlhf(queries, prompts, labels, **kwargs):
    texts = [query.removeprefix(prompt) for query, prompt in zip(queries, prompts, strict=True)]
    return {"rewards": [float(text.endswith(label)) for text, label in zip(texts, labels, strict=True)]}


async def rubric(completion, answer, state, **kwargs):
    assert state == {}
    text = completion if isinstance(completion, str) else completion[-1]["content"]
    return float(text.endswith(answer))


def given(function: Any, columns: dict[str, list[Any]]) -> Any:
    batch = Batch(PROMPTS, COMPLETIONS, columns=columns)
    result = call(adapted(function), batch)
    assert result.errors == {}
    return result


@pytest.mark.parametrize(
    ("function", "system", "required", "scores"),
    [
        (verl, "verl", ("ground_truth",), [2.0, 0.0]),
        (openrlhf, "openrlhf", ("labels",), [1.0, 0.0]),
        (rubric, "verifiers", ("answer",), [1.0, 0.0]),
    ],
)
def test_a_function_of_another_system_scores_as_that_system_has_it(
    function: Any, system: str, required: tuple[str, ...], scores: list[float]
) -> None:
    found = adapted(function)
    assert isinstance(found, Adapted)
    assert (found.system, signature(found).required) == (system, required)
    assert signature(found).problem is None
    columns = {**COLUMNS, "labels": COLUMNS["ground_truth"], "answer": COLUMNS["ground_truth"]}
    assert given(function, columns).scores.tolist() == scores


def test_verls_batch_manager_hands_over_all_rows_at_once() -> None:
    def compute_score(data_sources, solution_strs, ground_truths, extra_infos):
        assert data_sources == ["", ""]
        assert extra_infos == [{"w": 2.0}, None]
        return [float(text.endswith(right)) for text, right in zip(solution_strs, ground_truths, strict=True)]

    columns = {"ground_truths": COLUMNS["ground_truth"], "extra_info": COLUMNS["extra_info"]}
    assert given(compute_score, columns).scores.tolist() == [1.0, 0.0]


def test_a_row_without_a_score_is_what_trl_makes_of_it() -> None:
    def compute_score(data_source, solution_str, ground_truth):
        return None if ground_truth == "2" else {"accuracy": 1.0}

    result = call(adapted(compute_score), Batch(PROMPTS, COMPLETIONS, columns=COLUMNS))
    assert "dictionary without 'score': accuracy" in "".join(result.errors.values())
    abstains = call(
        adapted(compute_score), Batch(PROMPTS[:1], COMPLETIONS[:1], columns={"ground_truth": ["2"]})
    )
    assert abstains.status.tolist() == [Status.ABSTAINED]


def test_rewards_of_trl_and_helpers_are_left_alone() -> None:
    def plain(completions, **kwargs): ...

    def both(completions, solution_str, ground_truth): ...

    def helper(text, answer): ...

    def wants_more(completion, tokenizer): ...

    for function in (plain, both, helper, wants_more, 3, print):
        assert system_of(function) is None
    assert adapted(plain) is plain


def test_an_adapted_function_goes_to_other_processes() -> None:
    again = pickle.loads(pickle.dumps(adapted(verl)))
    assert call(again, Batch(PROMPTS, COMPLETIONS, columns=COLUMNS)).scores.tolist() == [2.0, 0.0]


FILE = """
def score_of(completion, answer):
    return 1.0

def {name}({takes}):
    return [0.5] * 2
"""


@pytest.mark.parametrize(
    ("takes", "found"),
    [("completions, **kwargs", ["r"]), ("data_source, solution_str, ground_truth", ["score_of", "r"])],
)
def test_in_a_file_with_a_reward_of_trl_everything_else_is_a_helper(
    tmp_path: Path, takes: str, found: list[str]
) -> None:
    (tmp_path / "rewards.py").write_text(FILE.format(name="r", takes=takes))
    described = RewardSet.load(tmp_path / "rewards.py").describe()
    assert described.names == found
    assert [bool(reward.written_for) for reward in described.rewards] == [takes[0] == "d"] * len(found)
