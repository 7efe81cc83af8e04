"""A script of one's own with `attach`, as a user writes it: one process or several run it.

    attached_script.py PROJECT MODEL OUT ROWS [resume]

ROWS are those of one process. The completions do not hang on the model (`one_of_several`).
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

from tests.trainer.one_of_several import fix_completions
from trainer import attach

STEPS = 4


def run(project: Path, model: Path, out: Path, rows: int, *, resume: bool = False) -> None:
    """Train four steps."""
    from datasets import Dataset
    from peft import LoraConfig
    from trl import GRPOConfig, GRPOTrainer

    asked = [
        {"prompt": [{"role": "user", "content": f"What is {n} + 1?"}], "answer": n + 1} for n in range(8)
    ]
    with attach(project) as attached:
        settings: dict[str, Any] = {"reward_weights": attached.weights, **attached.modes}
        trainer = GRPOTrainer(
            model=str(model),
            reward_funcs=attached.reward_funcs,
            args=GRPOConfig(
                output_dir=str(out),
                use_cpu=True,
                bf16=False,
                max_steps=STEPS,
                save_steps=2,
                logging_steps=1,
                per_device_train_batch_size=rows,
                num_generations=4,
                max_completion_length=6,
                gradient_checkpointing=False,
                learning_rate=2e-3,
                report_to="none",
                disable_tqdm=True,
                dataloader_pin_memory=False,
                ddp_find_unused_parameters=False,
                **settings,
            ),
            train_dataset=Dataset.from_list(asked),
            callbacks=[attached.monitor(samples_every=2, kl_every=2)],
            peft_config=LoraConfig(r=4, target_modules=["q_proj"], task_type="CAUSAL_LM"),
        )
        trainer.train(resume_from_checkpoint=attached.last_checkpoint(out) if resume else None)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    fix_completions()
    where = [Path(text) for text in sys.argv[1:4]]
    run(*where, int(sys.argv[4]), resume="resume" in sys.argv)
