"""A run can be made again from its folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainer.job import Request
from trainer.reproduction import installed, script, write_reproduction
from trainer.run import train
from trainer.rundir import RunDir


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
