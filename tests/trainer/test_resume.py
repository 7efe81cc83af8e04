"""kill -9 at any moment, then --resume: the run ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rewards.errors import ShortfallError, UsageError
from trainer.job import Request
from trainer.run import train
from trainer.rundir import RunDir, is_whole_checkpoint

STEPS = 6
PATIENCE_S = 240.0


def command(project: Path, run: Path) -> list[str]:
    words = [
        sys.executable,
        "-P",
        "-m",
        "trainer",
        "train",
        str(project),
        "--run",
        str(run),
        "--allow-unsealed",
    ]
    return [*words, "--resume"] if (run / "stages.json").exists() else words


def kill_when(project: Path, run: Path, moment: Callable[[], bool]) -> bool:
    """Train, and kill -9 as soon as `moment()` holds; False where the run ended before that."""
    process = subprocess.Popen(command(project, run), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < deadline:
        if moment():
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.0005)
    _, errors = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), errors.decode()
    return process.returncode != 0


def complete(project: Path, run: Path) -> RunDir:
    train(Request(str(project), run=run, resume=True, allow_unsealed=True))
    return RunDir.open(run)


def steady(run: RunDir) -> list[dict[str, Any]]:
    """The metrics without the times, which differ from run to run."""
    return [
        {key: value for key, value in line.items() if not key.endswith(("seconds", "step_time"))}
        for line in run.metrics()
    ]


def raw_steps(run: RunDir) -> list[int]:
    return [json.loads(line)["step"] for line in run.metrics_path.read_text().splitlines()]


@pytest.fixture(scope="module")
def reference(sealed_project: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """The run nobody killed."""
    folder = tmp_path_factory.mktemp("reference") / "run"
    return train(Request(str(sealed_project), run=folder, allow_unsealed=True)).run


def assert_as_if_nothing_happened(run: RunDir, reference: RunDir) -> None:
    assert raw_steps(run) == list(range(1, STEPS + 1))
    assert steady(run) == steady(reference)
    for name in ("adapter_model.safetensors", "adapter_config.json"):
        assert (run.adapter / name).read_bytes() == (reference.adapter / name).read_bytes()
    files = [sorted(file.name for file in one.completions.iterdir()) for one in (run, reference)]
    assert files[0] == files[1]


def test_a_run_killed_between_checkpoints_resumes_exactly(
    sealed_project: Path, reference: RunDir, tmp_path: Path
) -> None:
    run = RunDir(tmp_path / "run")
    killed = kill_when(
        sealed_project,
        run.path,
        lambda: run.metrics_path.exists() and run.metrics_path.read_text().count("\n") >= 3,
    )
    assert killed
    assert_as_if_nothing_happened(complete(sealed_project, run.path), reference)


@pytest.mark.slow
def test_a_run_killed_while_it_writes_a_checkpoint_falls_back_to_the_one_before(
    sealed_project: Path, reference: RunDir, tmp_path: Path
) -> None:
    run = RunDir(tmp_path / "run")
    half = run.checkpoints / "checkpoint-4"
    if kill_when(
        sealed_project, run.path, lambda: half.exists() and not (half / "trainer_state.json").exists()
    ):
        assert not is_whole_checkpoint(half)
        last = run.last_checkpoint()
        assert last is not None
        assert last.name == "checkpoint-2"
    assert_as_if_nothing_happened(complete(sealed_project, run.path), reference)


@pytest.mark.slow
def test_a_run_killed_before_its_first_checkpoint_starts_over(
    sealed_project: Path, reference: RunDir, tmp_path: Path
) -> None:
    run = RunDir(tmp_path / "run")
    assert kill_when(sealed_project, run.path, lambda: (run.path / "stages.json").exists())
    assert_as_if_nothing_happened(complete(sealed_project, run.path), reference)


def test_a_checkpoint_whose_last_file_is_missing_is_passed_over(
    reference: RunDir, sealed_project: Path, tmp_path: Path
) -> None:
    """A kill after the trainer's own files, before what listens had put its state beside them."""
    run = RunDir(tmp_path / "run")
    shutil.copytree(reference.path, run.path)
    shutil.rmtree(run.adapter)
    run.update_stage(0, status="running")
    for name in ("whole.json", "listeners.json"):
        (run.checkpoints / "checkpoint-6" / name).unlink()
    assert_as_if_nothing_happened(complete(sealed_project, run.path), reference)
    assert run.diagnoses_path.read_text() == reference.diagnoses_path.read_text()


