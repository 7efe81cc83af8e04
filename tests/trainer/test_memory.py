"""The memory estimate against models whose numbers are known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rewards.manifest import TrainSettings
from trainer.plan import batching
from trainer.preflight.memory import (
    ModelFacts,
    count_parameters,
    device_memory,
    estimate_memory,
    gpu_sentence,
    lora_parameters,
    read_model_facts,
    readable,
    remedies,
)
from trainer.settings import Settings, parse_sets, resolve

SMOLLM2 = ModelFacts("LlamaForCausalLM", 134_515_008, 30, 576, 1536, 9, 3, 64, 49152, 8192, True, "bfloat16")
QWEN_1_5B = ModelFacts(
    "Qwen2ForCausalLM", 1_543_714_304, 28, 1536, 8960, 12, 2, 128, 151936, 32768, True, "bfloat16"
)


def settings(*sets: str, preset: str = "cpu", processes: int = 1) -> Settings:
    train = TrainSettings(preset=preset, model="m")
    return resolve(train, device="cpu", sets=parse_sets(sets), processes=processes)


def test_facts_are_read_without_loading_the_model(tiny_model: Path) -> None:
    from trainer.models.loading import load_model

    facts = read_model_facts(tiny_model)
    model = load_model(tiny_model)
    assert facts.parameters == count_parameters(tiny_model) == sum(p.numel() for p in model.parameters())
    config = json.loads((tiny_model / "config.json").read_text())
    assert (facts.layers, facts.hidden) == (config["num_hidden_layers"], config["hidden_size"])
    assert facts.chat_template


def test_lora_parameters_are_counted_as_peft_counts_them(tiny_model: Path) -> None:
    from peft import get_peft_model

    from trainer.backends.transformers import build_peft_config
    from trainer.models.loading import load_model

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


def test_changes_that_save_memory_are_named_with_what_they_save() -> None:
    wanted = settings(
        "per_device_train_batch_size=8", "num_generations=4", "max_completion_length=512", "lora=false"
    )
    text = remedies(QWEN_1_5B, wanted, prompt_tokens=256, dtype="float32", available=16_000_000_000)
    assert text.startswith("gradient_checkpointing=true takes ")
    assert "per_device_train_batch_size=2, gradient_accumulation_steps=4 takes" in text
    fewer = settings("lora=false", "gradient_checkpointing=true", "per_device_train_batch_size=4")
    assert remedies(QWEN_1_5B, fewer, prompt_tokens=64, dtype="float32", available=None).startswith(
        "lora=true"
    )


def test_vllm_takes_its_share_of_the_gpu_and_four_bits_an_eighth_of_float32() -> None:
    gpu = resolve(
        TrainSettings(preset="large-gpu", model="m"),
        device="cuda",
        sets=parse_sets(["vllm_gpu_memory_utilization=0.5"]),
    )
    memory = estimate_memory(
        QWEN_1_5B, gpu, batching(gpu.trl), prompt_tokens=256, dtype="bfloat16", available=80_000_000_000
    )
    assert memory.parts["vLLM, its share of the GPU"] == 40_000_000_000
    assert gpu_sentence(memory).startswith("a GPU of ")
    small = gpu.model_copy(update={"own": gpu.own.model_copy(update={"load_in_4bit": True})})
    quantised = estimate_memory(
        QWEN_1_5B, small, batching(small.trl), prompt_tokens=256, dtype="bfloat16", available=None
    )
    assert quantised.parts["weights"] == int(1_543_714_304 * 0.55)


def test_with_vllm_the_step_still_takes_its_activations_and_logits() -> None:
    wanted = settings("num_generations=8", "max_completion_length=14")
    trl = {**wanted.trl, "use_vllm": True, "vllm_gpu_memory_utilization": 0.5}
    sizes = replace(
        batching(wanted.trl), rows=100_000
    )  # so many that a cache of ours would be the larger part
    own, by_vllm = (
        estimate_memory(SMOLLM2, one, sizes, prompt_tokens=64, dtype="float32", available=8_000_000_000).parts
        for one in (wanted, wanted.model_copy(update={"trl": trl}))
    )
    assert "cache of generation" in own
    assert "cache of generation" not in by_vllm
    assert by_vllm["logits"] > 0
    assert by_vllm["activations of a step"] > 0
    assert by_vllm["vLLM, its share of the GPU"] == 4_000_000_000


def test_what_saves_memory_is_legal_for_all_processes_together() -> None:
    wanted = settings("per_device_train_batch_size=4", "num_generations=8", "gradient_accumulation_steps=2")
    asked: dict[str, Any] = {"prompt_tokens": 256, "dtype": "float32", "available": None}
    alone, four = (remedies(QWEN_1_5B, wanted, processes=count, **asked) for count in (1, 4))
    assert "per_device_train_batch_size=2, gradient_accumulation_steps=4 takes" in alone
    assert "per_device_train_batch_size=2, gradient_accumulation_steps=4 takes" in four
    odd = settings("per_device_train_batch_size=3", "num_generations=6", "gradient_accumulation_steps=2")
    assert "per_device_train_batch_size=1, gradient_accumulation_steps=6" in remedies(QWEN_1_5B, odd, **asked)
    split = settings("per_device_train_batch_size=2", "num_generations=8", processes=4)
    assert "per_device_train_batch_size=1" in remedies(QWEN_1_5B, split, processes=4, **asked)
    assert "max_completion_length" in remedies(QWEN_1_5B, split, processes=4, **asked)


def test_a_process_generates_its_share_and_holds_its_share_where_weights_are_spread() -> None:
    wanted = settings("num_generations=8", "max_completion_length=14")
    sizes = replace(batching(wanted.trl), rows=40_000)
    parts = [
        estimate_memory(
            SMOLLM2,
            wanted,
            sizes,
            prompt_tokens=64,
            dtype="float32",
            available=None,
            processes=processes,
            shared=shared,
        ).parts
        for processes, shared in ((1, False), (4, False), (4, True))
    ]
    assert parts[1]["cache of generation"] * 4 == parts[0]["cache of generation"]
    assert parts[1]["weights"] == parts[0]["weights"] == parts[2]["weights"] * 4
    assert parts[2]["adapter, gradients, optimizer"] < parts[0]["adapter, gradients, optimizer"]


def test_processes_of_one_machine_share_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = device_memory(settings())
    monkeypatch.setenv("WORLD_SIZE", "8")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert whole is not None
    assert device_memory(settings()) == whole // 2
