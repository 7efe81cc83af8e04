"""The memory estimate against models whose numbers are known."""

from __future__ import annotations

import json
from pathlib import Path

from rewards.manifest import TrainSettings
from trainer.memory import (
    ModelFacts,
    count_parameters,
    estimate_memory,
    lora_parameters,
    read_model_facts,
    readable,
)
from trainer.plan import batching
from trainer.settings import Settings, parse_sets, resolve

SMOLLM2 = ModelFacts("LlamaForCausalLM", 134_515_008, 30, 576, 1536, 9, 3, 64, 49152, 8192, True, "bfloat16")
QWEN_1_5B = ModelFacts(
    "Qwen2ForCausalLM", 1_543_714_304, 28, 1536, 8960, 12, 2, 128, 151936, 32768, True, "bfloat16"
)


def settings(*sets: str, preset: str = "cpu") -> Settings:
    return resolve(TrainSettings(preset=preset, model="m"), device="cpu", sets=parse_sets(sets))


def test_facts_are_read_without_loading_the_model(tiny_model: Path) -> None:
    from trainer.loading import load_model

    facts = read_model_facts(tiny_model)
    model = load_model(tiny_model)
    assert facts.parameters == count_parameters(tiny_model) == sum(p.numel() for p in model.parameters())
    config = json.loads((tiny_model / "config.json").read_text())
    assert (facts.layers, facts.hidden) == (config["num_hidden_layers"], config["hidden_size"])
    assert facts.chat_template


def test_lora_parameters_are_counted_as_peft_counts_them(tiny_model: Path) -> None:
    from peft import get_peft_model

    from trainer.backends.transformers import build_peft_config
    from trainer.loading import load_model

    wanted = settings("lora.r=4", "lora.targets=all-linear")
    assert wanted.lora is not None
    model = get_peft_model(load_model(tiny_model), build_peft_config(wanted.lora))
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert lora_parameters(read_model_facts(tiny_model), wanted) == trained


def test_the_estimate_for_a_small_model_is_near_what_was_measured() -> None:
    wanted = settings("num_generations=8", "max_completion_length=14")
    memory = estimate_memory(
        SMOLLM2, wanted, batching(wanted.trl), prompt_tokens=64, dtype="float32", available=8_000_000_000
    )
    assert 1.5e9 < memory.total < 3.5e9  # 2.5 GB were measured
    assert memory.share is not None
    assert memory.share < 0.5


def test_full_fine_tuning_takes_what_gradients_and_optimizer_need() -> None:
    lora = settings("max_completion_length=14")
    full = settings("max_completion_length=14", "lora=false")
    sizes = batching(lora.trl)
    estimates = [
        estimate_memory(QWEN_1_5B, one, sizes, prompt_tokens=64, dtype="float32", available=None).total
        for one in (lora, full)
    ]
    assert estimates[1] - estimates[0] > 11 * QWEN_1_5B.parameters


def test_sizes_are_readable() -> None:
    assert [readable(size) for size in (2.5e9, 7.4e8)] == ["2.5 GB", "740 MB"]
