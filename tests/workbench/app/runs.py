"""A run folder as the trainer leaves it, made by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_run(
    root: Path, name: str = "sums-1", *, status: str = "done", steps: int = 4, **stage: Any
) -> Path:
    """Write `runs/NAME` with this many steps of metrics and one diagnosis; the folder."""
    folder = root / "runs" / name
    folder.mkdir(parents=True)
    (folder / "manifest.toml").write_text('[train]\nmodel = "toy"\n')
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
