"""`reward-workbench label`, run as a user would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.workbench.cli.command import run, sentence


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rewards.py").write_text(
        "def layout(completions, **_):\n    return [1.0] * len(completions)\n"
    )
    rows = [{"prompt": "p", "completion": text} for text in ("a", "b")]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.mark.guide("G24")
def test_a_label_shows_in_the_next_summary(folder: Path) -> None:
    command = ("label", "rewards.py", "--samples", "s.jsonl", "--row", 0, "--row", 1, "--label", "hack")
    done = run(*command, "--expected", "layout=0.5", cwd=folder)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[1].startswith("row 1: hack, layout expected 0.5  (")
    assert "hack (2)" in run("score", "rewards.py", "--samples", "s.jsonl", cwd=folder).out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--row", 5, "--label", "right"), "there is no row 5"),
        (("--row", 1, "--row", 9, "--label", "right"), "there is no row 9"),
        (("--row", 0), "say something about row 0"),
        (("--row", 0, "--label", "great"), "--label great: must be one of right, partial, wrong, hack"),
        (("--row", 0, "--expected", "lay=1"), "has no reward 'lay'"),
        (("--row", 0, "--expected", "layout"), "--expected layout: must be NAME=NUMBER or NAME=none"),
        (("--row", 0, "--expected", "layout=nan"), "--expected layout=nan: must be NAME=NUMBER or NAME=none"),
    ],
)
def test_wrong_use_is_one_sentence(folder: Path, arguments: tuple[object, ...], said: str) -> None:
    done = run("label", "rewards.py", "--samples", "s.jsonl", *arguments, cwd=folder)
    assert (done.code, said in sentence(done)) == (2, True)
    assert not (folder / "labels.jsonl").exists()
