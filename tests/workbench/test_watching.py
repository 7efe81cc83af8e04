"""Explaining again when the code is saved."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rewards.errors import LoadError
from rewards.targets import parse_target
from tests.workbench.tables import samples
from workbench.explanation import explain
from workbench.watching import code_state, saves

REWARD = "def pays(completions, **_):\n    return [{worth} for text in completions]\n"


def test_every_state_of_the_code_is_explained(tmp_path: Path) -> None:
    file = tmp_path / "rewards.py"
    file.write_text(REWARD.format(worth=0.5))
    texts = iter([REWARD.format(worth=0.75), "def pays(completions\n", REWARD.format(worth=1.0), None])

    def saved() -> bool:
        text = next(texts)
        if text is not None:
            file.write_text(text)
        return text is not None

    seen: list[object] = []
    for _ in saves(parse_target(file), saved):
        try:
            explained = explain(file, samples(["a", "b"]), [1])
            seen += [(one.row, one.rewards[0].score) for one in explained]
        except LoadError as error:
            seen.append(str(error).split(":")[0])
    assert seen == [(1, 0.5), (1, 0.75), "rewards.py, line 1", (1, 1.0)]


def test_a_save_of_any_file_of_the_code_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("WORTH = 1.0\n")
    (tmp_path / "rewards.py").write_text("from helper import WORTH\n\n" + REWARD.format(worth="WORTH"))
    target = parse_target(tmp_path / "rewards.py")
    before = code_state(target)
    os.utime(tmp_path / "helper.py", ns=(1, 1))
    assert code_state(target) != before
    (tmp_path / "rewards.py").unlink()
    assert code_state(target) == ()


@pytest.mark.parametrize("what", [("explain", "--row", "0"), ("score", "--format", "jsonl")])
def test_the_command_looks_again_and_ends_with_an_interrupt(tmp_path: Path, what: tuple[str, ...]) -> None:
    file = tmp_path / "rewards.py"
    file.write_text(REWARD.format(worth=0.5))
    (tmp_path / "s.jsonl").write_text('{"prompt": "p", "completion": "x"}\n')
    command = [str(Path(sys.executable).with_name("reward-workbench")), what[0], "rewards.py"]
    command += ["--samples", "s.jsonl", *what[1:], "--watch"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert "waiting for the code to be saved" in process.stderr.readline()
        time.sleep(0.05)
        file.write_text(REWARD.format(worth=0.75))
        assert "waiting for the code to be saved" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert 0 < out.index("0.5") < out.index("0.75")


@pytest.mark.parametrize("row", ["7", "-1"])
def test_a_row_that_is_not_there_is_told_at_once(tmp_path: Path, row: str) -> None:
    from tests.workbench.cli.command import run, sentence

    (tmp_path / "rewards.py").write_text(REWARD.format(worth=0.5))
    (tmp_path / "s.jsonl").write_text('{"prompt": "p", "completion": "x"}\n')
    done = run("explain", "rewards.py", "--samples", "s.jsonl", f"--row={row}", "--watch", cwd=tmp_path)
    assert (done.code, f"there is no row {row}" in sentence(done)) == (2, True)
