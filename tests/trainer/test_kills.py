"""kill -9 at random moments of a run of two stages and of its merge: nothing is lost, nothing is there twice.

The whole proof (20 kills) is slow; `test_resume.py` and this file have single kills that run always.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.trainer.conftest import make_project
from tests.trainer.test_resume import complete, kill_when, raw_steps, steady
from trainer.job import Request
from trainer.run import train
from trainer.rundir import RunDir
from trainer.watching.journal import say

STEPS = 8
STAGES = """
samples_every = 5
kl_every = 3
held_out_every = 6
held_out_prompts = 3

[[train.stage]]
name = "format"
rewards = ["tagged", "shortness"]
weights = { shortness = 1.0 }
max_steps = 8

[[train.stage]]
name = "answers"
rewards = ["right", "shortness"]
weights = { shortness = 0.5 }
max_steps = 8
skip_dead = 2
retry_dead = 3
"""
ADAPTIVE = 'kind = "correctness"\nrange = [0.0, 1.0]\nadaptive = { low = 0.3, high = 0.8, up = 1.2 }'
KILLS, MERGES, PER_SEED = 20, 4, 4
Moment = Callable[[], bool]


@pytest.fixture(scope="module")
def project(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_project(tmp_path_factory.mktemp("kills") / "project", tiny_model)
    manifest = (folder / "rewardset.toml").read_text().replace('kind = "correctness"', ADAPTIVE)
    (folder / "rewardset.toml").write_text(manifest + STAGES)
    return folder


@pytest.fixture(scope="module")
def reference(project: Path) -> RunDir:
    """The run nobody killed."""
    return train(Request(str(project), run=project.parent / "reference", allow_unsealed=True)).run


def lines(run: RunDir) -> int:
    return run.metrics_path.read_bytes().count(b"\n") if run.metrics_path.exists() else 0


def random_moment(rng: random.Random, run: RunDir) -> tuple[str, Moment]:
    """When to kill: after some line, while a checkpoint is written, or where one stage gives way to the next."""
    kind = rng.choice(["line", "line", "checkpoint", "stage"])
    pause, there = rng.uniform(0, 0.25), lines(run)
    wanted = rng.randrange(min(there, 2 * STEPS - 1), 2 * STEPS)
    name = f"checkpoint-{rng.choice([2, 4, 6, 8])}"

    def after_a_line() -> bool:
        if lines(run) <= wanted:
            return False
        time.sleep(pause)
        return True

    def in_a_checkpoint() -> bool:
        return any(
            path.is_dir() and not (path / "whole.json").exists() for path in run.checkpoints.glob(f"*/{name}")
        )

    def between_stages() -> bool:
        return lines(run) >= STEPS and (run.adapter.exists() or any(run.path.glob(".adapter-*")))

    moments: dict[str, Moment] = {
        "line": after_a_line,
        "checkpoint": in_a_checkpoint,
        "stage": between_stages,
    }
    return f"{kind} {name if kind == 'checkpoint' else wanted}", moments[kind]


def assert_nothing_is_lost_or_doubled(run: RunDir, reference: RunDir) -> None:
    assert raw_steps(run) == list(range(1, 2 * STEPS + 1))
    assert [(one.step, one.status) for one in run.stages()] == [(STEPS, "done")] * 2
    assert steady(run) == steady(
        reference
    )  # adaptive weights, held-out evaluations, distance, what is passed over
    for name in ("evaluations.jsonl", "curriculum.jsonl", "diagnoses.jsonl"):
        texts = [
            (one.path / name).read_text() if (one.path / name).exists() else "" for one in (run, reference)
        ]
        assert texts[0] == texts[1], name
    for folder in ("completions", "samples"):
        files = [sorted(file.name for file in (one.path / folder).iterdir()) for one in (run, reference)]
        assert files[0] == files[1]
    for file in reference.completions.iterdir():
        mine, theirs = (pd.read_parquet(one.completions / file.name) for one in (run, reference))
        pd.testing.assert_frame_equal(mine.drop(columns="seconds"), theirs.drop(columns="seconds"))
    name = "adapter_model.safetensors"
    assert (run.adapter / name).read_bytes() == (reference.adapter / name).read_bytes()
    assert not [
        path.name for path in run.path.iterdir() if path.name.startswith(".") and path.name != ".lock"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range((KILLS - MERGES) // PER_SEED))
def test_runs_killed_at_random_moments_end_as_the_one_that_was_not(
    project: Path, reference: RunDir, seed: int
) -> None:
    rng = random.Random(f"kills|{seed}")
    kills: list[str] = []
    number = 0
    run = RunDir(project.parent / f"killed-{seed}-{number}")
    while len(kills) < PER_SEED:
        name, moment = random_moment(rng, run)
        if kill_when(project, run.path, moment):
            kills.append(f"{name} (after {lines(run)} lines)")
        else:  # it ended before that moment came
            assert_nothing_is_lost_or_doubled(run, reference)
            number += 1
            run = RunDir(project.parent / f"killed-{seed}-{number}")
    say(f"killed at: {'; '.join(kills)}")
    assert_nothing_is_lost_or_doubled(complete(project, run.path), reference)


def merge_command(run: Path) -> list[str]:
    return [sys.executable, "-P", "-m", "trainer", "merge", str(run)]


def kill_a_merge(run: RunDir, moment: Moment) -> bool:
    """Merge, and kill -9 as soon as `moment()` holds; False where it ended before."""
    process = subprocess.Popen(merge_command(run.path), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 240
    while process.poll() is None and time.monotonic() < deadline:
        if moment():
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.002)
    _, errors = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), errors.decode()
    return process.returncode != 0


def half_written(run: RunDir) -> bool:
    return any(run.path.glob(".merged-*/*"))


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def test_a_merge_that_is_killed_leaves_nothing_that_passes_for_a_model(
    reference: RunDir, project: Path
) -> None:
    from trainer.merging.merge import merge

    run = RunDir(project.parent / "merged-killed")
    shutil.copytree(reference.path, run.path)
    assert kill_a_merge(run, lambda: half_written(run))
    assert not (run.path / "merged").exists()
    assert merge(run.path).folder == run.path / "merged"
    assert json.loads((run.path / "merge-proof.json").read_text())["proved"] is True


@pytest.mark.slow
def test_merges_killed_at_random_moments_give_the_same_model(reference: RunDir, project: Path) -> None:
    from trainer.merging.merge import merge

    whole, run = RunDir(project.parent / "whole"), RunDir(project.parent / "merges")
    shutil.copytree(reference.path, whole.path)
    shutil.copytree(reference.path, run.path)
    merge(whole.path)
    rng = random.Random("merges")
    for _ in range(MERGES):
        until = rng.uniform(0, 3)
        begun: list[float] = []

        def moment(until: float = until, begun: list[float] = begun) -> bool:
            if half_written(run) or begun:
                begun.append(time.monotonic())
            return bool(begun) and time.monotonic() - begun[0] > until

        kill_a_merge(run, moment)
        if (run.path / "merged").exists():
            assert weights(run.path / "merged") == weights(whole.path / "merged")
    merge(run.path)
    assert weights(run.path / "merged") == weights(whole.path / "merged")
