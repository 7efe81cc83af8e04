"""A run folder as the trainer leaves it, made by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.trainer.batches import scored
from trainer.rewarding.completions import write_batch

MANIFEST = """
[[reward]]
function = "../../rewards.py::shaped"
name = "shaped"
range = [0.0, 1.0]

[[reward]]
function = "../../rewards.py::correct"
name = "correct"
kind = "correctness"
weight = 0.0

[train]
model = "toy"
max_steps = 4

[train.lora]
r = 2
"""


def write_run(
    root: Path, name: str = "sums-1", *, status: str = "done", steps: int = 4, **stage: Any
) -> Path:
    """Write `runs/NAME` with this many steps of metrics and one diagnosis; the folder."""
    folder = root / "runs" / name
    folder.mkdir(parents=True)
    (folder / "manifest.toml").write_text(MANIFEST)
    made = {
        "name": "all",
        "rewards": ["shaped"],
        "max_steps": steps,
        "step": steps,
        "status": status,
        **stage,
    }
    (folder / "stages.json").write_text(json.dumps({"stages": [made]}))
    lines = [
        {
            "step": step,
            "reward": step / steps,
            "rewards/shaped/mean": 0.5,
            "frac_reward_zero_std": 0.0,
            "loss": "nan",
        }
        for step in range(1, steps + 1)
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = {
        "step": 2, "name": "no-signal", "subject": "", "severity": "warning", "seen": "groups are dead",
        "means": "nothing is learnt", "advice": "harder prompts", "evidence": {},
    }  # fmt: skip
    (folder / "diagnoses.jsonl").write_text(json.dumps(told) + "\n")
    return folder


def write_step(
    run: Path,
    step: int,
    texts: Sequence[str],
    shaped: Sequence[float | None],
    correct: Sequence[float],
    *,
    held_out: int = 0,
) -> None:
    """Record a step of one group: `shaped` is what was paid, `correct` only watched.

    `held_out`: it is that batch of the evaluation after the step.
    """
    count = len(texts)
    batch = scored(
        list(zip(shaped, correct, strict=True)),
        names=("shaped", "correct"),
        weights=(1.0, 0.0),
        step=step,
        group=count,
        columns={"answer": ["2"] * count},
        credits=[[{"reward": "shaped", "name": "tag", "points": 0.25, "of": 0.25}]] * count,
        errors={row: {"shaped": "it raised"} for row, paid in enumerate(shaped) if paid is None},
    )
    batch.completions[:] = texts
    batch.prompts[:] = ["1 + 1"] * count
    if held_out:
        batch = replace(batch, split="eval")
    write_batch(run / "completions", batch, held_out or 1)


def write_result(run: Path) -> None:
    """What `merge` and `compare` leave behind, in short."""
    (run / "adapter").mkdir(exist_ok=True)
    (run / "merged").mkdir(exist_ok=True)
    (run / "merged" / "config.json").write_text("{}")
    names = [
        "same base",
        "finite",
        "changed weights",
        "untouched weights",
        "keys",
        "configuration",
        "tokenizer",
    ]
    names += ["fresh process", "logits", "served logits", "retention", "effect", "answers"]
    checks = [
        {
            "number": number,
            "name": name,
            "passed": None if name == "effect" else True,
            "sentence": f"{name} is right",
        }
        for number, name in enumerate(names)
    ]
    proof = {"proved": True, "dtype": "float32", "merged": str(run / "merged"), "checks": checks}
    (run / "merge-proof.json").write_text(json.dumps(proof))
    (run / "comparison.json").write_text(json.dumps(COMPARISON))
    (run / "README.md").write_text(
        "---\ntags:\n- trl\n---\n# sums\n\n| a | b |\n|---|---|\n| **x** | <img src=x> |\n"
    )
    held = [{"prompt": f"What is {n} + 1?", "answer": n + 1} for n in range(2)]
    (run / "holdout.jsonl").write_text("".join(json.dumps(row) + "\n" for row in held))


COMPARISON: dict[str, Any] = {
    "prompts": 2,
    "completions": 4,
    "source": "the run's held-out prompts",
    "trained_prompts": 3,
    "overlapping": 0,
    "sampling": {"temperature": 0.7, "top_p": 0.9, "max_new_tokens": 8, "seed": 0},
    "lines": [
        {
            "name": "total",
            "kind": None,
            "weight": None,
            "base": 0.25,
            "trained": 0.75,
            "unscored": 0,
            "verdict": "higher",
            "paired": {"pairs": 2, "mean": 0.5, "low": 0.25, "high": 1.0, "p": 0.01, "wins": 2, "losses": 0,
                       "ties": 0, "detectable": 0.1},
        },
        {
            "name": "correct",
            "kind": "correctness",
            "weight": 0.0,
            "base": "nan",
            "trained": "nan",
            "unscored": 4,
            "verdict": "no clear difference",
            "paired": {"pairs": 0, "mean": "nan", "low": None, "high": None, "p": 1.0, "wins": 0, "losses": 0,
                       "ties": 0, "detectable": None},
        },
    ],
    "worst": [
        {"prompt": [{"role": "user", "content": "What is 0 + 1?"}], "base": "one", "trained": "<b>two</b>",
         "base_total": 1.0, "trained_total": 0.5}
    ],
    "notes": [],
    "errors": {},
    "sentence": "total 0.250 -> 0.750 on 2 held-out prompts: higher",
}  # fmt: skip
