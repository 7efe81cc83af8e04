"""Our advantages against a whole TRL trainer: real generation, its own calls to the rewards, its own log."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rewards.groups import advantages, totals

pytest.importorskip("trl", reason="the trainer itself is asked")

WEIGHTS = [2.0, 0.5]
SIZE, ROWS = 4, 16


def partly_scored(completions: list[Any], **columns: Any) -> list[float | None]:
    """Quarters, and no opinion on about a third of the rows."""
    draw = random.Random(f"partly {sorted(columns)}")
    return [draw.choice([None, 0.0, 0.25, 0.5, 1.0, 1.0]) for _ in completions]


def mostly_zero(completions: list[Any], **columns: Any) -> list[float | None]:
    """Mostly nothing, so that whole groups are alike; None now and then."""
    draw = random.Random("mostly")
    return [draw.choice([0.0, 0.0, 0.0, 0.0, 1.0, None]) for _ in completions]


@pytest.fixture(scope="module")
def tokenizer_and_model() -> tuple[Any, Any]:
    from trainer.models.toy import build_model, build_tokenizer, dialogue

    tokenizer = build_tokenizer([dialogue(random.Random(0)) for _ in range(50)])
    return tokenizer, build_model(tokenizer)


def train_one_step(folder: Path, tokenizer: Any, model: Any, aggregation: str, scaling: str) -> Any:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    settings = GRPOConfig(
        output_dir=str(folder),
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=ROWS,
        num_generations=SIZE,
        max_completion_length=4,
        max_steps=1,
        save_strategy="no",
        disable_tqdm=True,
        reward_weights=WEIGHTS,
        multi_objective_aggregation=aggregation,
        scale_rewards=scaling,
    )
    prompts = Dataset.from_list([{"prompt": [{"role": "user", "content": f"{i} + 1"}]} for i in range(ROWS)])
    trainer = GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=[partly_scored, mostly_zero],
        args=settings,
        train_dataset=prompts,
    )
    trainer.train()
    return trainer


@pytest.mark.guide("G2")
@pytest.mark.filterwarnings("ignore")  # the trainer's own, about settings this test does not use
@pytest.mark.parametrize(
    ("aggregation", "scaling"),
    [
        ("sum_then_normalize", "group"),
        ("sum_then_normalize", "batch"),
        ("sum_then_normalize", "none"),
        ("normalize_then_sum", "group"),
    ],
)
def test_a_training_step_logs_the_advantages_computed_here(
    tmp_path: Path, tokenizer_and_model: tuple[Any, Any], aggregation: str, scaling: str
) -> None:
    trainer = train_one_step(tmp_path, *tokenizer_and_model, aggregation, scaling)
    log = trainer._logs
    scores = np.column_stack([log["rewards"]["partly_scored"], log["rewards"]["mostly_zero"]])
    groups = [row // SIZE for row in range(ROWS)]
    got = advantages(scores, WEIGHTS, groups, aggregation=aggregation, scale_rewards=scaling)
    assert scores.shape == (ROWS, 2)
    assert np.isnan(scores).any()
    np.testing.assert_allclose(got, log["advantages"], atol=1e-6)
    logged = trainer.state.log_history[0]["reward"]
    assert np.nanmean(totals(scores, WEIGHTS)) == pytest.approx(logged, abs=1e-6)
