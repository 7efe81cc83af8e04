"""The policy as plain transformers holds it: weights in the device's dtype, a tokenizer with a pad token, LoRA."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer.backends.choice import in_four_bits
from trainer.models.loading import load_model, load_tokenizer
from trainer.presets import ALL_LINEAR
from trainer.settings import Lora, Settings


@dataclass(frozen=True)
class Policy:
    """A loaded model and what goes with it; `peft_config` is None for full fine-tuning."""

    model: Any
    tokenizer: Any
    peft_config: Any | None
    dtype: str
    attention: str | None


def load_policy(
    folder: Path, settings: Settings, tokenizer: Any | None = None, *, start: Path | None = None
) -> Policy:
    """Load the model of `folder` for training under `settings`, with the backend they name.

    `start` is a checkpoint whose weights it goes on from: its adapter is put on the model and trained further (TRL
    takes no second one beside it, so `peft_config` is None then); after full fine-tuning its weights take the model's
    place.

    Raises:
        UsageError: the folder cannot be loaded.
    """
    if settings.own.backend == "unsloth":
        from trainer.backends import unsloth

        return unsloth.load_policy(folder, settings, tokenizer, start=start)
    dtype = weights_dtype(settings)
    attention = attention_implementation(settings)
    whole = start is not None and not settings.lora
    model = load_model(
        start if start is not None and whole else folder,
        dtype=dtype,
        attention=attention,
        quantization=four_bits(dtype) if in_four_bits(settings.own) else None,
    )
    policy_tokenizer = tokenizer if tokenizer is not None else policy_tokenizer_of(folder, settings)
    peft_config = build_peft_config(settings.lora) if settings.lora else None
    if start is not None and settings.lora:
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, start, is_trainable=True)
        peft_config = None
    return Policy(model, policy_tokenizer, peft_config, dtype, attention)


def policy_tokenizer_of(folder: Path, settings: Settings) -> Any:
    """The folder's tokenizer, padding and truncating on the left as generation needs it."""
    tokenizer = load_tokenizer(folder, template=settings.trl.get("chat_template_kwargs"))
    tokenizer.padding_side = tokenizer.truncation_side = "left"
    return tokenizer


def weights_dtype(settings: Settings) -> str:
    """float32 on a CPU (LoRA layers stay in it anyway); on a GPU bfloat16 where it has it, else float16."""
    if settings.own.dtype != "auto":
        return settings.own.dtype
    if settings.device == "cuda":
        import torch

        return "bfloat16" if torch.cuda.is_bf16_supported() else "float16"
    return "float32"


def attention_implementation(settings: Settings) -> str | None:
    """Flash attention 2 where GPU and package have it, else torch's own (None lets transformers choose)."""
    if settings.own.attention != "auto":
        return settings.own.attention
    if settings.device == "cuda" and importlib.util.find_spec("flash_attn"):
        import torch

        if torch.cuda.get_device_capability()[0] >= 8:
            return "flash_attention_2"
    return None


def four_bits(dtype: str) -> Any:
    """transformers' BitsAndBytesConfig of QLoRA: NF4, quantised twice, arithmetic in `dtype`."""
    import torch
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=getattr(torch, dtype),
    )


def build_peft_config(lora: Lora) -> Any:
    """peft's LoraConfig of the manifest's `lora`."""
    from peft import LoraConfig

    targets = lora.targets if lora.targets == ALL_LINEAR else list(lora.targets)
    return LoraConfig(
        r=lora.r,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=targets,
        task_type="CAUSAL_LM",
    )
