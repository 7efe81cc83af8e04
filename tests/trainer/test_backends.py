"""Backends: what each needs is said before anything loads; Unsloth is called as its documentation has it."""

from __future__ import annotations

import dataclasses
import importlib.util
import socket
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from rewards.errors import MissingExtraError, UsageError
from rewards.manifest import TrainSettings
from trainer.backends import choice
from trainer.backends.choice import PROJECTIONS, require_backend
from trainer.backends.transformers import four_bits, load_policy
from trainer.rundir import RunDir
from trainer.runfiles import read_facts, settings_of
from trainer.settings import Settings, build_config, check_with_trl, parse_sets, resolve


def settings(*sets: str, device: Any = "cuda", **train: Any) -> Settings:
    return resolve(
        TrainSettings(**{"model": "m", "preset": "small-gpu", **train}), device=device, sets=parse_sets(sets)
    )


@pytest.fixture
def has(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pretend that exactly these of the optional packages are installed."""
    real = importlib.util.find_spec

    def only(*names: str) -> None:
        def find(name: str, *more: Any) -> Any:
            if name in ("vllm", "unsloth", "bitsandbytes"):
                return ModuleSpec(name, None) if name in names else None
            return real(name, *more)

        monkeypatch.setattr("importlib.util.find_spec", find)

    return only


@pytest.mark.guide("G12")
@pytest.mark.parametrize("backend", ["vllm", "unsloth"])
def test_a_backend_that_needs_a_gpu_says_so_in_one_sentence(backend: str) -> None:
    with pytest.raises(UsageError, match=f"backend='{backend}' needs a GPU") as caught:
        settings(f"backend={backend}", device="cpu")
    assert "\n" not in str(caught.value)


def test_the_cpu_preset_leaves_the_gpu_alone_so_a_backend_cannot_use_it() -> None:
    with pytest.raises(UsageError, match="or preset cpu leaves it alone"):
        settings("backend=unsloth", preset="cpu")


@pytest.mark.guide("G12")
def test_unsloth_that_is_not_installed_is_answered_with_its_install_line(has: Any) -> None:
    has()
    with pytest.raises(MissingExtraError, match=r"pip install 'reward-workbench\[unsloth\]'"):
        check_with_trl(settings("backend=unsloth"))


def test_vllm_that_is_not_installed_is_answered_with_its_install_line(has: Any) -> None:
    has()
    with pytest.raises(MissingExtraError, match=r"pip install 'reward-workbench\[vllm\]'"):
        check_with_trl(settings("backend=vllm"))


def test_four_bits_without_bitsandbytes_are_answered_with_its_install_line(has: Any) -> None:
    has()
    with pytest.raises(UsageError, match="pip install bitsandbytes"):
        check_with_trl(settings("load_in_4bit=true"))


@pytest.mark.parametrize(
    ("sets", "sentence"),
    [
        (("load_in_4bit=true", "lora=false"), "load_in_4bit=true trains an adapter"),
        (("backend=vllm", "use_vllm=false"), "contradict each other"),
        (("backend=vlm",), "backend='vlm'"),
    ],
)
def test_what_cannot_work_together_is_one_sentence(sets: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        settings(*sets)


def test_vllm_is_switched_on_by_settings_that_trl_has(has: Any) -> None:
    has("vllm", "bitsandbytes")
    found = settings("backend=vllm", "vllm_gpu_memory_utilization=0.4", "bf16=false")
    from trl import GRPOConfig

    assert set(found.trl) <= {field.name for field in dataclasses.fields(GRPOConfig)}
    assert (found.trl["use_vllm"], found.trl["vllm_mode"]) == (True, "colocate")
    config = build_config(found, "unused")
    assert (config.use_vllm, config.vllm_mode, config.vllm_gpu_memory_utilization) == (True, "colocate", 0.4)


def test_a_vllm_server_that_does_not_answer_is_told_before_anything_loads(has: Any) -> None:
    has("vllm", "bitsandbytes")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: refused
        port = unused.getsockname()[1]
        given = settings("backend=vllm", "vllm_mode=server", f"vllm_server_base_url=http://127.0.0.1:{port}")
        with pytest.raises(UsageError, match=f"no vLLM server answers at 127.0.0.1:{port}.*trl vllm-serve"):
            require_backend(given)
        unused.listen()
        require_backend(given)


@pytest.mark.guide("G12")
def test_unsloth_brings_its_own_adapter_and_four_bits() -> None:
    found = settings("backend=unsloth")
    assert found.lora is not None
    assert (found.lora.r, found.lora.dropout, found.lora.targets) == (32, 0.0, PROJECTIONS)
    assert any("base in 4 bits and merged into its 16-bit weights" in note for note in found.notes)
    again = Settings.from_manifest(found.to_manifest(), device="cuda", notes=found.notes)
    assert again == found.model_copy(update={"saves": "said"})  # as resolved, once and for all
    smaller = settings("backend=unsloth", "lora.r=8", "load_in_4bit=false")
    assert smaller.lora is not None
    assert (smaller.lora.r, smaller.own.load_in_4bit) == (8, False)


class FastLanguageModel:
    """Unsloth's class as far as it is used, recording what it is asked for."""

    calls: list[tuple[str, dict[str, Any]]] = []  # noqa: RUF012  (emptied by the fixture)

    @classmethod
    def from_pretrained(cls, **arguments: Any) -> tuple[str, str]:
        cls.calls.append(("from_pretrained", arguments))
        if "broken" in arguments["model_name"]:
            raise NotImplementedError("Unsloth: this architecture is not supported\nmore")
        return "model", "its tokenizer"

    @classmethod
    def get_peft_model(cls, model: str, **arguments: Any) -> str:
        cls.calls.append(("get_peft_model", arguments))
        return f"{model} with adapter"


@pytest.fixture
def calls(has: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """An installed `unsloth`; what it was called with."""
    has("unsloth", "vllm", "bitsandbytes")
    module: Any = ModuleType("unsloth")
    module.FastLanguageModel = FastLanguageModel
    monkeypatch.setitem(sys.modules, "unsloth", module)
    FastLanguageModel.calls.clear()
    return FastLanguageModel.calls


@pytest.mark.guide("G12")
def test_unsloth_loads_the_model_in_four_bits_with_its_own_checkpointing(
    calls: Any, tiny_model: Path
) -> None:
    given = settings("backend=unsloth", "max_prompt_length=100", "max_completion_length=60", "seed=7")
    policy = load_policy(tiny_model, given, "tokenizer")
    assert (policy.model, policy.tokenizer, policy.peft_config) == ("model with adapter", "tokenizer", None)
    assert calls[0] == (
        "from_pretrained",
        {"model_name": str(tiny_model), "max_seq_length": 160, "dtype": None, "load_in_4bit": True},
    )
    name, adapter = calls[1]
    assert name == "get_peft_model"
    assert (adapter["r"], adapter["lora_alpha"], adapter["random_state"]) == (32, 32, 7)
    assert adapter["target_modules"] == list(PROJECTIONS)
    assert adapter["use_gradient_checkpointing"] == "unsloth"


def test_unsloth_generates_with_vllm_where_that_is_asked_for(calls: Any, tiny_model: Path) -> None:
    load_policy(tiny_model, settings("backend=unsloth", "use_vllm=true", "lora.r=16"), "tokenizer")
    _, arguments = calls[0]
    assert (arguments["fast_inference"], arguments["max_lora_rank"]) == (True, 16)
    assert arguments["gpu_memory_utilization"] == 0.6


def test_a_later_stage_goes_on_from_the_adapter_unsloth_saved(
    calls: Any, tiny_model: Path, tmp_path: Path
) -> None:
    policy = load_policy(tiny_model, settings("backend=unsloth"), "tokenizer", start=tmp_path)
    assert policy.model == "model"
    assert [name for name, _ in calls] == ["from_pretrained"]
    assert calls[0][1]["model_name"] == str(tmp_path)


def test_full_fine_tuning_with_unsloth_is_in_sixteen_bits(calls: Any, tiny_model: Path) -> None:
    load_policy(tiny_model, settings("backend=unsloth", "lora=false"), "tokenizer")
    [(_, arguments)] = calls
    assert (arguments["full_finetuning"], arguments["load_in_4bit"]) == (True, False)


def test_a_model_unsloth_does_not_know_is_one_sentence(calls: Any, tiny_model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    with pytest.raises(
        UsageError, match=r"Unsloth cannot load the model in .*: Unsloth: this architecture"
    ) as caught:
        load_policy(tiny_model, settings("backend=unsloth"), "tokenizer", start=broken)
    assert "\n" not in str(caught.value)


def test_unsloth_is_imported_before_trl_is_asked(calls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(choice, "importlib", SimpleNamespace(import_module=asked.append, util=importlib.util))

    def trl() -> None:
        raise LookupError(f"TRL is asked after {asked}")

    monkeypatch.setattr("trainer.settings._grpo_config", trl)
    with pytest.raises(LookupError, match=r"after \['unsloth'\]"):
        check_with_trl(settings("backend=unsloth"))


def test_four_bits_are_those_of_qlora() -> None:
    config = four_bits("bfloat16")
    assert config.load_in_4bit
    assert (config.bnb_4bit_quant_type, config.bnb_4bit_use_double_quant) == ("nf4", True)
    assert str(config.bnb_4bit_compute_dtype) == "torch.bfloat16"


def test_a_run_that_goes_on_without_its_backend_is_told_before_anything_loads(
    tiny_run: Path, has: Any
) -> None:
    has()
    manifest = (tiny_run / "manifest.toml").read_text()
    staged = manifest.replace("[train.lora]", 'backend = "unsloth"\n[train.lora]')
    (tiny_run / "manifest.toml").write_text(staged + '[[train.stage]]\nname = "main"\nrewards = ["tagged"]\n')
    run = RunDir.open(tiny_run)
    with pytest.raises(MissingExtraError, match=r"pip install 'reward-workbench\[unsloth\]'"):
        settings_of(run, read_facts(run))
