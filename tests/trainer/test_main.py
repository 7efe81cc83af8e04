"""`python -P -m trainer`: one line and a code for everything that is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainer.__main__ import COMMANDS, main
from trainer.environment import COMMAND


def test_every_command_of_the_table_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in COMMANDS)


def test_wrong_use_is_one_line_and_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "x", "--zzz", "9"]) == 2
    assert capsys.readouterr().err.startswith("error: no such option: --zzz; see ")


def test_an_option_that_is_a_setting_is_answered_with_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "x", "--steps", "6"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: no such option: --steps")
    assert "; settings of a training are given by --set: --set max_steps=...; see " in said


def test_the_help_speaks_of_the_command_that_was_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(COMMAND, "")
    assert main(["merge", "--help"]) == 0
    assert "Usage: reward-workbench merge [OPTIONS]" in capsys.readouterr().out


def test_a_missing_target_is_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "nowhere.py", "--model", "toy"]) == 2
    assert capsys.readouterr().err == "error: there is no file nowhere.py\n"


def test_a_file_that_does_not_load_is_code_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rewards.py").write_text("import nonsense_that_is_missing\n")
    assert main(["train", str(tmp_path / "rewards.py"), "--model", "toy"]) == 3
    assert "nonsense_that_is_missing" in capsys.readouterr().err


def test_an_unsealed_set_is_code_1(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", str(project)]) == 1
    assert "--allow-unsealed" in capsys.readouterr().err


def test_a_missing_torch_is_answered_with_its_install_line(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["train", str(project), "--allow-unsealed"]) == 2
    assert "pip install 'reward-workbench[train]'" in capsys.readouterr().err


def test_a_users_own_rewards_py_does_not_shadow_ours_and_the_outcome_is_json(project: Path) -> None:
    words = [sys.executable, "-P", "-m", "trainer", "train", ".", "--allow-unsealed", "--set", "max_steps=2"]
    done = subprocess.run(
        words, cwd=project, capture_output=True, text=True, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"run": str(project / "runs" / "sums-1"), "status": "done", "step": 2}
    assert "step 2/2  reward " in done.stderr
    assert "Warning" not in done.stderr
