"""How much memory a training will take, by arithmetic over the model's config: before anything is loaded.

An estimate, good to about a third: weights, gradients and optimizer state are counted; activations, logits and the
cache of generation are counted by their largest tensors; libraries are a constant. Its use is to tell "fits easily"
from "will not fit", and to name what takes the most.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from rewards.errors import UsageError
from trainer.backends.choice import in_four_bits
from trainer.bounds import completion_tokens
from trainer.plan import Batching, batching
from trainer.presets import ALL_LINEAR
from trainer.ranks import launched_here
from trainer.settings import Lora, Settings

LIBRARIES = 600_000_000
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
OPTIMIZER_BYTES = {"adamw_8bit": 2, "adamw_bnb_8bit": 2, "paged_adamw_8bit": 2, "adafactor": 1, "sgd": 0}
FOUR_BITS = 0.55
"""Bytes of a weight in 4 bits, with its scales."""
GPUS_GB = (8, 12, 16, 24, 32, 40, 48, 80, 96, 141, 192)
ROOM = 0.8
ACTIVATIONS = 24
"""Tensors of the hidden size that one transformer layer keeps for its backward pass."""


@dataclass(frozen=True)
class ModelFacts:
    """What a model folder says about its model without loading it."""

    architecture: str
    parameters: int
    layers: int
    hidden: int
    inner: int
    heads: int
    kv_heads: int
    head_size: int
    vocabulary: int
    context: int | None
    chat_template: bool
    stored_dtype: str


@dataclass(frozen=True)
class Memory:
    """Bytes by what takes them; `available` is the device's memory, None where it does not say."""

    parts: dict[str, int]
    available: int | None

    @property
    def total(self) -> int:
        """All parts together."""
        return sum(self.parts.values())

    @property
    def share(self) -> float | None:
        """The share of the device's memory, None where that is unknown."""
        return self.total / self.available if self.available else None


