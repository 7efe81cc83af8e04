"""Two processes with what looks at whole batches on each of them: dead prompts, and a script with `attach`."""

from __future__ import annotations

import json
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from tests.trainer import attached_script
from tests.trainer.launching import launch
from tests.trainer.one_of_several import fix_completions
from tests.trainer.test_curriculum import answers, make_half_dead
from tests.trainer.test_resume import steady
from trainer.job import Request
from trainer.run import train
from trainer.rundir import RunDir

pytestmark = pytest.mark.slow  # tests/trainer/test_ranks.py has the sample: a run of two processes

COLUMNS = ["step", "completion", "answer", "group", "split", "advantage", "total"]


@dataclass(frozen=True)
class Both:
    """The same training by one process and by two."""

    project: Path
    alone: RunDir
    together: RunDir


def same_record(both: Both, steps: int) -> None:
    """The completions of both, row by row."""
    for step in range(1, steps + 1):
        one, other = (
            pd.read_parquet(run.completions / f"step_{step:05d}.parquet")
            for run in (both.alone, both.together)
        )
        pd.testing.assert_frame_equal(one[COLUMNS], other[COLUMNS], atol=1e-6)


# ------------------------------------------------------------------------------------- skip_dead


@pytest.fixture(scope="module")
def halves(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """Twenty steps over data of which half can teach nothing."""
    folder = tmp_path_factory.mktemp("halves")
    project = make_half_dead(folder / "project", tiny_model, steps=20)
    done = launch(
        folder, "tests.trainer.one_of_several", "train", str(project), "--run", str(folder / "together"),
        "--allow-unsealed", "--set", "per_device_train_batch_size=4", "--set", "save_steps=10",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with pytest.MonkeyPatch.context() as patch:
        fix_completions(patch.setattr)
        sets = ("per_device_train_batch_size=8", "save_steps=10")
        alone = train(Request(str(project), run=folder / "alone", allow_unsealed=True, sets=sets)).run
    return Both(project, alone, RunDir.open(folder / "together"))


def test_two_processes_pass_over_the_prompts_that_one_does(halves: Both) -> None:
    same_record(halves, 20)
    late = answers(halves.together, 12, 20)
    assert sum(answer % 2 for answer in late) > 0.9 * len(late)
    texts = [run.curriculum_path.read_text() for run in (halves.alone, halves.together)]
    assert texts[0] == texts[1] != ""
    for one, other in zip(steady(halves.alone), steady(halves.together), strict=True):
        for key in ("prompts/dead", "prompts/passed_over"):
            assert one[key] == other[key]


def test_two_processes_resume_with_the_same_dead_prompts(halves: Both) -> None:
    run = RunDir(halves.together.path.parent / "again")
    shutil.copytree(halves.together.path, run.path)
    shutil.rmtree(run.adapter)
    shutil.rmtree(run.checkpoints / "checkpoint-20")
    run.update_stage(0, status="running")
    done = launch(
        run.path.parent, "tests.trainer.one_of_several", "train", str(halves.project), "--run", str(run.path),
        "--allow-unsealed", "--resume",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert answers(run, 11, 20) == answers(halves.together, 11, 20)
    assert run.curriculum_path.read_text() == halves.together.curriculum_path.read_text()


# ------------------------------------------------------------------------------------- attach


@pytest.fixture(scope="module")
def scripts(sealed_project: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """The same script run by one process and by two."""
    folder = tmp_path_factory.mktemp("scripts")
    given = (str(sealed_project), str(tiny_model), str(folder / "together"), "4")
    done = launch(folder, "tests.trainer.attached_script", *given)
    assert done.returncode == 0, done.stderr
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a plain script's: transformers and TRL have some of their own
        fix_completions(patch.setattr)
        attached_script.run(sealed_project, tiny_model, folder / "alone", 8)
    return Both(sealed_project, RunDir(folder / "alone"), RunDir(folder / "together"))


def test_a_script_run_by_two_processes_leaves_one_folder_with_whole_groups(scripts: Both) -> None:
    same_record(scripts, attached_script.STEPS)
    lines = [json.loads(line) for line in scripts.together.metrics_path.read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3, 4]
    for one, other in zip(scripts.alone.metrics(), lines, strict=True):
        assert set(one) == set(other)
        assert other["reward"] == pytest.approx(one["reward"], abs=1e-5)
    names = [
        sorted(path.name for path in folder.iterdir())
        for run in (scripts.alone, scripts.together)
        for folder in (run.path, run.completions, run.samples)
    ]
    assert names[:3] == names[3:]
    told = [[line["name"] for line in run.diagnoses()] for run in (scripts.alone, scripts.together)]
    assert told[0] == told[1]


def test_a_killed_script_of_two_processes_goes_on_from_its_last_whole_checkpoint(
    scripts: Both, tiny_model: Path
) -> None:
    out = scripts.together.path.parent / "again"
    shutil.copytree(scripts.together.path, out)
    (out / "checkpoint-4" / "whole.json").unlink()  # a kill came in between
    given = (str(scripts.project), str(tiny_model), str(out), "4", "resume")
    done = launch(out.parent, "tests.trainer.attached_script", *given)
    assert done.returncode == 0, done.stderr
    again = RunDir(out)
    assert [json.loads(line)["step"] for line in again.metrics_path.read_text().splitlines()] == [1, 2, 3, 4]
    same_record(Both(scripts.project, scripts.together, again), attached_script.STEPS)
