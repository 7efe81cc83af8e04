"""Several processes that train one run: the same record and the same weights as one process alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rewards.contract import Batch, CallResult
from rewards.errors import RewardWorkbenchError, UsageError
from rewards.groups import advantages
from tests.trainer import launching
from tests.trainer.conftest import make_project
from tests.trainer.one_of_several import fix_completions
from tests.trainer.test_resume import steady
from trainer.__main__ import main
from trainer.job import Request
from trainer.ranks import ALONE, Ranks, Together, rank_name, sharded, speaks
from trainer.rewarding.gathering import join_batches, join_results
from trainer.run import resume_line, train
from trainer.rundir import RunDir

STAGES = """
samples_every = 3
held_out_every = 4
held_out_prompts = 2

[[train.stage]]
name = "first"
rewards = ["right", "shortness"]
max_steps = 4

[[train.stage]]
name = "brief"
rewards = ["shortness"]
weights = { shortness = 1.0 }
max_steps = 8
until = { metric = "rewards/shortness/mean", above = 0.0, window = 2 }
"""
ADAPTIVE = 'kind = "correctness"\nrange = [0.0, 1.0]\nadaptive = { low = 0.9, high = 0.95, up = 1.5 }'
BROKEN = """

def right(completions, answer, **kwargs):
    if any("7" in c[0]["content"] for c in completions):
        raise ValueError("a seven")
    return [1.0 if str(a) in c[0]["content"] else 0.0 for c, a in zip(completions, answer, strict=True)]
