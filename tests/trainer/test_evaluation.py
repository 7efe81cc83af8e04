"""Evaluations on held-out prompts are paired with the untrained model, or say what else they are paired with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trainer.conftest import make_project
from trainer.job import Request
from trainer.run import train
from trainer.rundir import RunDir, Stage
from trainer.watching.evaluation import base_file, steps_before

STAGES = """
[[train.stage]]
name = "first"
rewards = ["tagged", "shortness"]
weights = { shortness = 1.0 }
max_steps = 2

[[train.stage]]
name = "second"
rewards = ["shortness"]
weights = { shortness = 1.0 }
max_steps = 2
held_out_every = 2
held_out_prompts = 3

[[train.stage]]
name = "third"
rewards = ["shortness"]
weights = { shortness = 1.0 }
max_steps = 2
held_out_every = 2
held_out_prompts = 2
max_completion_length = 9
"""


def run_of(folder: Path, model: Path, *sets: str) -> RunDir:
    """A run of three stages, of which the second evaluates first and the third otherwise."""
    project = make_project(folder, model)
    manifest = project / "rewardset.toml"
    text = manifest.read_text().replace("learning_rate = 2e-3", "learning_rate = 0.02")
    manifest.write_text(text + STAGES)
    return train(Request(str(project), run=folder / "run", sets=sets, allow_unsealed=True)).run


def said(run: RunDir, length: int, prompts: int) -> list[dict[str, Any]]:
    (path,) = run.path.glob(f"held-out-base-{prompts}x{length}-*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def untrained(run: RunDir, model: Path, length: int, prompts: int) -> list[list[int]]:
    """What the model answers before any training."""
    from trainer.models.generation import Sampling, complete
    from trainer.models.loading import load_model, load_tokenizer

    rows = [row["prompt"] for row in run.holdout()][:prompts]
    sampling = Sampling(temperature=1.0, top_p=1.0, max_new_tokens=length, seed=0)
    answers = complete(load_model(model, dtype="float32"), load_tokenizer(model), rows, sampling=sampling)
    return [one.ids for (one,) in answers]


@pytest.fixture(scope="module")
def adapted(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    return run_of(tmp_path_factory.mktemp("evaluation") / "project", tiny_model)


def test_a_later_stage_that_asks_first_is_paired_with_the_untrained_model(
    adapted: RunDir, tiny_model: Path
) -> None:
    assert [one["ids"] for one in said(adapted, 6, 3)] == untrained(adapted, tiny_model, 6, 3)
    lines = [json.loads(line) for line in adapted.evaluations_path.read_text().splitlines()]
    assert [(line["step"], line["stage"], line["prompts"]) for line in lines] == [
        (4, "second", 3),
        (6, "third", 2),
    ]
    assert not any("base_step" in line for line in lines)


def test_a_longer_stage_of_other_prompts_is_paired_with_answers_as_long(
    adapted: RunDir, tiny_model: Path
) -> None:
    assert [one["ids"] for one in said(adapted, 9, 2)] == untrained(adapted, tiny_model, 9, 2)
    assert {one["step"] for one in said(adapted, 9, 2)} == {0}


def test_full_fine_tuning_says_which_model_it_is_paired_with(tiny_model: Path, tmp_path: Path) -> None:
    run = run_of(tmp_path / "project", tiny_model, "lora=false")
    lines = [json.loads(line) for line in run.evaluations_path.read_text().splitlines()]
    assert [line["base_step"] for line in lines] == [2, 4]
    assert "paired with the model as it was after step 2" in (run.path / "report.html").read_text()


def test_answers_are_kept_by_prompts_length_and_random_numbers() -> None:
    from trainer.models.generation import Sampling

    assert base_file(3, Sampling(max_new_tokens=6, seed=7)) == "held-out-base-3x6-7.jsonl"


def test_the_steps_before_a_stage_are_those_of_all_before_it(tmp_path: Path) -> None:
    run = RunDir(tmp_path)
    run.write_stages([Stage("a", (), 9, 4, "done"), Stage("b", (), 9, 3, "done"), Stage("c", (), 9)])
    assert [steps_before(tmp_path, name) for name in (None, "a", "b", "c")] == [0, 0, 4, 7]


def test_a_run_without_held_out_rows_is_told_that_it_evaluates_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = ("max_steps=2", "held_out_every=1", "data.holdout=0")
    run = train(Request(str(project), sets=sets, allow_unsealed=True)).run
    assert "note: held_out_every=1 evaluates nothing: no rows are held out" in capsys.readouterr().err
    assert "None could be made: held_out_every = 1" in (run.path / "report.html").read_text()


def test_every_step_is_one_to_evaluate_after_where_completions_serve_two(project: Path) -> None:
    sets = ("max_steps=4", "held_out_every=2", "steps_per_generation=2")
    run = train(Request(str(project), sets=sets, allow_unsealed=True)).run
    lines = [json.loads(line) for line in run.evaluations_path.read_text().splitlines()]
    assert [line["step"] for line in lines] == [2, 4]


def test_a_stage_that_until_ends_is_evaluated_at_its_end(tiny_model: Path, tmp_path: Path) -> None:
    stage = """
[[train.stage]]
name = "only"
rewards = ["shortness"]
weights = { shortness = 1.0 }
max_steps = 8
held_out_every = 4
held_out_prompts = 2
until = { metric = "rewards/shortness/mean", above = -1e9, window = 2 }
"""
    project = make_project(tmp_path / "project", tiny_model)
    (project / "rewardset.toml").write_text((project / "rewardset.toml").read_text() + stage)
    run = train(Request(str(project), run=tmp_path / "run", allow_unsealed=True)).run
    [line] = [json.loads(line) for line in run.evaluations_path.read_text().splitlines()]
    assert (line["step"], run.stages()[0].step) == (2, 2)
    assert "held_out/shortness" not in run.metrics()[-1]
