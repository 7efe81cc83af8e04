"""Reading an adapter without PEFT, on whole-number weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from rewards.errors import UsageError
from trainer.merging.adapters import is_adapter_folder, read_adapter

A = torch.tensor([[1.0, 2.0, 3.0]])  # (r=1, in=3)
B = torch.tensor([[1.0], [-1.0]])  # (out=2, r=1)


def adapter_folder(folder: Path, tensors: dict[str, torch.Tensor], **config: Any) -> Path:
    folder.mkdir(exist_ok=True)
    stated = {"peft_type": "LORA", "r": 1, "lora_alpha": 2, "base_model_name_or_path": "base", **config}
    (folder / "adapter_config.json").write_text(json.dumps(stated))
    save_file(tensors, folder / "adapter_model.safetensors")
    return folder


def pair(module: str = "layer.q_proj") -> dict[str, torch.Tensor]:
    return {f"base_model.model.{module}.lora_A.weight": A, f"base_model.model.{module}.lora_B.weight": B}


def test_the_change_is_scale_times_b_a(tmp_path: Path) -> None:
    adapter = read_adapter(adapter_folder(tmp_path / "a", pair()))
    assert adapter.pairs["layer.q_proj.weight"].delta().tolist() == [[2.0, 4.0, 6.0], [-2.0, -4.0, -6.0]]
    assert adapter.base_name == "base"


def test_rank_and_alpha_patterns_win_over_the_defaults(tmp_path: Path) -> None:
    folder = adapter_folder(tmp_path / "a", pair(), alpha_pattern={"q_proj": 8}, rank_pattern={"q_proj": 4})
    assert read_adapter(folder).pairs["layer.q_proj.weight"].scale == 2.0


def test_rslora_divides_by_the_root_of_the_rank(tmp_path: Path) -> None:
    folder = adapter_folder(tmp_path / "a", pair(), r=4, lora_alpha=8, use_rslora=True)
    assert read_adapter(folder).pairs["layer.q_proj.weight"].scale == 4.0


def test_a_weight_stored_turned_over_is_changed_turned_over(tmp_path: Path) -> None:
    folder = adapter_folder(tmp_path / "a", pair(), fan_in_fan_out=True)
    assert read_adapter(folder).pairs["layer.q_proj.weight"].delta().shape == (3, 2)


def test_modules_trained_whole_are_replacements(tmp_path: Path) -> None:
    folder = adapter_folder(tmp_path / "a", {**pair(), "base_model.model.lm_head.weight": torch.ones(2, 2)})
    assert list(read_adapter(folder).replaced) == ["lm_head.weight"]


def test_dora_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="DoRA"):
        read_adapter(adapter_folder(tmp_path / "a", pair(), use_dora=True))


def test_other_adapters_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds a IA3 adapter; only LoRA"):
        read_adapter(adapter_folder(tmp_path / "a", pair(), peft_type="IA3"))


def test_half_a_pair_is_refused(tmp_path: Path) -> None:
    half = {"base_model.model.layer.q_proj.lora_A.weight": A}
    with pytest.raises(UsageError, match=r"only one half of its change to layer.q_proj"):
        read_adapter(adapter_folder(tmp_path / "a", half))


def test_damaged_weights_are_told(tmp_path: Path) -> None:
    folder = adapter_folder(tmp_path / "a", pair())
    (folder / "adapter_model.safetensors").write_bytes(b"\x10\x00")
    with pytest.raises(UsageError, match=r"weights in .* cannot be read"):
        read_adapter(folder)


def test_a_folder_without_weights_is_no_adapter(tmp_path: Path) -> None:
    folder = adapter_folder(tmp_path / "a", pair())
    assert is_adapter_folder(folder)
    (folder / "adapter_model.safetensors").unlink()
    assert not is_adapter_folder(folder)


def test_the_change_is_pefts_own(tiny_model: Path, tiny_adapter: Path) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(tiny_model), tiny_adapter)
    layer = model.base_model.model.model.layers[1].self_attn.q_proj
    ours = read_adapter(tiny_adapter).pairs["model.layers.1.self_attn.q_proj.weight"].delta()
    assert torch.equal(ours, layer.get_delta_weight("default"))
