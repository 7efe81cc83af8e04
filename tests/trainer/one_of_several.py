"""What a launcher starts in the tests: the trainer's command line, with completions that do not hang on the model.

The completion of a row depends on the step and on the row's place in the whole batch alone, so that one process and
several have the same to score. Each process notes the advantages that TRL trains with in `$NOTES/RANK.json`.
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

from trainer.ranks import joined

TOKENS = 4


def fix_completions(patch: Any = setattr) -> dict[int, list[float]]:
    """Make TRL's trainer generate fixed completions; returns the advantages by step, filled as it trains."""
    from trl import GRPOTrainer

    seen: dict[int, list[float]] = {}
    original = GRPOTrainer._generate_and_score_completions

    def generate(self: Any, prompt_ids: list[list[int]], *args: Any, **more: Any) -> Any:
        first = self.accelerator.process_index * len(prompt_ids)
        digits = self._tokenizer("0123456789", add_special_tokens=False)["input_ids"]
        rows = []
        for row in range(first, first + len(prompt_ids)):
            rng = random.Random(f"{self.state.global_step}|{row}|{self.state.max_steps}")
            rows.append([*rng.choices(digits, k=rng.randint(1, TOKENS)), self._tokenizer.eos_token_id])
        return rows, None

    def spy(self: Any, inputs: Any) -> Any:
        output = original(self, inputs)
        if self.model.training:
            seen[len(seen) + 1] = output["advantages"].tolist()
        return output

    patch(GRPOTrainer, "_generate_single_turn", generate)
    patch(GRPOTrainer, "_generate_and_score_completions", spy)
    return seen


def main() -> int:
    from trainer.__main__ import main as trainer_main
    from trainer.environment import prepare_process

    prepare_process()
    seen = fix_completions()
    code = trainer_main()
    (Path(os.environ["NOTES"]) / f"{joined().rank}.json").write_text(json.dumps(seen))
    return code


if __name__ == "__main__":
    sys.exit(main())