@pytest.mark.parametrize("damage", ["state", "weights", "optimizer"])
def test_a_damaged_last_checkpoint_is_passed_over(
    reference: RunDir, sealed_project: Path, tmp_path: Path, damage: str
) -> None:
    run = RunDir(tmp_path / "run")
    shutil.copytree(reference.path, run.path)
    shutil.rmtree(run.adapter)
    run.update_stage(0, status="running")
    last = run.checkpoints / "checkpoint-6"
    name = {
        "state": "trainer_state.json",
        "weights": "adapter_model.safetensors",
        "optimizer": "optimizer.pt",
    }[damage]
    (last / name).write_bytes((last / name).read_bytes()[:-7])
    assert_as_if_nothing_happened(complete(sealed_project, run.path), reference)


def test_a_run_killed_after_its_last_step_only_puts_the_adapter_in_place(
    reference: RunDir, sealed_project: Path, tmp_path: Path
) -> None:
    run = RunDir(tmp_path / "run")
    shutil.copytree(reference.path, run.path)
    shutil.rmtree(run.adapter)
    run.update_stage(0, status="running")
    before = run.metrics_path.read_bytes()
    assert_as_if_nothing_happened(complete(sealed_project, run.path), reference)
    assert run.metrics_path.read_bytes() == before


def test_sigterm_writes_a_checkpoint_and_says_how_to_go_on(
    sealed_project: Path, reference: RunDir, tmp_path: Path
) -> None:
    run = RunDir(tmp_path / "run")
    process = subprocess.Popen(
        command(sealed_project, run.path), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        if run.metrics_path.exists() and run.metrics_path.read_text():
            process.terminate()
            break
        time.sleep(0.001)
    out, errors = process.communicate()
    assert process.returncode == 128 + signal.SIGTERM
    assert json.loads(out)["status"] == "stopped"
    assert f"--run {run.path} --resume" in errors.decode()
    step = run.stages()[0].step
    assert (run.checkpoints / f"checkpoint-{step}").is_dir()
    assert_as_if_nothing_happened_but_checkpoints(complete(sealed_project, run.path), reference)


def assert_as_if_nothing_happened_but_checkpoints(run: RunDir, reference: RunDir) -> None:
    assert raw_steps(run) == list(range(1, STEPS + 1))
    assert steady(run) == steady(reference)


def test_resuming_with_another_reward_set_is_refused(
    reference: RunDir, sealed_project: Path, tmp_path: Path
) -> None:
    project = tmp_path / "other"
    shutil.copytree(sealed_project, project, ignore=shutil.ignore_patterns("runs"))
    (project / "rewards.py").write_text((project / "rewards.py").read_text().replace("1.0 if", "0.5 if"))
    run = RunDir(tmp_path / "run")
    shutil.copytree(reference.path, run.path)
    run.update_stage(0, status="running")
    with pytest.raises(
        ShortfallError, match=r"the reward set is not the one the run started with .*its code changed"
    ):
        train(Request(str(project), run=run.path, resume=True))


def test_resuming_with_other_data_is_refused(tmp_path: Path, project: Path) -> None:
    run = train(Request(str(project), sets=("max_steps=2",), allow_unsealed=True)).run
    run.update_stage(0, status="running")
    with (project / "train.jsonl").open("a") as stream:
        stream.write('{"prompt": "What is 9 + 9?", "answer": 18}\n')
    with pytest.raises(UsageError, match="the training data changed since the run started"):
        train(Request(str(project), run=run.path, resume=True, allow_unsealed=True))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_run_killed_several_times_at_random_moments_ends_as_if_nothing_had_happened(
    sealed_project: Path, reference: RunDir, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    run = RunDir(tmp_path / "run")
    for _ in range(3):
        lines, pause = rng.randrange(STEPS), rng.uniform(0, 0.3)

        def moment(lines: int = lines, pause: float = pause) -> bool:
            there = run.metrics_path.exists() and run.metrics_path.read_text().count("\n") >= lines
            if there:
                time.sleep(pause)
            return there

        kill_when(sealed_project, run.path, moment)
    assert_as_if_nothing_happened(complete(sealed_project, run.path), reference)


def test_two_processes_do_not_train_one_run(reference: RunDir, sealed_project: Path, tmp_path: Path) -> None:
    run = RunDir(tmp_path / "run")
    shutil.copytree(reference.path, run.path)
    run.update_stage(0, status="running")
    with run.locked(), pytest.raises(UsageError, match="is being trained by another process right now"):
        train(Request(str(sealed_project), run=run.path, resume=True, allow_unsealed=True))
    assert os.environ.get("HF_HUB_DISABLE_TELEMETRY") == "1"
