"""A tiny model with its adapter, and a run folder around them, made in a second and without training."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

REWARDS = """
def tagged(completions, **kwargs):
    return [1.0 if "<answer>" in c[0]["content"] else 0.0 for c in completions]


def right(completions, answer, **kwargs):
    return [1.0 if str(a) in c[0]["content"] else 0.0 for c, a in zip(completions, answer, strict=True)]
"""

MANIFEST = """
[set]
name = "sums"

[[reward]]
function = "../../rewards.py::tagged"
name = "tagged"
kind = "format"
weight = 1.0
range = [0.0, 1.0]

[[reward]]
function = "../../rewards.py::right"
name = "right"
kind = "correctness"
weight = 0.0

[data]
train = "../../train.jsonl"
system_prompt = "Maths"

[train]
preset = "cpu"
model = "tiny"
max_completion_length = 8
learning_rate = 2e-4
[train.lora]
r = 2
alpha = 4.0
dropout = 0.0
targets = "all-linear"
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """peft asks transformers for an attribute that transformers has renamed; neither is ours to change."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning"))


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untaught model of the toy's shape, with tokenizer and chat template."""
    import torch

    from trainer.models import toy

    folder = tmp_path_factory.mktemp("models") / "tiny"
    rng = random.Random(0)
    tokenizer = toy.build_tokenizer([toy.dialogue(rng) for _ in range(100)])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        toy.build_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_adapter(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LoRA adapter on the tiny model whose factors are small multiples of 1/64.

    The tokenizer lies beside it.
    """
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    folder = tmp_path_factory.mktemp("adapters") / "adapter"
    model = get_peft_model(
        AutoModelForCausalLM.from_pretrained(tiny_model),
        LoraConfig(r=2, lora_alpha=4, target_modules=["q_proj", "down_proj"], task_type="CAUSAL_LM"),
    )
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_" in name:
                parameter.copy_(torch.randint(-8, 9, parameter.shape, generator=generator) / 64)
    model.save_pretrained(folder)
    for file in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copy(tiny_model / file, folder / file)
    return folder


def chat(question: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": "Maths"}, {"role": "user", "content": question}]


@pytest.fixture
def tiny_run(tiny_model: Path, tiny_adapter: Path, tmp_path: Path) -> Path:
    """A finished run of the tiny model: two logged steps, trained on 1 + 1, 2 + 3 and 4 + 5 held out."""
    from trainer.models.loading import fingerprint_weights

    project = tmp_path / "project"
    run = project / "runs" / "sums-1"
    run.mkdir(parents=True)
    (project / "rewards.py").write_text(REWARDS)
    (project / "rewardset.toml").write_text(MANIFEST.replace("../../", ""))
    (run / "manifest.toml").write_text(MANIFEST)
    shutil.copytree(tiny_adapter, run / "adapter")
    _write_facts(run, project, tiny_model)
    environment = {"python": "3.11", "device": "cpu", "packages": {"trl": "1.16.0"}}
    environment["base_fingerprint"] = fingerprint_weights(tiny_model)
    (run / "environment.json").write_text(json.dumps(environment))
    held = [{"prompt": chat(f"What is {a} + {b}?"), "answer": a + b} for a, b in ((2, 3), (4, 5))]
    (run / "holdout.jsonl").write_text("".join(json.dumps(row) + "\n" for row in held))
    lines = [
        {"step": step, "reward": reward, "rewards/tagged/mean": reward, "loss": 0.1}
        for step, reward in ((1, 0.25), (2, 0.75))
    ]
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    _write_completions(run)
    return run


def _write_facts(run: Path, project: Path, model: Path) -> None:
    from rewards.rewardset import RewardSet

    facts: dict[str, Any] = {
        "target": str(project),
        "root": str(project),
        "model": "tiny",
        "model_path": str(model),
        "device": "cpu",
        "threads": 1,
        "fingerprint": RewardSet.load(project).fingerprint,
        "data_fingerprint": "0" * 32,
        "sealed": False,
        "allow_unsealed": True,
        "unsealed_because": ["there is no seal"],
        "evidence": None,
        "max_steps": 2,
        "train_prompts": 1,
        "holdout_prompts": 2,
        "notes": [],
        "created": "2026-01-01T00:00:00+00:00",
        "command": "train",
    }
    (run / "run.json").write_text(json.dumps(facts))
    stage = {"name": "main", "rewards": ["tagged", "right"], "max_steps": 2, "step": 2, "status": "done"}
    (run / "stages.json").write_text(json.dumps({"stages": [stage]}))


def _write_completions(run: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    (run / "completions").mkdir()
    table = pa.table({"prompt": [chat("What is 1 + 1?")], "step": [1]})
    parquet.write_table(table, run / "completions" / "step_00001.parquet")


PROJECT = """
[set]
name = "sums"

[[reward]]
function = "rewards.py::tagged"
name = "tagged"
kind = "format"
range = [0.0, 1.0]

[[reward]]
function = "rewards.py::right"
name = "right"
kind = "correctness"

[[reward]]
function = "rewards.py::shortness"
name = "shortness"
weight = 0.0

[data]
train = "train.jsonl"
system_prompt = "Maths"
holdout = 0.2

[train]
preset = "cpu"
max_steps = 6
num_generations = 4
max_completion_length = 6
learning_rate = 2e-3
save_steps = 2
seed = 0
threads = 1
"""

SHORTNESS = """

def shortness(completions, **kwargs):
    return [1.0 / (1 + len(c[0]["content"])) for c in completions]
"""


def make_project(folder: Path, model: Path) -> Path:
    """A project in `folder` that trains `model` for six steps on twenty sums."""
    folder.mkdir(exist_ok=True)
    (folder / "rewards.py").write_text(REWARDS + SHORTNESS)
    (folder / "rewardset.toml").write_text(f'{PROJECT}model = "{model}"\n')
    rows = [{"prompt": f"What is {n % 5} + {n // 5}?", "answer": n % 5 + n // 5} for n in range(20)]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture
def project(tiny_model: Path, tmp_path: Path) -> Path:
    """A project that trains the untaught tiny model for six steps on twenty sums."""
    return make_project(tmp_path / "project", tiny_model)


@pytest.fixture(scope="session")
def sealed_project(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same project, sealed with strong evidence; for runs that nobody changes."""
    from rewards.rewardset import RewardSet
    from rewards.seal import SealedSamples, seal_of, write_seal

    folder = make_project(tmp_path_factory.mktemp("sealed") / "project", tiny_model)
    description = RewardSet.load(folder).describe()
    samples = SealedSamples("0" * 32, rows=4, groups=2, right=2, wrong=2)
    write_seal(description.seal_path, seal_of(description, samples, created="2026-01-01T00:00:00+00:00"))
    return folder
