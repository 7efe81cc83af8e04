"""Runs of several stages: one model carried on, steps counted through, resumed anywhere; and the end of a stage."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rewards.errors import UsageError
from rewards.manifest import Stage, TrainSettings, Until
from tests.trainer.conftest import make_project
from tests.trainer.test_resume import complete, kill_when, steady
from trainer.data.prompts import TrainingData
from trainer.job import Request, rows_of, stages_of
from trainer.run import train
from trainer.rundir import RunDir
from trainer.stages import Ending, is_met

STAGES = """
samples_every = 3
kl_every = 2
held_out_every = 4
held_out_prompts = 3

[[train.stage]]
name = "format"
rewards = ["tagged", "shortness"]
max_steps = 4
weights = { shortness = 1.0 }
where = { answer = [0, 1, 2, 3, 4] }

[[train.stage]]
name = "answers"
rewards = ["right", "shortness"]
max_steps = 4
weights = { shortness = 0.5 }
learning_rate = 1e-3

[[train.stage]]
name = "brief"
rewards = ["shortness"]
weights = { shortness = 1.0 }
max_steps = 8
until = { metric = "rewards/shortness/mean", above = 0.0, window = 2 }
"""
ADAPTIVE = 'kind = "correctness"\nrange = [0.0, 1.0]\nadaptive = { low = 0.3, high = 0.8, up = 1.2 }'


def make_staged(folder: Path, model: Path) -> Path:
    project = make_project(folder, model)
    manifest = (project / "rewardset.toml").read_text()
    (project / "rewardset.toml").write_text(manifest.replace('kind = "correctness"', ADAPTIVE) + STAGES)
    return project


@pytest.fixture(scope="module")
def staged(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of three stages."""
    return make_staged(tmp_path_factory.mktemp("staged") / "project", tiny_model)


