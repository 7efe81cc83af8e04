"""Prompts a run was not trained on: its own held-out ones, or those of a file, the trained ones taken out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.errors import UsageError
from rewards.manifest import DataSettings, read_manifest
from trainer.data.prompts import load_data
from trainer.rundir import RunDir

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Prompts:
    """Held-out rows to compare on, each prompt once, `prompt` among the columns.

    `trained` counts the different prompts the run trained on; `overlapping` the rows left out because their
    prompt is one of them; `spared` the rows beyond the limit.
    """

    rows: list[Row]
    source: str
    trained: int
    overlapping: int
    spared: int = 0


def prompts_for(run: RunDir, file: Path | None, *, limit: int, data: DataSettings | None = None) -> Prompts:
    """The run's held-out prompts, or those of a file read under `data` (default: the run's `[data]`); at most `limit`.

    Raises:
        UsageError: no such file, or no prompt is left.
    """
    if file is None:
        return held_out(run, run.holdout(), "the run's held-out prompts", limit=limit)
    stated = data or read_manifest(run.manifest_path).data
    settings = stated.model_copy(update={"train": str(file.expanduser().resolve()), "holdout": 0.0})
    return held_out(run, load_data(settings, run.path, seed=0).train, str(file), limit=limit)


def held_out(run: RunDir, rows: Sequence[Row], source: str, *, limit: int) -> Prompts:
    """`rows` without those whose prompt the run trained on, each prompt once, at most `limit`.

    Raises:
        UsageError: none is left.
    """
    trained = trained_prompts(run)
    kept: dict[str, Row] = {}
    overlapping = 0
    for row in rows:
        key = prompt_key(row["prompt"])
        if key in trained:
            overlapping += 1
        else:
            kept.setdefault(key, row)
    if not kept:
        why = f"all {overlapping} of them were trained on" if overlapping else "there are none"
        raise UsageError(
            f"no held-out prompts in {source}: {why}; give others with --prompts, or set [data] holdout"
        )
    rows = list(kept.values())
    return Prompts(rows[:limit], source, len(trained), overlapping, max(0, len(rows) - limit))


def trained_prompts(run: RunDir) -> set[str]:
    """The prompts the run's record of training completions holds, as `prompt_key` gives them."""
    from pyarrow import parquet

    keys: set[str] = set()
    for file in sorted(run.completions.glob("step_*.parquet")):
        for prompt in parquet.read_table(file, columns=["prompt"]).column("prompt").to_pylist():
            keys.add(prompt_key(prompt))
    return keys


def prompt_key(prompt: Any) -> str:
    """A prompt as text that is equal for equal prompts.

    Roles and contents; other message fields do not count.
    """
    if isinstance(prompt, str):
        return prompt.strip()
    return json.dumps(
        [[message.get("role"), message.get("content")] for message in prompt], ensure_ascii=False
    )


def last_words(prompt: Any) -> str:
    """What the prompt asks: the text itself, or the last message's content."""
    return prompt if isinstance(prompt, str) else str(prompt[-1].get("content", ""))
