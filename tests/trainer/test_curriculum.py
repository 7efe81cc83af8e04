"""Dead prompts are passed over, written down, and tried again."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rewards.errors import UsageError
from rewards.groups import advantages
from rewards.manifest import TrainSettings
from tests.trainer.batches import scored
from tests.trainer.conftest import make_project
from tests.trainer.test_resume import steady
from trainer.data.prompts import order
from trainer.job import Request
from trainer.run import train
from trainer.rundir import RunDir
from trainer.settings import resolve
from trainer.watching.curriculum import Curriculum, walk

ROWS = [{"prompt": f"p{number}"} for number in range(4)]
DEAD, ALIVE = [[0.0]] * 2, [[0.0], [1.0]]


def curriculum(path: Path | None = None, *, rows: int = 4, retry: int = 6) -> Curriculum:
    return Curriculum(
        ROWS[:rows], per_batch=2, group=2, seed=0, shuffle=False, skip_dead=1, retry_dead=retry, path=path
    )


def visit(one: Curriculum, step: int, dead: set[int]) -> list[int]:
    """A step: its rows are fetched, the next ones too, then they are scored."""
    rows = [one.row(2 * step - 2), one.row(2 * step - 1)]
    one.row(2 * step + 1)
    one.scored(
        scored([score for row in rows for score in (DEAD if row in dead else ALIVE)], step=step, group=2), []
    )
    return rows


def test_without_dead_prompts_the_order_is_the_runs_own() -> None:
    one = Curriculum(ROWS, per_batch=2, group=2, seed=7, shuffle=True, skip_dead=1, retry_dead=9)
    assert [one.row(place) for place in range(12)] == order(4, 12, seed=7, shuffle=True)
    assert [row for row, _ in zip(walk(3, seed=0, shuffle=False), range(4), strict=False)] == [0, 1, 2, 0]


def test_the_dead_half_is_passed_over_and_tried_again_after_a_while(tmp_path: Path) -> None:
    one = curriculum(tmp_path / "curriculum.jsonl")
    seen = [visit(one, step, dead={1, 3}) for step in range(1, 12)]
    assert seen[:2] == [[0, 1], [2, 3]]
    assert all(set(rows) == {0, 2} for rows in seen[3:7])
    lines = [json.loads(line) for line in (tmp_path / "curriculum.jsonl").read_text().splitlines()]
    again = [(line["row"], line["step"]) for line in lines if line["what"] == "tried again"]
    assert again[0] == (1, 7)
    assert {line["row"] for line in lines if line["what"] == "passed over"} == {1, 3}
    assert one.dead == [1, 3]
    assert one.metrics()["prompts/dead"] == 2.0


def test_a_prompt_that_comes_alive_stays() -> None:
    one = curriculum(retry=3)
    seen = [visit(one, step, dead={1, 3} if step < 5 else set()) for step in range(1, 16)]
    assert one.dead == []
    assert {row for rows in seen[-4:] for row in rows} == {0, 1, 2, 3}


def test_a_visit_at_which_a_reward_failed_does_not_make_a_prompt_dead() -> None:
    one = curriculum()
    rows = [one.row(0), one.row(1)]
    why = {row: {"a": "the judge did not answer"} for row in (0, 1)}
    one.scored(scored([[None], [None], [None], [None]], step=1, group=2, errors=why), [])
    assert one.dead == [rows[1]]  # no opinion of any reward is nothing to learn from


def test_a_flat_group_is_dead_though_the_batch_has_a_mean_that_is_not_quite_0() -> None:
    """Under "normalize_then_sum" a flat group's advantages are what rounding left of the batch's mean."""
    one = Curriculum(ROWS, per_batch=4, group=3, seed=0, shuffle=False, skip_dead=1, retry_dead=6)
    batch = scored([[0.3], [0.7], [0.4], *[[0.2]] * 3, [0.1], [0.2], [0.6], *[[0.9]] * 3], group=3)
    noisy = advantages(batch.scores, batch.weights, batch.groups, aggregation="normalize_then_sum")
    assert 0 < abs(noisy[3]) < 1e-6
    one.scored(replace(batch, advantages=noisy), [])
    assert one.dead == [1, 3]


def test_a_completion_without_a_score_does_not_bring_a_flat_group_to_life() -> None:
    one = curriculum()
    batch = scored([[0.5], [None], [0.0], [1.0]], group=2)
    one.scored(replace(batch, advantages=np.array([0.25, 0.0, -1.0, 1.0])), [])
    assert one.dead == [0]


def test_where_all_are_dead_the_order_is_kept() -> None:
    one = curriculum(rows=2, retry=1000)
    assert [visit(one, step, dead={0, 1}) for step in (1, 2, 3)] == [[0, 1]] * 3


def test_a_restored_one_chooses_what_the_first_would_have() -> None:
    first, second = curriculum(), curriculum()
    for step in range(1, 6):
        visit(first, step, dead={1})
    second.restore(json.loads(json.dumps(first.state())))
    after = [[visit(one, step, dead={1, 2}) for step in range(6, 14)] for one in (first, second)]
    assert after[0] == after[1]


def test_loaders_of_their_own_are_refused() -> None:
    with pytest.raises(UsageError, match="leave dataloader_num_workers at 0"):
        resolve(TrainSettings(model="toy"), device="cpu", sets={"skip_dead": 2, "dataloader_num_workers": 1})


HALF_DEAD = """

