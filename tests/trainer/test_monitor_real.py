"""The monitor on real small runs of the toy model: three as they should be, three made to fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainer.job import Request
from trainer.run import train

REWARDS = r'''
import re


def layout(completions, **kwargs):
    """A quarter for each of four signs of the layout."""
    texts = [c[0]["content"] for c in completions]
    signs = (r"<answer>", r"</answer>", r"^<answer>", r"<answer>\d+</answer>$")
    return [sum(bool(re.search(sign, text)) for sign in signs) / 4 for text in texts]


def right(completions, answer, **kwargs):
    found = [re.search(r"<answer>(\d+)</answer>", c[0]["content"]) for c in completions]
    return [1.0 if hit and hit[1] == str(a) else 0.0 for hit, a in zip(found, answer)]


def number(completions, answer, **kwargs):
    """Whether the answer stands there at all, tags or not."""
    return [1.0 if str(a) in re.findall(r"\d+", c[0]["content"]) else 0.0 for c, a in zip(completions, answer)]


def short(completions, **kwargs):
    return [1.0 / (1 + len(c[0]["content"])) for c in completions]


def constant(completions, **kwargs):
    return [0.5 for c in completions]
'''

KINDS = {
    "layout": "format",
    "right": "correctness",
    "number": "correctness",
    "short": "length",
    "constant": "other",
}


def run_with(folder: Path, weights: dict[str, float], *sets: str) -> list[dict[str, Any]]:
    """Train the toy model on sums by these rewards; the lines of diagnoses.jsonl."""
    folder.mkdir()
    (folder / "rewards.py").write_text(REWARDS)
    entries = [
        f'[[reward]]\nfunction = "rewards.py::{name}"\nkind = "{KINDS[name]}"\nrange = [0.0, 1.0]\nweight = {weight}\n'
        for name, weight in weights.items()
    ]
    rows = [{"prompt": f"What is {n % 10} + {n // 10}?", "answer": n % 10 + n // 10} for n in range(100)]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "rewardset.toml").write_text(
        "\n".join(entries) + '[data]\ntrain = "train.jsonl"\nsystem_prompt = "Maths"\nholdout = 0.0\n'
    )
    given = ("max_steps=80", "threads=1", *sets)
    outcome = train(Request(str(folder), model="toy", sets=given, allow_unsealed=True))
    return outcome.run.diagnoses()


def serious(lines: list[dict[str, Any]]) -> dict[str, str]:
    return {line["name"]: line["severity"] for line in lines if line["severity"] != "info"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_run_that_learns_is_left_alone(tmp_path: Path, seed: int) -> None:
    told = serious(run_with(tmp_path / "run", {"layout": 1.0, "right": 2.0, "short": 0.0}, f"seed={seed}"))
    assert told == {}


@pytest.mark.slow
def test_a_hackable_reward_is_found_by_the_one_that_only_watches(tmp_path: Path) -> None:
    told = serious(run_with(tmp_path / "run", {"short": 1.0, "number": 0.0}, "seed=1"))
    assert "oracle" in told


@pytest.mark.slow
def test_a_reward_that_tells_nothing_apart_is_found(tmp_path: Path) -> None:
    told = serious(run_with(tmp_path / "run", {"constant": 1.0}, "seed=1"))
    assert told["no-signal"] == "critical"


@pytest.mark.slow
def test_completions_that_are_all_cut_off_are_found(tmp_path: Path) -> None:
    sets = ("seed=1", "max_completion_length=3")
    told = serious(run_with(tmp_path / "run", {"layout": 1.0, "right": 2.0}, *sets))
    assert told["truncation"] == "critical"
