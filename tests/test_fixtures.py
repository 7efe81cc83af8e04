"""The fixtures are what they say: real data that agrees with its labels, faults that show, files that fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rewards.contract import Batch, Status, call
from rewards.errors import LoadError, TargetError
from rewards.loading import load_file
from rewards.rewardset import RewardSet
from rewards.running import Runner
from workbench.samples import read_samples

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"

# ------------------------------------------------------------------------------------------- gsm8k


@pytest.mark.guide("G7")
@pytest.mark.parametrize(
    ("file", "rows", "right"), [("samples.jsonl", 1000, 386), ("all_completions.jsonl", 5276, 2001)]
)
def test_correctness_agrees_with_every_published_label(file: str, rows: int, right: int) -> None:
    samples = read_samples([FIXTURES / "gsm8k" / file])
    reward = load_file(FIXTURES / "gsm8k" / "rewards.py").correctness_reward
    scores = reward(prompts=samples.prompts, completions=samples.completions, **samples.columns)
    assert ["right" if score else "wrong" for score in scores] == samples.labels
    assert (len(samples), samples.labels.count("right")) == (rows, right)


def test_the_layout_varies_in_the_real_completions() -> None:
    samples = read_samples([FIXTURES / "gsm8k" / "all_completions.jsonl"])
    rewards = load_file(FIXTURES / "gsm8k" / "rewards.py")
    for reward in (rewards.format_reward, rewards.incremental_format_reward):
        assert len(set(reward(completions=samples.completions))) > 1


# ----------------------------------------------------------------------------------- guide_library

FAULTS = [json.loads(line) for line in (FIXTURES / "guide_library" / "faults.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault['function']}: {fault['fault']}")
def test_each_fault_of_the_library_shows(fault: dict[str, Any]) -> None:
    function = getattr(load_file(FIXTURES / "guide_library" / "library.py"), fault["function"])
    batch = Batch(
        prompts=["p"] * len(fault["completions"]), completions=fault["completions"], columns=fault["columns"]
    )
    result = call(function, batch)
    assert list(result.scores) == pytest.approx(fault["gives"], abs=1e-4)


def test_every_reward_of_the_library_scores_its_samples() -> None:
    samples = read_samples([FIXTURES / "guide_library" / "samples.jsonl"])
    rewards = RewardSet.load(FIXTURES / "guide_library" / "library.py")
    assert len(rewards.functions) == 15
    for function in rewards.functions:
        assert all(call(function, samples.batch()).status == Status.NUMBER)


def test_the_librarys_program_rewards_do_not_import() -> None:
    with Runner() as runner, pytest.raises(LoadError, match="code_block_reward"):
        runner.inspect(str(FIXTURES / "guide_library" / "code_rewards.py"))


# ------------------------------------------------------------------------------------------ broken


@pytest.mark.parametrize(
    "name",
    ["syntax_error", "import_error", "undefined_name", "exits_at_import", "dies_at_import", "endless_import"],
)
def test_a_file_that_cannot_be_imported_is_a_load_error(name: str) -> None:
    with Runner() as runner, pytest.raises(LoadError, match=f"{name}.py"):
        runner.inspect(str(FIXTURES / "broken" / f"{name}.py"), load_timeout_s=3.0)


def test_a_file_without_a_reward_is_no_target() -> None:
    with Runner() as runner, pytest.raises(TargetError):
        runner.inspect(str(FIXTURES / "broken" / "no_reward.py"))


@pytest.mark.parametrize(
    ("file", "failed"), [("raises_on_row_17", [17]), ("exits_in_call", [150]), ("returns_too_few", None)]
)
def test_a_file_that_fails_in_the_call_keeps_the_other_rows(file: str, failed: list[int] | None) -> None:
    samples = read_samples([FIXTURES / "broken" / "samples_200.jsonl"])
    target = str(FIXTURES / "broken" / f"{file}.py")
    with Runner() as runner, runner.worker(target, samples.batch()) as worker:
        result = worker.call("length_reward", None, timeout_s=20.0)
    bad = [row for row, status in enumerate(result.status) if status != Status.NUMBER]
    assert bad == (failed if failed is not None else list(range(200)))
