"""out-of-memory: the device had no room for a step.

Caught, so that the run keeps its last checkpoint. What filled it is known from when it happened: while generating (the
cache of keys and values grows with rows and length) or while learning (activations and the logits of the vocabulary).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainer.diagnoses.diagnosis import Diagnosis

FILLED = {
    "generation": "generation: the cache of keys and values grows with rows x tokens",
    "update": "the update: activations and logits grow with rows x tokens x vocabulary",
}


def out_of_memory(settings: Mapping[str, Any], part: str | None = None) -> Diagnosis:
    """The diagnosis of a step that did not fit.

    Args:
        settings: TRL's settings of the run.
        part: "generation" or "update", None where nobody knows.
    """
    filled = FILLED.get(part or "", "the step")
    return Diagnosis(
        "out-of-memory",
        "critical",
        f"the device's memory was full during {filled}",
        "The step could not be made; the last checkpoint stands",
        f"Start a new run with less: {smaller(settings)}",
        subject=part or "",
        evidence={
            name: settings.get(name)
            for name in ("per_device_train_batch_size", "num_generations", "max_completion_length")
        },
    )


def smaller(settings: Mapping[str, Any]) -> str:
    """The next smaller settings that leave what is learnt the same as far as can be, gentlest first."""
    rows = int(settings.get("per_device_train_batch_size") or 8)
    accumulation = int(settings.get("gradient_accumulation_steps") or 1)
    length = int(settings.get("max_completion_length") or 256)
    steps = []
    if rows > 1:
        steps.append(
            f"--set per_device_train_batch_size={rows // 2} --set gradient_accumulation_steps={accumulation * 2}"
        )
    if not settings.get("gradient_checkpointing", True):
        steps.append("--set gradient_checkpointing=true")
    steps.append(f"--set max_completion_length={max(length // 2, 1)}")
    return ", or ".join(steps)