@pytest.fixture(scope="module")
def reference(staged: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """The run nobody killed."""
    folder = tmp_path_factory.mktemp("reference") / "run"
    return train(Request(str(staged), run=folder, allow_unsealed=True)).run


@pytest.mark.guide("G16")
def test_stages_follow_one_another_and_steps_are_counted_through(reference: RunDir) -> None:
    stages = reference.stages()
    assert [(stage.name, stage.step, stage.status) for stage in stages] == [
        ("format", 4, "done"),
        ("answers", 4, "done"),
        ("brief", 2, "done"),
    ]
    assert [(line["step"], line["stage"]) for line in reference.metrics()] == [
        (step, "format" if step < 5 else "answers" if step < 9 else "brief") for step in range(1, 11)
    ]
    assert stages[2].reason == "rewards/shortness/mean reached 0 over 2 steps"


def test_a_stage_has_its_own_rewards_weights_rows_and_settings(reference: RunDir) -> None:
    first = pd.read_parquet(reference.completions / "step_00001.parquet")
    assert set(first["answer"]) <= {0, 1, 2, 3, 4}
    assert "right" not in first
    later = pd.read_parquet(reference.completions / "step_00005.parquet")
    total = later["right"] + 0.5 * later["shortness"]
    assert later["total"].to_numpy() == pytest.approx(total.to_numpy(), abs=1e-6)
    assert [line["learning_rate"] for line in reference.metrics()][3:5] == [2e-3, 1e-3]


@pytest.mark.guide("G16")
def test_a_stage_begins_with_the_weights_of_the_one_before(reference: RunDir) -> None:
    from safetensors.numpy import load_file

    ends = [
        load_file(reference.checkpoints_of(n) / f"checkpoint-{(4, 4, 2)[n]}" / "adapter_model.safetensors")
        for n in range(3)
    ]
    name = next(key for key in ends[0] if "lora_B" in key)
    moved = [abs(ends[0][name]).max(), abs(ends[1][name] - ends[0][name]).max()]
    assert 0 < moved[1] < 3 * moved[0]  # a fresh adapter would have begun at 0
    assert (reference.adapter / "adapter_model.safetensors").read_bytes() == (
        reference.checkpoints_of(2) / "checkpoint-2" / "adapter_model.safetensors"
    ).read_bytes()


def test_the_manifest_of_a_staged_run_trains_it_again(reference: RunDir) -> None:
    train_table = tomllib.loads(reference.manifest_path.read_text())["train"]
    assert "learning_rate" not in train_table
    assert [stage["learning_rate"] for stage in train_table["stage"]] == [2e-3, 1e-3, 2e-3]
    assert train_table["stage"][0]["where"] == {"answer": [0, 1, 2, 3, 4]}
    assert train_table["stage"][2]["until"]["above"] == 0.0


def test_samples_and_evaluations_stand_in_the_run_folder(reference: RunDir) -> None:
    names = sorted(file.name for file in reference.samples.iterdir())
    assert names == [f"step_{step:05d}.jsonl" for step in (1, 3, 5, 6, 9)]
    rows = [json.loads(line) for line in (reference.samples / "step_00005.jsonl").read_text().splitlines()]
    assert {"prompt", "completion", "scores", "total", "advantage", "credits", "group"} <= set(rows[0])
    evaluations = [json.loads(line) for line in reference.evaluations_path.read_text().splitlines()]
    where = [(one["step"], one["stage"]) for one in evaluations]
    assert where == [(4, "format"), (8, "answers"), (10, "brief")]  # `until` ended the last one
    assert set(evaluations[0]["rewards"]) == {"total", "tagged", "shortness"}
    assert "held_out/total" in reference.metrics()[3]


def test_the_distance_from_the_start_is_measured_without_beta(reference: RunDir) -> None:
    measured = {line["step"]: line["policy/kl"] for line in reference.metrics() if "policy/kl" in line}
    assert list(measured) == [2, 4, 6, 8, 10]
    assert 0 < measured[2] < measured[8]


@pytest.mark.guide("G17")
def test_an_adaptive_weight_moves_and_is_logged(reference: RunDir) -> None:
    weights = [line["rewards/right/weight"] for line in reference.metrics()[4:8]]
    assert weights == [1.0, 1.0, 1.2, 1.2]
    frame = pd.read_parquet(reference.completions / "step_00007.parquet")
    assert frame["total"].to_numpy() == pytest.approx(
        (1.2 * frame["right"] + 0.5 * frame["shortness"]).to_numpy(), abs=1e-6
    )


def assert_as_if_nothing_happened(run: RunDir, reference: RunDir) -> None:
    assert [json.loads(line)["step"] for line in run.metrics_path.read_text().splitlines()] == list(
        range(1, 11)
    )
    assert steady(run) == steady(reference)
    assert run.evaluations_path.read_text() == reference.evaluations_path.read_text()
    for folder in ("completions", "samples"):
        files = [sorted(file.name for file in (one.path / folder).iterdir()) for one in (run, reference)]
        assert files[0] == files[1]
    name = "adapter_model.safetensors"
    assert (run.adapter / name).read_bytes() == (reference.adapter / name).read_bytes()


@pytest.mark.parametrize(
    "logged", [6, pytest.param(3, marks=pytest.mark.slow), pytest.param(9, marks=pytest.mark.slow)]
)
def test_a_run_killed_in_any_stage_resumes_exactly(
    staged: Path, reference: RunDir, tmp_path: Path, logged: int
) -> None:
    run = RunDir(tmp_path / "run")
    there = run.metrics_path
    assert kill_when(staged, run.path, lambda: there.exists() and there.read_text().count("\n") >= logged)
    assert_as_if_nothing_happened(complete(staged, run.path), reference)


def test_a_run_killed_between_two_stages_goes_on_with_the_next(
    staged: Path, reference: RunDir, tmp_path: Path
) -> None:
    run = RunDir(tmp_path / "run")
    shutil.copytree(reference.path, run.path)
    run.update_stage(1, status="running")
    run.update_stage(2, status="pending", step=0, reason=None)
    shutil.rmtree(run.checkpoints_of(2))
    shutil.rmtree(run.adapter)
    assert_as_if_nothing_happened(complete(staged, run.path), reference)


def test_a_stage_that_had_reached_its_end_is_not_gone_on_with(
    staged: Path, reference: RunDir, tmp_path: Path
) -> None:
    run = RunDir(tmp_path / "run")
    shutil.copytree(reference.path, run.path)
    run.update_stage(2, status="running", reason=None)
    assert_as_if_nothing_happened(complete(staged, run.path), reference)


def test_until_waits_for_its_window_and_for_a_place_to_stop() -> None:
    until = Until(metric="m", above=0.5, window=3)
    lines: list[dict[str, Any]] = [{"step": step, "m": 1.0} for step in (1, 2)]
    assert not is_met(until, lines)
    assert is_met(until, [*lines, {"step": 3, "m": 0.0}])
    assert not is_met(until, [*lines, {"step": 3, "m": 0.0}, {"step": 4, "m": 0.0}])
    assert is_met(Until(metric="m", below=0.5, window=10), [{"step": step, "m": 0.4} for step in (10, 20)])
    ending = Ending(until, [], window=2, offset=4)
    for step in (5, 6, 7):
        ending.logged(step, {"step": step, "m": 1.0})
    assert ending.reason_to_stop() is None
    ending.logged(8, {"step": 8, "m": 1.0})
    assert ending.reason_to_stop() == "m reached 0.5 over 3 steps"


def test_stages_are_named_and_names_are_unique() -> None:
    assert [one.name for one in stages_of(TrainSettings())] == ["main"]
    several = TrainSettings(stage=(Stage(), Stage(name="x")))
    assert [one.name for one in stages_of(several)] == ["stage-1", "x"]
    with pytest.raises(UsageError, match=r"two \[\[train.stage\]\] are named 'x'"):
        stages_of(TrainSettings(stage=(Stage(name="x"), Stage(name="x"))))
    with pytest.raises(UsageError, match="stage 'x' weighs reward 'b', which it does not use"):
        stages_of(TrainSettings(stage=(Stage(name="x", rewards=("a",), weights={"b": 1.0}),)))


def test_a_filter_names_a_column_and_leaves_rows() -> None:
    data = TrainingData([{"prompt": "p", "level": "easy"}, {"prompt": "q", "level": "hard"}], [], "f")
    assert rows_of(Stage(name="a", where={"level": "hard"}), data).train[0]["prompt"] == "q"
    with pytest.raises(UsageError, match="stage 'a': the data has no column 'leve'"):
        rows_of(Stage(name="a", where={"leve": "hard"}), data)
    with pytest.raises(UsageError, match="none of the 2 training rows has"):
        rows_of(Stage(name="a", where={"level": "none"}), data)


def test_an_until_that_waits_for_a_metric_nobody_logs_is_told_once() -> None:
    said: list[str] = []
    for metric in ("rewrd", "reward"):
        ending = Ending(Until(metric=metric, above=0.5), [], window=1, offset=0, say=said.append)
        for step in range(1, 7):
            ending.logged(step, {"step": step, "reward": 0.1})
    assert said == [
        "note: until waits for 'rewrd', which none of the first 3 logged lines has; did you mean 'reward'?"
    ]