def read_model_facts(folder: Path) -> ModelFacts:
    """Read config.json and the heads of the weight files; missing numbers are 0."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    text = config.get("text_config") or config
    heads = int(text.get("num_attention_heads") or 0)
    hidden = int(text.get("hidden_size") or 0)
    names = config.get("architectures") or [config.get("model_type", "unknown")]
    tokenizer = folder / "tokenizer_config.json"
    template = (folder / "chat_template.jinja").is_file() or (
        tokenizer.is_file() and "chat_template" in tokenizer.read_text(encoding="utf-8")
    )
    return ModelFacts(
        architecture=str(names[0]),
        parameters=count_parameters(folder),
        layers=int(text.get("num_hidden_layers") or 0),
        hidden=hidden,
        inner=int(text.get("intermediate_size") or 4 * hidden),
        heads=heads,
        kv_heads=int(text.get("num_key_value_heads") or heads),
        head_size=int(text.get("head_dim") or (hidden // heads if heads else 0)),
        vocabulary=int(text.get("vocab_size") or 0),
        context=text.get("max_position_embeddings"),
        chat_template=template,
        stored_dtype=str(text.get("dtype") or text.get("torch_dtype") or "float32"),
    )


def count_parameters(folder: Path) -> int:
    """Numbers in the weight files, from their heads (safetensors) or their size."""
    total = 0
    for file in folder.glob("*.safetensors"):
        total += sum(prod(tensor["shape"]) for tensor in _safetensors_head(file).values())
    if not total:
        total = sum(file.stat().st_size for file in folder.glob("pytorch_model*.bin")) // 2
    return total


def _safetensors_head(file: Path) -> dict[str, Any]:
    with file.open("rb") as stream:
        (size,) = struct.unpack("<Q", stream.read(8))
        head: dict[str, Any] = json.loads(stream.read(size))
    head.pop("__metadata__", None)
    return head


def lora_parameters(facts: ModelFacts, settings: Settings) -> int:
    """Numbers in the adapter; 0 for full fine-tuning."""
    if settings.lora is None:
        return 0
    wide, narrow = facts.heads * facts.head_size, facts.kv_heads * facts.head_size
    sides = {
        "q_proj": facts.hidden + wide,
        "k_proj": facts.hidden + narrow,
        "v_proj": facts.hidden + narrow,
        "o_proj": wide + facts.hidden,
        "gate_proj": facts.hidden + facts.inner,
        "up_proj": facts.hidden + facts.inner,
        "down_proj": facts.inner + facts.hidden,
    }
    targets = list(sides) if settings.lora.targets == ALL_LINEAR else settings.lora.targets
    return settings.lora.r * facts.layers * sum(sides.get(name, 2 * facts.hidden) for name in targets)


def estimate_memory(
    facts: ModelFacts,
    settings: Settings,
    sizes: Batching,
    *,
    prompt_tokens: int,
    dtype: str,
    available: int | None,
    processes: int = 1,
    shared: bool = False,
) -> Memory:
    """The memory of a training step and of generation, the larger of the two where they do not overlap.

    Args:
        sizes: of all processes together.
        prompt_tokens: length of the longest prompt.
        dtype: of the weights.
        available: the device's memory in bytes.
        processes: how many train together; the estimate is that of one, which generates its share of the rows.
        shared: weights, gradients and optimizer lie spread over the processes (FSDP, ZeRO-3).
    """
    trl = settings.trl
    width = BYTES.get(dtype, 4)
    trained = lora_parameters(facts, settings) or facts.parameters
    answer = completion_tokens(trl)
    length = prompt_tokens + answer
    rows = int(trl.get("per_device_train_batch_size") or 8)
    kept = (
        2
        if trl.get("gradient_checkpointing", True)
        else ACTIVATIONS + 2 * facts.inner // max(facts.hidden, 1)
    )
    compute = 2 if trl.get("bf16") or trl.get("fp16") or width == 2 else 4
    optimizer = OPTIMIZER_BYTES.get(str(trl.get("optim", "")), 8)
    spread = processes if shared else 1
    parts = {
        "weights": int(facts.parameters * (FOUR_BITS if in_four_bits(settings.own) else width)) // spread,
        "adapter, gradients, optimizer": trained * ((4 if settings.lora else 0) + 4 + optimizer) // spread,
        "activations of a step": rows * length * facts.layers * facts.hidden * kept * compute,
        "logits": rows * answer * facts.vocabulary * 4 * 2,
        "libraries": LIBRARIES,
    }
    own_rows = -(-sizes.rows // processes)
    cache = 2 * facts.layers * facts.kv_heads * facts.head_size * own_rows * length * compute
    if not trl.get("use_vllm") and cache > parts["activations of a step"] + parts["logits"]:
        parts = {**parts, "activations of a step": 0, "logits": 0, "cache of generation": cache}
    if trl.get("beta") and settings.lora is None:
        parts["reference model"] = facts.parameters * width // spread
    if trl.get("use_vllm") and trl.get("vllm_mode", "colocate") == "colocate" and available:
        share = float(trl.get("vllm_gpu_memory_utilization") or 0.3)
        parts["vLLM, its share of the GPU"] = int(share * available)
    return Memory({name: size for name, size in parts.items() if size}, available)


def largest(memory: Memory) -> str:
    """The part that takes most."""
    return max(memory.parts, key=lambda name: memory.parts[name])


def gpu_sentence(memory: Memory) -> str:
    """The smallest usual GPU that would hold this with a fifth to spare (weights counted as they are here)."""
    need = memory.total / 1e9
    fits = next((size for size in GPUS_GB if need <= ROOM * size), None)
    return (
        f"a GPU of {fits} GB would hold it with room to spare"
        if fits
        else "no single usual GPU would hold it"
    )


def remedies(
    facts: ModelFacts,
    settings: Settings,
    *,
    prompt_tokens: int,
    dtype: str,
    available: int | None,
    processes: int = 1,
    shared: bool = False,
) -> str:
    """The changes of one setting that save most, each with the estimate under it, the best first.

    Only those that are legal with so many processes: what all of them generate has to be whole groups.
    """
    trl = settings.trl
    rows, answer = (
        int(trl.get("per_device_train_batch_size") or 8),
        completion_tokens(trl),
    )
    tried: list[tuple[str, Settings]] = []

    def change(**values: Any) -> None:
        text = ", ".join(
            f"{name}={str(value).lower() if isinstance(value, bool) else value}"
            for name, value in values.items()
        )
        tried.append((text, settings.model_copy(update={"trl": {**trl, **values}})))

    if not trl.get("gradient_checkpointing", True):
        change(gradient_checkpointing=True)
    for fewer in (rows // 2, rows // 4):
        if fewer >= 1:
            change(
                per_device_train_batch_size=fewer,
                gradient_accumulation_steps=_accumulation(trl, rows // fewer),
            )
    change(max_completion_length=max(1, answer // 2))
    if settings.lora is None:
        tried.append(("lora=true", settings.model_copy(update={"lora": Lora()})))
    elif settings.device == "cuda" and not in_four_bits(settings.own):
        own = settings.own.model_copy(update={"load_in_4bit": True})
        tried.append(("load_in_4bit=true", settings.model_copy(update={"own": own})))
    found = []
    for text, other in tried:
        try:
            sizes = batching(other.trl, processes)
        except UsageError:
            continue
        size = estimate_memory(
            facts,
            other,
            sizes,
            prompt_tokens=prompt_tokens,
            dtype=dtype,
            available=available,
            processes=processes,
            shared=shared,
        ).total
        found.append((size, f"{text} takes {readable(size)}"))
    found.sort(key=lambda one: one[0])
    return ", or ".join(text for _, text in found[:3]) or "use a smaller model"


def _accumulation(trl: dict[str, Any], times: int) -> int:
    return int(trl.get("gradient_accumulation_steps") or 1) * times


def device_memory(settings: Settings) -> int | None:
    """Bytes that one process of a run has: its own GPU, or its share of the machine's memory."""
    from trainer.environment import memory_bytes

    if settings.device == "cuda":
        import torch

        return int(torch.cuda.get_device_properties(0).total_memory)
    whole = memory_bytes()
    return whole // launched_here() if whole else whole


def readable(size: float) -> str:
    """`2.5 GB`, `740 MB`."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
