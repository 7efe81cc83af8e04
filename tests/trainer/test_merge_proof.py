"""The checks on files: each finds its fault and passes a healthy folder."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from trainer.merging.adapters import Adapter, Pair
from trainer.merging.proof import (
    check_changed,
    check_retention,
    is_proved,
    measure_retention,
    to_json,
    to_text,
)
from trainer.merging.proof_files import (
    Check,
    check_config,
    check_fresh_reload,
    check_keys,
    check_tokenizer,
    stored_keys,
)
from trainer.merging.proof_logits import LogitFacts, check_effect, check_logits, logit_limits

FACTS = LogitFacts(
    positions=100,
    weights=100_000,
    std=1.0,
    difference=5e-6,
    error_kl=1e-9,
    effect_kl=1e-3,
    merged_effect_kl=1e-3,
    noise=1e-6,
    noise_kl=0.0,
)


@pytest.fixture
def copy(tiny_model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_model, tmp_path / "copy"))


def change_json(path: Path, **values: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_a_copy_of_the_base_passes_every_check_on_files(tiny_model: Path, copy: Path) -> None:
    keys = stored_keys(tiny_model)
    assert check_keys(copy, tiny_model, keys).passed
    assert check_config(copy, tiny_model, "float32").passed
    assert check_tokenizer(copy, tiny_model, tiny_model).passed


def test_adapter_files_beside_merged_weights_are_found(tiny_model: Path, copy: Path) -> None:
    (copy / "adapter_config.json").write_text("{}")
    check = check_keys(copy, tiny_model, [])
    assert check.passed is False
    assert check.sentence.startswith("adapter_config.json lies beside the merged weights")


def test_the_inner_model_saved_unmerged_is_found(tiny_model: Path, copy: Path) -> None:
    tensors = load_file(copy / "model.safetensors")
    tensors["model.layers.0.self_attn.q_proj.base_layer.weight"] = torch.ones(1)
    save_file(tensors, copy / "model.safetensors")
    assert check_keys(copy, tiny_model, []).sentence.endswith("saved without being merged")


def test_a_missing_tensor_is_found(tiny_model: Path, copy: Path) -> None:
    tensors = load_file(copy / "model.safetensors")
    del tensors["model.norm.weight"]
    save_file(tensors, copy / "model.safetensors")
    check = check_keys(copy, tiny_model, stored_keys(tiny_model))
    assert (check.passed, check.sentence) == (
        False,
        "1 names differ from the base's, first model.norm.weight",
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"dtype": "bfloat16"}, "its dtype is bfloat16, not float32"),
        ({"quantization_config": {}}, "it still has a quantization_config"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings changed"),
        ({"vocab_size": 1000}, "vocab_size is 1000, the embedding has"),
        ({"num_attention_heads": 8}, "num_attention_heads is 8, in the base 4"),
    ],
)
def test_an_unexplained_configuration_is_found(
    tiny_model: Path, copy: Path, change: dict[str, Any], said: str
) -> None:
    change_json(copy / "config.json", **change)
    check = check_config(copy, tiny_model, "float32")
    assert check.passed is False
    assert said in check.sentence


def test_a_trained_head_explains_an_untied_one(tiny_model: Path, copy: Path) -> None:
    change_json(copy / "config.json", tie_word_embeddings=False)
    assert check_config(copy, tiny_model, "float32", head_trained=True).passed


def test_a_repaired_tokenizer_is_found(tiny_model: Path, copy: Path) -> None:
    change_json(copy / "tokenizer_config.json", pad_token="<|im_end|>")
    check = check_tokenizer(copy, tiny_model, tiny_model)
    assert check.passed is False
    assert "tokenizer_config.json differs from the one trained with" in check.sentence
    assert "pad_token_id is 2, was 0" in check.sentence


def test_another_chat_template_is_found(tiny_model: Path, copy: Path) -> None:
    template = copy / "chat_template.jinja"
    template.write_text(template.read_text().replace("<|im_end|>\n", "<|im_end|>"))
    assert "dialogue 0 is rendered otherwise" in check_tokenizer(copy, tiny_model, tiny_model).sentence


def test_other_generation_settings_are_found(tiny_model: Path, copy: Path) -> None:
    change_json(copy / "generation_config.json", eos_token_id=5)
    assert "generation_config.json differs" in check_tokenizer(copy, tiny_model, tiny_model).sentence


def test_a_folder_loads_in_a_fresh_process(tiny_model: Path) -> None:
    assert check_fresh_reload(tiny_model, "float32").passed


def test_a_key_left_over_is_seen_by_the_fresh_process(copy: Path) -> None:
    tensors = load_file(copy / "model.safetensors")
    tensors["model.layers.0.self_attn.lora_A.weight"] = torch.ones(1)
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    assert (
        "1 unexpected keys: model.layers.0.self_attn.lora_A.weight"
        in check_fresh_reload(copy, "float32").sentence
    )


def test_a_folder_that_does_not_load_is_told(tmp_path: Path) -> None:
    check = check_fresh_reload(tmp_path, "float32")
    assert check.passed is False
    assert "Error" in check.sentence


def test_logit_limits_follow_size_dtype_and_noise() -> None:
    assert logit_limits(FACTS, "float32") == (1e-4, 1e-7)
    assert logit_limits(replace(FACTS, weights=10**9, std=2.0), "float32")[0] == 2e-3
    assert logit_limits(replace(FACTS, noise=1e-3), "float32")[0] == pytest.approx(3e-3)
    assert logit_limits(FACTS, "bfloat16") == (0.25, 5e-4)


def test_different_logits_fail() -> None:
    assert check_logits(FACTS, "float32").passed
    assert not check_logits(replace(FACTS, difference=4.6e-3), "float32").passed
    assert not check_logits(replace(FACTS, error_kl=1e-6), "float32").passed
    assert not check_logits(replace(FACTS, difference=float("inf")), "float32").passed


def test_an_effect_below_rounding_is_none() -> None:
    small = replace(FACTS, merged_effect_kl=2e-5, effect_kl=2e-5)
    assert check_effect(small, "float32").passed
    check = check_effect(small, "bfloat16")
    assert check.passed is False
    assert check.sentence.startswith("no measurable effect")
    assert check.sentence.endswith("merge with --dtype float32")


def update(delta: float) -> Adapter:
    pair = Pair(torch.tensor([[delta] * 64]), torch.ones(64, 1), 1.0, False)
    return Adapter({}, {"w": pair}, {}, {})


def test_an_update_that_rounding_erased_fails_retention() -> None:
    base = {"w": torch.ones(64, 64)}
    merged = {"w": (base["w"] + 2.0**-9).to(torch.bfloat16)}
    check = check_retention(measure_retention(base, merged, update(2.0**-9)), FACTS, "bfloat16")
    assert (check.passed, check.value) == (False, 0.0)
    assert check.sentence.endswith("merge with --dtype float32 or serve the adapter as it is")


def test_a_merge_error_beside_a_small_effect_fails_retention() -> None:
    base = {"w": torch.ones(64, 64)}
    merged = {"w": base["w"] + 2.0**-9}
    retention = measure_retention(base, merged, update(2.0**-9))
    assert check_retention(retention, FACTS, "float32").passed
    noisy = replace(FACTS, error_kl=2e-4)
    check = check_retention(retention, noisy, "float32")
    assert check.passed is False
    assert "the merge error is 20% of what training changed" in check.sentence


def test_an_adapter_of_zeros_fails_retention() -> None:
    base = {"w": torch.ones(64, 64)}
    assert check_retention(measure_retention(base, base, update(0.0)), FACTS, "float32").passed is False


def test_a_replaced_tensor_that_was_not_saved_is_found_unless_it_is_tied() -> None:
    new = torch.ones(2, 2)
    alone, both = (dict.fromkeys(names, new) for names in (["head"], ["head", "embedding"]))
    checks = [
        check_changed({}, {"embedding": stored}, Adapter({}, {}, replaced, {}))
        for stored, replaced in ((new, alone), (new, both), (new * 2, both))
    ]
    assert [check.passed for check in checks] == [False, True, False]


def test_a_check_that_does_not_apply_fails_nothing() -> None:
    checks = [Check(0, "same base", None, None, None, "not noted"), Check(1, "finite", True, 0, 0, "all")]
    assert is_proved(checks)
    assert to_json(checks)["proved"] is True
    assert to_text(checks).splitlines()[0] == "  0  -       same base             not noted"
    assert not is_proved([*checks, Check(2, "changed weights", False, 2.0, 1.0, "off")])
