"""Composed rewards in TRL's own trainer: names, columns, awaited parts, and a weight that follows the trainer's log."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest

from rewards.library.presets import preset
from rewards.library.shaping import adaptive, gate, lexicographic, scheduled
from rewards.marks import reward

pytest.importorskip("trl", reason="the trainer itself is asked")

STEPS, ROWS, SIZE = 4, 8, 4


@reward(kind="correctness", range=(0.0, 1.0))
def seldom(completions: list[Any], answer: list[int], **columns: Any) -> list[float]:
    """Nobody ever earns it."""
    assert len(answer) == len(completions)
    return [0.0 for _ in completions]


@reward(kind="length", range=(0.0, 1.0))
def one(completions: list[Any], **columns: Any) -> list[float]:
    return [1.0 for _ in completions]


@reward(kind="content", range=(0.0, 1.0))
async def awaited(completions: list[Any], **columns: Any) -> list[float]:
    await asyncio.sleep(0)
    return [0.25 for _ in completions]


def train(folder: Path, functions: list[Any], weights: list[float]) -> list[dict[str, float]]:
    """The log of a few steps of an untaught model."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    from trainer.models.toy import build_model, build_tokenizer, dialogue

    tokenizer = build_tokenizer([dialogue(random.Random(0)) for _ in range(50)])
    settings = GRPOConfig(
        output_dir=str(folder),
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=ROWS,
        num_generations=SIZE,
        max_completion_length=4,
        max_steps=STEPS,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        reward_weights=weights,
    )
    prompts = [{"prompt": [{"role": "user", "content": f"{i} + 1"}], "answer": f"{i + 1}"} for i in range(16)]
    trainer = GRPOTrainer(
        model=build_model(tokenizer),
        processing_class=tokenizer,
        reward_funcs=functions,
        args=settings,
        train_dataset=Dataset.from_list(prompts),
    )
    trainer.train()
    return [line for line in trainer.state.log_history if "reward" in line]


@pytest.mark.guide("G6", "G17")
@pytest.mark.filterwarnings("ignore")  # the trainer's own, about settings this test does not use
def test_trl_trains_with_composed_rewards_under_their_own_names(tmp_path: Path) -> None:
    functions = [
        gate(awaited, by=one),
        lexicographic(one, seldom),
        scheduled(one, {0: 1.0, STEPS: 0.0}),
        adaptive(one, name="easy"),
        adaptive(seldom, name="hard"),
        *preset("maths").functions(),
    ]
    log = train(tmp_path, functions, [1.0] * len(functions))
    assert [line["rewards/awaited_if_one/mean"] for line in log] == [0.25] * STEPS
    assert log[0]["rewards/one_then_seldom/mean"] == pytest.approx(2 / 3, abs=1e-6)
    assert [line["rewards/one_scheduled/mean"] for line in log] == pytest.approx([1.0, 0.75, 0.5, 0.25])
    assert {"rewards/maths_equal/mean", "rewards/incremental_format/mean"} <= set(log[0])
    # what is always earned gets lighter with each log, and the share itself is logged without the factor
    assert [line["rewards/easy/mean"] for line in log] == pytest.approx([1.0, 0.9, 0.81, 0.729])
    assert [line["easy/success"] for line in log] == [1.0] * STEPS
    assert [line["hard/success"] for line in log] == [0.0] * STEPS
