"""Every backend once for real: a few steps on a small model made on the spot, merged, proved; one table.

    python benchmarks/gpu_check.py [--device cuda|cpu] [--steps 6]

On a machine with a GPU: transformers, transformers on 4 bits, vLLM and Unsloth, each where its packages are installed,
each in processes of its own. `--device cpu` runs the one part that needs no GPU. Takes less than six minutes: what has
not ended by then is stopped and counts as failed. Exit code 0: every part that could run was trained and proved; 1: one
was not; 2: there is no GPU.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BUDGET_S = 340.0
HEAD, HEADS, LAYERS = 64, 4, 2
"""Heads of 64: vLLM and Unsloth have kernels for no smaller ones."""

REWARDS = '''
def digits(completions, **kwargs):
    """The share of digits in the reply."""
    texts = [completion[-1]["content"] or "" for completion in completions]
    return [sum(letter.isdigit() for letter in text) / max(len(text), 1) for text in texts]
'''
MANIFEST = """
[set]
name = "gpu-check"

[[reward]]
function = "rewards.py::digits"
kind = "content"
range = [0.0, 1.0]

[data]
train = "train.jsonl"
system_prompt = "Maths"
holdout = 0.1
"""
COMMON = (
    "learning_rate=1e-3",
    "lr_scheduler_type=constant",
    "warmup_steps=0",
    "max_grad_norm=1.0",
    "optim=adamw_torch",
    "num_generations=4",
    "per_device_train_batch_size=8",
    "gradient_accumulation_steps=1",
    "steps_per_generation=1",
    "max_completion_length=16",
    "max_prompt_length=none",
    "kl_every=0",
)


@dataclass(frozen=True)
class Part:
    """A backend: the packages it needs beside those of training, and its settings."""

    name: str
    packages: tuple[str, ...]
    sets: tuple[str, ...]
    needs_gpu: bool = True

    @property
    def missing(self) -> str | None:
        return next((name for name in self.packages if importlib.util.find_spec(name) is None), None)


PARTS = (
    Part("transformers", (), ("backend=transformers",), needs_gpu=False),
    Part("transformers, 4 bits", ("bitsandbytes",), ("load_in_4bit=true",)),
    Part("vllm", ("vllm",), ("backend=vllm", "vllm_gpu_memory_utilization=0.2", "vllm_max_model_length=256")),
    Part("unsloth", ("unsloth",), ("backend=unsloth", "max_prompt_length=128")),
)


@dataclass(frozen=True)
class Line:
    """What became of a part: steps, median seconds of a step, the reward at both ends, the proof."""

    part: str
    result: str
    steps: str = "-"
    seconds: str = "-"
    reward: str = "-"
    proof: str = "-"

    @property
    def failed(self) -> bool:
        return self.result.startswith("failed")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--steps", type=int, default=6)
    options = parser.parse_args(arguments)
    if options.device == "cuda" and not has_gpu():
        print(
            "no GPU here, so nothing was checked; --device cpu runs the part that needs none", file=sys.stderr
        )
        return 2
    end = time.monotonic() + BUDGET_S
    with tempfile.TemporaryDirectory() as folder:
        project = make_project(Path(folder), options.device)
        lines = [run_part(part, project, options.device, options.steps, end) for part in PARTS]
    print(table(lines))
    return 1 if any(line.failed for line in lines) else 0


def has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def make_project(folder: Path, device: str) -> Path:
    """A project with sums to answer, and an untaught Qwen2 of 1.5 million weights beside it."""
    import torch
    from transformers import GenerationConfig, Qwen2Config, Qwen2ForCausalLM

    from trainer.models import toy
    from trainer.models.loading import save_model

    rng = random.Random(0)
    tokenizer = toy.build_tokenizer([toy.dialogue(rng) for _ in range(300)])
    ends = {
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": None,
    }
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=HEAD * HEADS,
        intermediate_size=2 * HEAD * HEADS,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS // 2,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        **ends,
    )
    torch.manual_seed(0)
    model = Qwen2ForCausalLM(config)
    model.generation_config = GenerationConfig(**ends)
    save_model(model.to(torch.bfloat16 if device == "cuda" else torch.float32), folder / "model")
    tokenizer.save_pretrained(folder / "model")
    rows = [{"prompt": f"What is {a} + {b}?", "answer": a + b} for a in range(10) for b in range(10)]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "rewards.py").write_text(REWARDS)
    (folder / "rewardset.toml").write_text(MANIFEST)
    return folder


def run_part(part: Part, project: Path, device: str, steps: int, end: float) -> Line:
    """Train and merge with one backend, in processes of its own."""
    if part.needs_gpu and device == "cpu":
        return Line(part.name, "not run: it needs a GPU")
    if part.missing:
        return Line(part.name, f"not run: {part.missing} is not installed")
    run = project / "runs" / part.name.replace(", ", "-").replace(" ", "-")
    preset = "small-gpu" if device == "cuda" else "cpu"
    sets = (f"preset={preset}", *COMMON, f"max_steps={steps}", f"save_steps={steps}", *part.sets)
    train = ["train", str(project), "--model", str(project / "model"), "--run", str(run), "--allow-unsealed"]
    problem = trainer([*train, *(word for one in sets for word in ("--set", one))], end)
    if problem:
        return Line(part.name, f"failed in training: {problem}")
    metrics = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    problem = trainer(["merge", str(run)], end)
    proof = json.loads((run / "merge-proof.json").read_text()) if (run / "merge-proof.json").is_file() else {}
    ran = [check for check in proof.get("checks", []) if check["passed"] is not None]
    times = [line["step_time"] for line in metrics if isinstance(line.get("step_time"), (int, float))]
    rewards = [line["reward"] for line in metrics if isinstance(line.get("reward"), (int, float))]
    return Line(
        part.name,
        f"failed in the merge: {problem}" if problem else "trained, merged, proved",
        steps=str(len(metrics)),
        seconds=f"{statistics.median(times):.2f}" if times else "-",
        reward=f"{rewards[0]:.3f} -> {rewards[-1]:.3f}" if rewards else "-",
        proof=f"{sum(check['passed'] for check in ran)} of {len(ran)} checks",
    )


def trainer(arguments: list[str], end: float) -> str | None:
    """Run a command of the trainer; the last line of what it said where it failed, else None."""
    left = end - time.monotonic()
    if left <= 0:
        return "no time was left"
    command: list[Any] = [sys.executable, "-P", "-m", "trainer", *arguments]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=left,
            env=dict(os.environ),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "it did not end in time"
    said = done.stderr.strip().splitlines()
    return None if done.returncode == 0 else (said[-1][:160] if said else f"exit code {done.returncode}")


def table(lines: Sequence[Line]) -> str:
    """The lines as a table of text."""
    heads = ("backend", "steps", "s a step", "reward", "merge proof", "result")
    rows = [heads, *((one.part, one.steps, one.seconds, one.reward, one.proof, one.result) for one in lines)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(heads))]
    padded = [[cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows]
    return "\n".join("  ".join(row).rstrip() for row in padded)


if __name__ == "__main__":
    sys.exit(main())
