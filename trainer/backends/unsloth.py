"""The policy as Unsloth holds it: FastLanguageModel, 4-bit base, LoRA, Unsloth's own gradient checkpointing.

Unsloth puts the adapter on the model itself, so TRL is handed a model with an adapter and no `peft_config`. What it
saves is an adapter in PEFT's form, which the merge and its proof take like any other. A stage that goes on from a
checkpoint loads that checkpoint's folder, as Unsloth asks for it: base and adapter together.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rewards.errors import UsageError
from trainer.backends.choice import PROJECTIONS, in_four_bits, prepare
from trainer.backends.transformers import Policy, policy_tokenizer_of
from trainer.bounds import completion_tokens
from trainer.models.loading import first_line
from trainer.preflight.memory import read_model_facts
from trainer.presets import ALL_LINEAR
from trainer.settings import Lora, Settings

GPU_SHARE = 0.6
"""Of the GPU's memory for generation by vLLM, where nothing else is said: Unsloth's own example has it."""
USUAL_CONTEXT = 2048


def load_policy(
    folder: Path, settings: Settings, tokenizer: Any | None = None, *, start: Path | None = None
) -> Policy:
    """Load the model of `folder` with Unsloth for training under `settings`; `start` is a checkpoint to go on from.

    Raises:
        MissingExtraError: Unsloth is not installed.
        UsageError: the model cannot be loaded by it.
    """
    prepare(settings)
    from unsloth import FastLanguageModel

    source = start if start is not None else folder
    try:
        model, _ = FastLanguageModel.from_pretrained(
            model_name=str(source), **loading_arguments(folder, settings)
        )
        if settings.lora is not None and start is None:
            model = FastLanguageModel.get_peft_model(model, **adapter_arguments(settings.lora, settings.seed))
    except (OSError, ValueError, RuntimeError, NotImplementedError, ImportError) as error:
        raise UsageError(
            f'Unsloth cannot load the model in {source}: {first_line(error)}; backend = "transformers" may'
        ) from error
    own_tokenizer = tokenizer if tokenizer is not None else policy_tokenizer_of(folder, settings)
    return Policy(
        model, own_tokenizer, None, "4 bits" if in_four_bits(settings.own) else "16 bits", "unsloth"
    )


def loading_arguments(folder: Path, settings: Settings) -> dict[str, Any]:
    """Keywords of FastLanguageModel.from_pretrained; the dtype is left to Unsloth unless one was asked for."""
    trl = settings.trl
    arguments: dict[str, Any] = {
        "max_seq_length": longest(folder, settings),
        "dtype": None if settings.own.dtype == "auto" else _torch_dtype(settings.own.dtype),
        "load_in_4bit": in_four_bits(settings.own),
    }
    if settings.lora is None:
        arguments["full_finetuning"] = True
    if trl.get("use_vllm"):
        arguments["fast_inference"] = True
        arguments["gpu_memory_utilization"] = float(trl.get("vllm_gpu_memory_utilization") or GPU_SHARE)
        if settings.lora is not None:
            arguments["max_lora_rank"] = settings.lora.r
    return arguments


def adapter_arguments(lora: Lora, seed: int) -> dict[str, Any]:
    """Keywords of FastLanguageModel.get_peft_model."""
    targets = PROJECTIONS if lora.targets == ALL_LINEAR else lora.targets
    return {
        "r": lora.r,
        "target_modules": list(targets),
        "lora_alpha": lora.alpha,
        "lora_dropout": lora.dropout,
        "bias": "none",
        "use_gradient_checkpointing": "unsloth",
        "random_state": seed,
    }


def longest(folder: Path, settings: Settings) -> int:
    """Tokens of prompt and completion together: what the settings allow, at most the model's context."""
    context = read_model_facts(folder).context or USUAL_CONTEXT
    prompt = settings.own.max_prompt_length
    if prompt is None:
        return context
    return min(context, prompt + completion_tokens(settings.trl))


def _torch_dtype(name: str) -> Any:
    import torch

    return getattr(torch, name)