def shortness(completions, answer, **kwargs):
    return [len(c[0]["content"]) / 9 if a % 2 else 0.5 for c, a in zip(completions, answer, strict=True)]
"""


def make_half_dead(folder: Path, model: Path, *, steps: int) -> Path:
    """A project over data of which half can teach nothing."""
    project = make_project(folder, model)
    with (project / "rewards.py").open("a") as stream:
        stream.write(HALF_DEAD)
    manifest = (project / "rewardset.toml").read_text().replace("weight = 0.0", "weight = 1.0")
    manifest = manifest.replace("holdout = 0.2", "holdout = 0.0").replace(
        "max_steps = 6", f"max_steps = {steps}"
    )
    stage = 'skip_dead = 1\nretry_dead = 1000\n[[train.stage]]\nrewards = ["shortness"]\n'
    (project / "rewardset.toml").write_text(manifest.replace("save_steps = 2", "save_steps = 12") + stage)
    return project


@pytest.fixture(scope="module")
def run(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """Twenty-four steps over such data."""
    project = make_half_dead(tmp_path_factory.mktemp("half") / "project", tiny_model, steps=24)
    return train(Request(str(project), run=project.parent / "run", allow_unsealed=True)).run


def answers(run: RunDir, first: int, last: int) -> list[int]:
    files = [run.completions / f"step_{step:05d}.parquet" for step in range(first, last + 1)]
    return [int(answer) for file in files for answer in pd.read_parquet(file)["answer"]]


def test_a_run_over_half_dead_data_trains_on_the_other_half(run: RunDir) -> None:
    share = [
        sum(a % 2 for a in answers(run, *span)) / len(answers(run, *span)) for span in ((1, 10), (14, 24))
    ]
    assert share[0] == pytest.approx(0.5)
    assert share[1] > 0.9
    lines = [json.loads(line) for line in run.curriculum_path.read_text().splitlines()]
    assert {line["what"] for line in lines} == {"passed over"}
    assert all(line["asks"].startswith("What is") for line in lines)
    assert sum(line.get("prompts/passed_over", 0.0) for line in run.metrics()) >= len(lines) - 2


def test_a_resumed_run_passes_over_the_same(run: RunDir, tmp_path: Path) -> None:
    again = RunDir(run.path.parent / "again")
    shutil.copytree(run.path, again.path)
    shutil.rmtree(again.adapter)
    shutil.rmtree(again.checkpoints / "checkpoint-24")
    again.update_stage(0, status="running")
    train(Request(str(run.path.parent / "project"), run=again.path, resume=True, allow_unsealed=True))
    assert steady(again) == steady(run)
    assert answers(again, 13, 24) == answers(run, 13, 24)
    assert again.curriculum_path.read_text() == run.curriculum_path.read_text()
