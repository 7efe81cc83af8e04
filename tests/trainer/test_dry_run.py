"""dry-run: completions in groups, scored, no update."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from rewards.errors import UsageError
from trainer.dry_run import describe, dry_run
from trainer.job import Request


@pytest.mark.guide("G25")
def test_k_prompts_are_generated_and_scored_into_a_samples_file(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "dry.jsonl"
    result = dry_run(Request(str(project)), prompts=3, out=out)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(lines) == 12
    assert len({line["group"] for line in lines}) == 3
    assert set(lines[0]["scores"]) == {"tagged", "right", "shortness"}
    assert lines[0]["prompt"][0] == {"role": "system", "content": "Maths"}
    assert "answer" in lines[0]
    assert not (project / "runs").exists()
    shown = describe(result)
    assert shown.startswith("completion 1: ")
    assert "groups: 3, of which" in shown


def test_the_same_seed_gives_the_same_completions(project: Path, tmp_path: Path) -> None:
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for file in files:
        dry_run(Request(str(project)), prompts=1, out=file)
    assert files[0].read_text() == files[1].read_text()


def test_parquet_by_the_files_ending(project: Path, tmp_path: Path) -> None:
    dry_run(Request(str(project)), prompts=1, out=tmp_path / "dry.parquet")
    assert len(pd.read_parquet(tmp_path / "dry.parquet")) == 4


def test_wrong_use_is_told_before_anything_is_loaded(project: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--prompts 0 must be at least 1"):
        dry_run(Request(str(project)), prompts=0, out=tmp_path / "x.jsonl")
    with pytest.raises(UsageError, match="there is no folder"):
        dry_run(Request(str(project)), prompts=1, out=tmp_path / "no" / "x.jsonl")
