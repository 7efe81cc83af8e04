"""A run can be made again from its folder."""

from __future__ import annotations

import itertools
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from trainer.job import Request, prepare_jobs
from trainer.reports.reproduction import installed, launch_name, script, unset_names, write_reproduction
from trainer.run import train
from trainer.rundir import RunDir
from trainer.runfiles import RunFacts, create_run


def test_the_script_says_what_it_needs_and_is_valid_shell(tmp_path: Path) -> None:
    write_reproduction(tmp_path, python="3.11.7", fingerprint="abc", sealed=True, threads=2)
    text = (tmp_path / "reproduce.sh").read_text()
    assert "sealed when this run began, fingerprint abc" in text
    assert "--set threads=2" in text
    assert os.access(tmp_path / "reproduce.sh", os.X_OK)
    assert subprocess.run(["sh", "-n", str(tmp_path / "reproduce.sh")]).returncode == 0
    assert "not sealed" in script(python="3", fingerprint="f", sealed=False, threads=1)


def test_the_lock_names_every_package_once_with_its_version() -> None:
    lines = installed()
    assert len(lines) == len(set(lines))
    assert any(line.startswith("torch==") for line in lines)


def made(project: Path, model: Path, folder: Path, *sets: str) -> RunDir:
    """The folder of a run as it begins."""
    request = Request(str(project), run=folder, sets=sets, allow_unsealed=True)
    jobs = prepare_jobs(request)
    return create_run(folder, jobs, RunFacts.of(jobs, request, model=model, threads=1))


def asked_again(run: RunDir) -> list[str]:
    """The words of the script's command."""
    return shlex.split((run.path / "reproduce.sh").read_text().splitlines()[-1])


@pytest.mark.parametrize(
    "sets",
    [
        ("preset=small-gpu", "max_prompt_length=none", "warmup_steps=none", "steps_per_generation=8"),
        ("preset=small-gpu", "generation_batch_size=16", "num_generations=4"),
        ("max_prompt_length=none", "optim=none", "num_train_epochs=2"),
    ],
)
def test_what_was_set_to_none_is_none_again(
    project: Path, tiny_model: Path, tmp_path: Path, sets: tuple[str, ...]
) -> None:
    run = made(project, tiny_model, tmp_path / "run", *sets)
    words = asked_again(run)
    again = [word for before, word in itertools.pairwise(words) if before == "--set"]
    first = prepare_jobs(Request(str(project), sets=sets))[0]
    second = prepare_jobs(Request(str(run.manifest_path), sets=tuple(again)))[0]
    assert second.settings.own.model_copy(update={"threads": 0}) == first.settings.own.model_copy(
        update={"threads": 0}
    )
    assert second.settings.trl == {**first.settings.trl, "max_steps": first.plan.max_steps}
    assert ("max_prompt_length=none" in again) == ("max_prompt_length=none" in sets and "small" in sets[0])


def test_a_setting_that_a_stage_has_is_not_unset() -> None:
    table = {"preset": "small-gpu", "model": "m", "max_prompt_length": 9, "stage": [{"optim": "sgd"}]}
    assert not {"max_prompt_length", "optim"} & set(unset_names(table))
    assert "learning_rate" in unset_names(table)
    assert "use_vllm" not in unset_names({"preset": "large-gpu", "model": "toy", "use_vllm": False})


def test_a_run_of_several_processes_is_made_again_by_as_many(
    project: Path, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made(project, tiny_model, tmp_path / "run")
    monkeypatch.setenv("WORLD_SIZE", "2")
    write_reproduction(run.path, python="3", fingerprint="f", sealed=True, threads=1)
    text = (run.path / "reproduce.sh").read_text()
    assert (
        'accelerate launch --config_file "$(reward-workbench launch-config cpu)" --num_processes 2 -m trainer train '
        "manifest.toml --allow-unsealed --set threads=1" in text
    )
    assert "# 2 processes trained together, each on a device of its own.\n" in text
    assert subprocess.run(["sh", "-n", str(run.path / "reproduce.sh")]).returncode == 0


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({}, "ddp"),
        ({"ACCELERATE_USE_FSDP": "true"}, "fsdp"),
        ({"ACCELERATE_USE_DEEPSPEED": "true", "ACCELERATE_DEEPSPEED_ZERO_STAGE": "2"}, "zero2"),
        ({"ACCELERATE_USE_DEEPSPEED": "true", "ACCELERATE_DEEPSPEED_ZERO_STAGE": "3"}, "zero3"),
        ({"WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2"}, "nodes"),
    ],
)
def test_processes_are_started_again_as_they_were(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], name: str
) -> None:
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    assert launch_name(cpu=False) == name


@pytest.mark.slow
@pytest.mark.guide("G23")
def test_the_script_gives_the_same_numbers(sealed_project: Path, tmp_path: Path) -> None:
    first = train(Request(str(sealed_project), run=tmp_path / "first", allow_unsealed=True)).run
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", str(first.path / "reproduce.sh"), str(tmp_path / "again")],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    rewards = [[line["reward"] for line in run.metrics()] for run in (first, RunDir(tmp_path / "again"))]
    assert rewards[0] == rewards[1]
    name = "adapter_model.safetensors"
    assert (tmp_path / "again" / "adapter" / name).read_bytes() == (first.adapter / name).read_bytes()