"""


def make_staged(folder: Path, model: Path) -> Path:
    """Two stages, one with an adaptive weight and one that ends early, and a reward that fails on some rows."""
    project = make_project(folder, model)
    manifest = (project / "rewardset.toml").read_text().replace('kind = "correctness"', ADAPTIVE)
    (project / "rewardset.toml").write_text(
        manifest.replace("[train]", "[train]\nfailure_share = 1.0") + STAGES
    )
    with (project / "rewards.py").open("a") as stream:
        stream.write(BROKEN)
    return project


def launch(project: Path, run: Path, notes: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """The run by two processes of one thread each: half a group lies on each."""
    asked = ("train", str(project), "--run", str(run), "--allow-unsealed", *more)
    return launching.launch(notes, "tests.trainer.one_of_several", *asked)


@dataclass(frozen=True)
class Both:
    """The same training by one process and by two."""

    project: Path
    alone: RunDir
    together: RunDir
    notes: list[dict[str, list[float]]]
    said: str
    out: str


@pytest.fixture(scope="module")
def both(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("ranks")
    project = make_staged(folder / "project", tiny_model)
    notes = folder / "notes"
    notes.mkdir()
    done = launch(project, folder / "together", notes, "--set", "per_device_train_batch_size=2")
    assert done.returncode == 0, done.stderr
    with pytest.MonkeyPatch.context() as patch:
        fix_completions(patch.setattr)
        sets = ("per_device_train_batch_size=4",)
        alone = train(Request(str(project), run=folder / "alone", allow_unsealed=True, sets=sets)).run
    seen = [json.loads((notes / f"{rank}.json").read_text()) for rank in (0, 1)]
    return Both(project, alone, RunDir.open(folder / "together"), seen, done.stderr, done.stdout)


def frames(run: RunDir) -> list[pd.DataFrame]:
    return [pd.read_parquet(file) for file in sorted(run.completions.glob("step_*.parquet"))]


def test_two_processes_record_what_one_does(both: Both) -> None:
    alone, together = frames(both.alone), frames(both.together)
    assert len(alone) == len(together) == 6
    columns = ["step", "completion", "right", "shortness", "advantage", "total", "group", "split", "answer"]
    for step, (one, other) in enumerate(zip(alone, together, strict=True)):
        shared = [name for name in columns if name in one]
        assert len(other) == 4
        pd.testing.assert_frame_equal(one[shared], other[shared])
        assert other["errors"].map(str).equals(one["errors"].map(str)), step


def test_groups_that_lie_on_two_processes_have_one_mean(both: Both) -> None:
    for frame in frames(both.together):
        assert frame["group"].nunique() == 1
        scores = frame[["total"]].to_numpy()
        told = advantages(scores, [1.0], frame["group"].tolist())
        assert frame["advantage"].to_numpy() == pytest.approx(told, abs=1e-5)


def test_trl_trains_every_process_with_the_advantages_of_the_record(both: Both) -> None:
    for step, frame in enumerate(frames(both.together), 1):
        trained = [value for rank in both.notes for value in rank[str(step)]]
        # a process shuffles its own rows before it learns from them
        assert sorted(trained) == pytest.approx(sorted(frame["advantage"]), abs=1e-4)


def test_there_is_one_run_folder_with_one_line_a_step(both: Both) -> None:
    lines = [json.loads(line)["step"] for line in both.together.metrics_path.read_text().splitlines()]
    assert lines == [1, 2, 3, 4, 5, 6]
    names = [sorted(path.name for path in run.path.iterdir()) for run in (both.alone, both.together)]
    assert names[0] == names[1]
    assert both.together.samples.is_dir()
    [line] = [line for line in both.out.splitlines() if line.startswith("{")]
    assert json.loads(line)["status"] == "done"
    assert len(re.findall(r"finished: 6 steps", both.said)) == 1


def test_all_processes_weigh_alike_and_end_a_stage_at_the_same_step(both: Both) -> None:
    weights = [
        [line.get("rewards/right/weight") for line in steady(run)] for run in (both.alone, both.together)
    ]
    assert weights[0] == weights[1] == [1.0, 1.0, 1.5, 1.5, None, None]
    for run in (both.alone, both.together):
        assert [(stage.step, stage.status) for stage in run.stages()] == [(4, "done"), (2, "done")]
        assert run.stages()[1].reason == "rewards/shortness/mean reached 0 over 2 steps"


def test_the_metrics_are_those_of_the_whole_batch(both: Both) -> None:
    passed_over = ("num_tokens", "policy/kl", "grad_norm", "loss", "entropy", "held_out")
    for one, other in zip(steady(both.alone), steady(both.together), strict=True):
        assert set(one) == set(other)
        for key, value in one.items():
            if isinstance(value, float) and not key.startswith(passed_over):
                assert other[key] == pytest.approx(value, abs=1e-5), key


def test_two_processes_learn_what_one_does(both: Both) -> None:
    from safetensors.numpy import load_file

    one, other = (load_file(run.adapter / "adapter_model.safetensors") for run in (both.alone, both.together))
    moved = max(float(np.abs(value).max()) for name, value in one.items() if "lora_B" in name)
    assert moved > 1e-3
    for name, value in one.items():
        assert np.abs(other[name] - value).max() < 0.02 * moved, name


def test_a_run_of_two_processes_is_resumed_by_two(both: Both) -> None:
    run = both.together
    assert json.loads((run.path / "run.json").read_text())["processes"] == 2
    assert "--num_processes 2 -m trainer train " in resume_line(run)
    before = run.stages()[1]
    run.update_stage(1, status="running")
    try:
        with pytest.raises(UsageError, match=r"started with 2 processes, .* resume it with as many, not 1"):
            train(Request(str(both.project), run=run.path, resume=True, allow_unsealed=True))
    finally:
        run.update_stage(1, status=before.status)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ddp", "MULTI_GPU"),
        ("fsdp", "FSDP"),
        ("zero2", "DEEPSPEED"),
        ("zero3", "DEEPSPEED"),
        ("nodes", "MULTI_GPU"),
        ("cpu", "MULTI_GPU"),
    ],
)
def test_a_ready_configuration_is_one_that_accelerate_takes(
    name: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from accelerate.commands.config.config_args import load_config_from_file

    assert main(["launch-config", name]) == 0
    file = Path(capsys.readouterr().out.strip())
    config = load_config_from_file(str(file))  # refuses keys it does not know
    assert config.distributed_type.value == kind
    assert (config.num_machines > 1) == (name == "nodes")


def test_an_unknown_configuration_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launch-config", "zero"]) == 2
    assert "there is no configuration 'zero'" in capsys.readouterr().err


@pytest.mark.slow
def test_a_killed_run_of_two_processes_goes_on_as_if_nothing_had_happened(both: Both, tmp_path: Path) -> None:
    run = RunDir(both.together.path.parent / "killed")  # beside the project, whose data it names
    shutil.copytree(both.together.path, run.path)
    run.update_stage(0, status="running", step=4)
    run.update_stage(1, status="pending", step=0)
    shutil.rmtree(run.checkpoints_of(1))
    shutil.rmtree(run.checkpoints_of(0) / "checkpoint-4")
    shutil.rmtree(run.adapter)
    done = launch(both.project, run.path, tmp_path, "--resume")
    assert done.returncode == 0, done.stderr
    assert steady(run) == steady(both.together)
    name = "adapter_model.safetensors"
    assert (run.adapter / name).read_bytes() == (both.together.adapter / name).read_bytes()


def test_the_parts_of_a_batch_are_put_together_in_order() -> None:
    parts = [Batch(["p"], ["a"], [[1]], {"x": [1]}, ["1-0"]), Batch(["q"], ["b"], [[2]], {"y": [2]}, ["1-0"])]
    whole = join_batches(parts)
    assert whole.columns == {"x": [1, None], "y": [None, 2]}
    results = [
        CallResult(np.array([1.0]), np.array([0]), {}, {"note": ["n"]}, {"m": [1.0]}, 0.1),
        CallResult(np.array([np.nan]), np.array([6]), {0: "raised"}, {}, {}, 0.3, credits=[[{"name": "c"}]]),
    ]
    joined = join_results(results, [1, 1])
    assert (joined.errors, joined.seconds) == ({1: "raised"}, 0.3)
    assert (joined.extra, joined.credits) == ({"note": ["n", None]}, [[], [{"name": "c"}]])


class Told(Together):
    """Rank 1 of two, hearing what rank 0 said."""

    def __init__(self, said: Any) -> None:
        self.rank, self.count, self._said = 1, 2, said

    def share(self, value: Any) -> Any:
        return self._said


def test_what_rank_0_refuses_ends_the_others_with_the_same_code() -> None:
    assert Told(("made", "", 0)).from_main(lambda: pytest.fail("called")) == "made"
    with pytest.raises(RewardWorkbenchError, match="no room") as caught:
        Told((None, "no room", 1)).from_main(lambda: None)
    assert caught.value.exit_code == 1


TWO = """
import os, sys
import torch.distributed as dist
from trainer.ranks import AnotherEnded, MainFailed, Together

