"""The presets `cpu`, `small-gpu` and `large-gpu`: starting points written as plain TRL settings.

`small-gpu` saves memory, `large-gpu` aims at speed, both with the values of the widely used GRPO recipes;
`cpu` starts small, with values measured on two cores. Where a recipe names something the installed TRL no
longer takes, the preset has today's equivalent and a note says so. Every value can be overridden by name.

`TOY` is not a preset: it holds the settings under which the packaged toy model learns, used with that model
only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rewards.errors import UsageError
from rewards.targets import did_you_mean

ALL_LINEAR = "all-linear"


@dataclass(frozen=True)
class Preset:
    """A named starting point: `settings` by TRL's names, `lora` (r, alpha, dropout, targets), and what was
    translated."""

    name: str
    about: str
    settings: Mapping[str, Any]
    lora: Mapping[str, Any]
    max_prompt_length: int | None = None
    notes: tuple[str, ...] = field(default=())


CPU = Preset(
    name="cpu",
    about="starts small: a model of up to about 0.5 B parameters learns one short task on a few cores",
    settings={
        "learning_rate": 2e-4,
        "lr_scheduler_type": "constant",
        "per_device_train_batch_size": 8,
        "gradient_accumulation_steps": 1,
        "num_generations": 4,
        "max_completion_length": 64,
        "max_steps": 50,
        "optim": "adamw_torch",
        "gradient_checkpointing": False,
        "bf16": False,
        "logging_steps": 1,
        "save_steps": 25,
    },
    lora={"r": 16, "alpha": 32, "dropout": 0.0, "targets": ("q_proj", "v_proj")},
)

_OLD_RECIPE = {
    "adam_beta1": 0.9,
    "adam_beta2": 0.99,
    "weight_decay": 0.1,
    "warmup_steps": 0.1,
    "lr_scheduler_type": "cosine",
    "max_grad_norm": 0.1,
    "num_train_epochs": 1.0,
    "bf16": True,
    "optim": "adamw_8bit",
    "save_steps": 100,
}
_LORA = {"r": 16, "alpha": 32, "dropout": 0.05, "targets": ALL_LINEAR}
_TRANSLATED = (
    "warmup_ratio=0.1 is written warmup_steps=0.1 in today's TRL",
    "today's TRL never shortens prompts: ones longer than max_prompt_length are left out of training",
)

SMALL_GPU = Preset(
    name="small-gpu",
    about="saves memory: one GPU of 12-24 GB, models up to about 3 B parameters with LoRA",
    settings={
        **_OLD_RECIPE,
        "learning_rate": 5e-6,
        "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": 4,
        "steps_per_generation": 8,
        "num_generations": 8,
        "max_completion_length": 512,
        "logging_steps": 1,
        "gradient_checkpointing": True,
    },
    lora=_LORA,
    max_prompt_length=256,
    notes=(
        *_TRANSLATED,
        "batch 1 x accumulation 4 makes 4 rows, less than one group of 8: steps_per_generation=8 makes whole "
        "groups, each used for two steps",
    ),
)

LARGE_GPU = Preset(
    name="large-gpu",
    about="aims at speed: a GPU of 40 GB and above, generation by vLLM",
    settings={
        **_OLD_RECIPE,
        "learning_rate": 1e-5,
        "per_device_train_batch_size": 4,
        "gradient_accumulation_steps": 2,
        "steps_per_generation": 4,
        "num_generations": 16,
        "max_completion_length": 1024,
        "use_vllm": True,
        "vllm_mode": "colocate",
        "logging_steps": 10,
        "gradient_checkpointing": True,
    },
    lora=_LORA,
    max_prompt_length=512,
    notes=(
        *_TRANSLATED,
        "batch 4 x accumulation 2 makes 8 rows, less than one group of 16: steps_per_generation=4 makes "
        "whole groups, each used for two steps",
        "vLLM runs inside the training process (vllm_mode='colocate')",
    ),
)

PRESETS: dict[str, Preset] = {preset.name: preset for preset in (CPU, SMALL_GPU, LARGE_GPU)}

TOY = Preset(
    name="toy",
    about="the packaged toy model: 0.2 million weights, a step takes about a tenth of a second",
    settings={
        "learning_rate": 2e-3,
        "lr_scheduler_type": "constant",
        "per_device_train_batch_size": 32,
        "gradient_accumulation_steps": 1,
        "steps_per_generation": None,
        "num_generations": 8,
        "max_completion_length": 20,
        "temperature": 1.0,
        "optim": "adamw_torch",
        "gradient_checkpointing": False,
        "bf16": False,
        "use_vllm": False,
    },
    lora={"r": 8, "alpha": 16, "dropout": 0.0, "targets": ALL_LINEAR},
)


def find_preset(name: str) -> Preset:
    """The preset called `name`.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        raise UsageError(f"there is no preset '{name}'{did_you_mean(name, PRESETS)}; the presets are {known}")
    return PRESETS[name]
