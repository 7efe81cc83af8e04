"""dry-run: completions in groups, scored, no update."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from rewards.errors import UsageError
from trainer.dry_run import _write_parquet, describe, dry_run
from trainer.job import Request


@pytest.mark.guide("G25")
def test_k_prompts_are_generated_and_scored_into_a_samples_file(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "dry.jsonl"
    [result] = dry_run(Request(str(project)), prompts=3, out=out)
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
    (tmp_path / "a file").write_text("")
    with pytest.raises(UsageError, match=r"x\.jsonl cannot be written: "):
        dry_run(Request(str(project)), prompts=1, out=tmp_path / "a file" / "x.jsonl")


def test_a_place_that_cannot_be_written_is_told_before_anything_is_generated(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainer.dry_run.prepare_jobs", lambda _: pytest.fail("work was begun"))
    with pytest.raises(UsageError, match="it is a folder; give --out the name of a file"):
        dry_run(Request(str(project)), prompts=1, out=tmp_path)

    def refused(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refused)
    with pytest.raises(
        UsageError, match=r"x\.jsonl cannot be written: Permission denied; give another --out"
    ):
        dry_run(Request(str(project)), prompts=1, out=tmp_path / "x.jsonl")


STAGES = """
[[train.stage]]
name = "layout"
rewards = ["tagged"]
max_steps = 2

[[train.stage]]
name = "answers"
rewards = ["tagged", "right"]
weights = { tagged = 0.5 }
where = { answer = [0, 1, 2, 3] }
max_steps = 2
"""


def test_every_stage_has_its_own_rewards_weights_and_rows(project: Path, tmp_path: Path) -> None:
    (project / "rewardset.toml").write_text((project / "rewardset.toml").read_text() + STAGES)
    out = tmp_path / "dry.jsonl"
    layout, answers = dry_run(Request(str(project)), prompts=2, out=out)
    assert (layout.scored.names, layout.weights) == (("tagged",), [1.0])
    assert (answers.scored.names, answers.weights) == (("tagged", "right"), [0.5, 1.0])
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["stage"] for line in lines] == ["layout"] * 8 + ["answers"] * 8
    assert all(line["answer"] <= 3 for line in lines[8:])
    assert len({line["group"] for line in lines}) == 4
    assert describe(answers).startswith("stage 'answers'\ncompletion 1: ")


def test_stages_go_into_one_parquet_file(tmp_path: Path) -> None:
    lines = [{"id": name, "scores": {name: 1.0}, "errors": {}, "stage": name} for name in ("a", "b")]
    _write_parquet(tmp_path / "x.parquet", lines)
    frame = pd.read_parquet(tmp_path / "x.parquet")
    assert [json.loads(scores) for scores in frame["scores"]] == [{"a": 1.0}, {"b": 1.0}]
