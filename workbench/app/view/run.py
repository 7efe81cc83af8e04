"""A training run as the Train page shows it: where it stands, its diagnoses, the settings it was given."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from trainer.rundir import DONE, FAILED, PENDING, STOPPED, RunDir

MAX_DIAGNOSES = 60
LAST_BYTES = 16_384
HELP = {
    "model": "A folder, a .gguf file or a hub name; toy is taught in seconds and shows the path",
    "preset": "Where the settings start: cpu, small-gpu or large-gpu",
    "max_steps": "Steps of the whole run; one step is one update of the weights",
    "num_generations": "Completions of a prompt; they are compared with each other. More: steadier, slower",
    "per_device_train_batch_size": "Completions a device works on at a time; a multiple of num_generations fills it",
    "gradient_accumulation_steps": "Batches added up before an update: a larger batch for no more memory",
    "learning_rate": "Too high: reward rises, then text falls apart. LoRA bears ten times what full training does",
    "beta": "Above 0: a penalty for leaving the model one began with",
    "max_completion_length": "Tokens a completion may have; those cut off are seldom paid",
    "temperature": "Below 1: completions of a prompt grow alike, and groups without spread grow more",
}
"""The settings one has an opinion on most often, in the order in which they are asked for."""


def where_it_stands(run: RunDir) -> dict[str, Any]:
    """Status, step and stage of a run; `gone` is a run whose process ended unheard.

    Raises:
        UsageError: its files cannot be read.
    """
    stages = run.stages()
    index = max((at for at, one in enumerate(stages) if one.status != PENDING), default=0)
    stage = stages[index]
    live = run.is_live()
    status = "running" if live else stage.status if stage.status in (DONE, STOPPED, FAILED) else "gone"
    if status == DONE and index < len(stages) - 1:
        status = "gone"
    manifest = run.manifest()
    return {
        "name": run.name,
        "status": status,
        "stage": f"{stage.name or index + 1} ({index + 1} of {len(stages)})" if len(stages) > 1 else None,
        "steps": sum(one.step if one.status == DONE else one.max_steps for one in stages),
        "done": max(run.offset(index) + stage.step, _last_step(run) if status != DONE else 0),
        "reason": stage.reason,
        "model": str(manifest.get("train", {}).get("model", "")),
        "sealed": run.seal_path.exists(),
        "resumable": status in (STOPPED, "gone", FAILED) and run.last_checkpoint() is not None,
        "completions": run.completions.is_dir() and any(run.completions.glob("*.parquet")),
        "trained": run.adapter.is_dir() or run.full_model.is_dir(),
    }


def _last_step(run: RunDir) -> int:
    """The step of the last whole line of metrics.jsonl, 0 before the first; a stage's own count comes only later."""
    try:
        with run.metrics_path.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - LAST_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return 0
    for line in reversed(lines):
        try:
            return int(json.loads(line)["step"])
        except (ValueError, KeyError, TypeError):
            continue  # cut at either end
    return 0


def diagnoses_view(diagnoses: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What the monitor told, newest first; of one matter only the last word."""
    latest: dict[tuple[str, str], Mapping[str, Any]] = {}
    for line in diagnoses:
        latest[str(line.get("name")), str(line.get("subject", ""))] = line
    ordered = sorted(latest.values(), key=lambda line: -int(line.get("step", 0)))
    fields = ("step", "name", "subject", "severity", "seen", "means", "advice")
    return [{field: line.get(field, "") for field in fields} for line in ordered[:MAX_DIAGNOSES]]


def settings_view(
    resolved: Mapping[str, Any], manifest: Mapping[str, Any], preset: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Settings as resolved, those one has an opinion on first, each with where it comes from."""
    first = [name for name in HELP if name in resolved]
    rest = sorted(name for name in resolved if name not in HELP)
    return [
        {
            "name": name,
            "value": resolved[name]
            if isinstance(resolved[name], (int, float, bool))
            else str(resolved[name]),
            "from": "rewardset.toml" if name in manifest else "preset" if name in preset else "default",
            "help": HELP.get(name, ""),
        }
        for name in (*first, *rest)
    ]


def settings_of_run(manifest: Mapping[str, Any]) -> list[list[str]]:
    """Every setting that a run was started under, `[name, value]`; those of a stage behind those all stages share."""
    train = dict(manifest.get("train", {}))
    stages = train.pop("stage", None) or []
    found = _flat(train)
    for number, stage in enumerate(stages, 1):
        before = f"{stage.get('name') or number}: " if len(stages) > 1 else ""
        found += [[f"{before}{name}", value] for name, value in _flat(stage) if name != "name"]
    return found


def _flat(table: Mapping[str, Any], before: str = "") -> list[list[str]]:
    """Names joined by points; values as TOML and JSON write them."""
    found: list[list[str]] = []
    for name, value in table.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{before}{name}.")
        else:
            found.append(
                [f"{before}{name}", value if isinstance(value, str) else json.dumps(value, default=str)]
            )
    return found