dist.init_process_group("gloo")
ranks = Together()

def fail():
    raise KeyError("the disk")

try:
    ranks.from_main(fail)
except (KeyError, MainFailed) as error:
    print(f"{type(error).__name__}: {error}", flush=True)
print(ranks.from_main(lambda: "goes on"), flush=True)
if ranks.is_main:
    os._exit(7)  # as if it was killed
try:
    ranks.wait()
except AnotherEnded as error:
    print(error)
"""


def test_an_error_nobody_expected_and_a_process_that_is_gone_end_the_others_with_a_sentence(
    tmp_path: Path,
) -> None:
    (tmp_path / "two.py").write_text(TWO)
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(launching.free_port())}
    started = [
        subprocess.Popen(
            [sys.executable, str(tmp_path / "two.py")],
            env={**os.environ, **shared, "RANK": str(rank), "PYTHONPATH": str(launching.ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    first, second = (one.communicate(timeout=240)[0].splitlines() for one in started)
    assert [one.returncode for one in started] == [7, 0]
    assert first == ["KeyError: 'the disk'", "goes on"]
    assert second == [
        "MainFailed: process 0 has ended with an error that it shows: KeyError: 'the disk'",
        "goes on",
        "another process of this run has ended; it said why, or was killed from outside",
    ]


def test_a_process_alone_decides_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (Ranks().gather(3), ALONE.share(4), ALONE.from_main(lambda: 5), ALONE.is_main) == ([3], 4, 5, True)
    assert not sharded()
    monkeypatch.setenv("ACCELERATE_DEEPSPEED_ZERO_STAGE", "3")
    assert sharded()


@pytest.mark.parametrize(
    ("rank", "size", "name"), [("1", "2", "process 1: "), ("0", "2", ""), ("1", "", ""), ("1", "1", "")]
)
def test_a_process_that_is_alone_speaks_whatever_rank_its_surroundings_give_it(
    rank: str, size: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setenv("WORLD_SIZE", size)
    assert (rank_name(), speaks()) == (name, not name)
