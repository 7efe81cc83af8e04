"""`reward-workbench diff`, run as a user would."""

from __future__ import annotations

import itertools
import json
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.workbench.cli.command import run, sentence
from workbench.sides import open_sides

BROKEN = """import re

LAYOUT = re.compile(r"<think>.*</think>")


def layout(completions, **_):
    return [1.0 if LAYOUT.fullmatch(text) else 0.0 for text in completions]
"""
MENDED = BROKEN.replace('</think>")', '</think>", re.DOTALL)')
ROWS = [
    {"prompt": "p", "completion": "<think>a\nb</think>"},
    {"prompt": "p", "completion": "no"},
    {"prompt": "q", "completion": "<think>a</think>"},
    {"prompt": "q", "completion": "no"},
]


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rewards.py").write_text(BROKEN)
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def test_a_file_is_compared_with_the_version_before(folder: Path) -> None:
    run("score", "rewards.py", "--samples", "s.jsonl", cwd=folder)
    (folder / "rewards.py").write_text(MENDED)
    done = run("diff", "@1", "rewards.py", "--samples", "s.jsonl", cwd=folder)
    assert (done.code, done.err) == (0, "")
    assert "layout       1       -       3       -       -  0.25 -> 0.5" in done.out
    assert '+LAYOUT = re.compile(r"<think>.*</think>", re.DOTALL)' in done.out
    assert "advantages: 0 change sign, 0 fall silent, 2 wake up" in done.out
    assert "groups without spread: 1 -> 0 of 2" in done.out


def test_two_files_are_compared_on_their_only_rewards(folder: Path) -> None:
    (folder / "other.py").write_text(MENDED.replace("def layout", "def shape"))
    out = run("diff", "rewards.py", "other.py", "--samples", "s.jsonl", "--format", "json", cwd=folder).out
    found = json.loads(out, parse_constant=pytest.fail)
    assert [(reward["name"], reward["better"], reward["equal"]) for reward in found["rewards"]] == [
        ("shape", 1, 3)
    ]
    assert (found["advantages"], found["groups"]) == (
        {"sign_flips": 0, "silenced": 0, "woken": 2},
        {"count": 2, "dead_before": 1, "dead_after": 0},
    )
    assert found["changed"][0]["advantage"][1] == pytest.approx(0.707, abs=0.001)
    assert [change["file"] for change in found["code"]] == ["other.py"]


def test_git_revisions_are_read_without_checking_anything_out(folder: Path) -> None:
    git(folder, "init", "-q", ".")
    git(folder, "add", "rewards.py")
    git(folder, "commit", "-qm", "broken")
    (folder / "rewards.py").write_text(MENDED)
    for old in ("HEAD", "HEAD:rewards.py", "HEAD:rewards.py::layout"):
        done = run("diff", old, "rewards.py", "--samples", "s.jsonl", "--format", "json", cwd=folder)
        assert json.loads(done.out)["total"]["better"] == 1, done.err
    assert (folder / "rewards.py").read_text() == MENDED


def test_a_project_is_compared_with_its_last_commit_from_below(folder: Path) -> None:
    project = folder / "sums"
    project.mkdir()
    (project / "rewards.py").write_text(BROKEN)
    (project / "rewardset.toml").write_text(
        '[set]\nsamples = "../s.jsonl"\n\n[[reward]]\nfunction = "rewards.py::layout"\n'
    )
    git(folder, "init", "-q", ".")
    git(folder, "add", "sums")
    git(folder, "commit", "-qm", "broken")
    (project / "rewardset.toml").write_text((project / "rewardset.toml").read_text() + "weight = 3.0\n")
    done = run("diff", "HEAD", ".", "--format", "json", cwd=project)
    found = json.loads(done.out)
    assert (found["total"]["better"], found["rewards"][0]["equal"], found["ranks"]["rows"]) == (1, 4, 0)
    assert [change["file"] for change in found["code"]] == ["rewardset.toml"]
    assert (
        json.loads(run("diff", "HEAD:sums", "sums", "--format", "json", cwd=folder).out)["total"]["better"]
        == 1
    )


def test_equal_code_says_that_nothing_changes(folder: Path) -> None:
    out = run("diff", "rewards.py", "rewards.py", "--samples", "s.jsonl", cwd=folder).out
    assert "nothing changes on these completions" in out
    assert "---" not in out


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("nothing", "rewards.py", "'nothing' is no target, no kept version (@1) and no git revision"),
        ("missing.py", "rewards.py", "there is no file missing.py"),
        ("@1", "rewards.py", "version '@1' is not kept: there are none of rewards.py yet in"),
        ("rewards.py", "rewards.py::lay", "has no function 'lay'; did you mean 'layout'?"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(folder: Path, old: str, new: str, said: str) -> None:
    done = run("diff", old, new, "--samples", "s.jsonl", cwd=folder)
    assert done.code == 2
    assert said in sentence(done)


def test_samples_are_asked_for(folder: Path) -> None:
    done = run("diff", "rewards.py", "rewards.py", cwd=folder)
    assert (done.code, "no completions to score: add --samples" in sentence(done)) == (2, True)


def test_a_side_that_does_not_load_is_the_users_file(folder: Path) -> None:
    (folder / "bad.py").write_text("import nothing_of_that_name\n")
    done = run("diff", "rewards.py", "bad.py", "--samples", "s.jsonl", cwd=folder)
    assert (done.code, "bad.py failed to load" in sentence(done)) == (3, True)


def test_columns_stand_under_their_heads(folder: Path) -> None:
    (folder / "one.py").write_text("def a(completions, **_):\n    return [1.0 for _ in completions]\n")
    lines = run("diff", "one.py", "one.py", "--samples", "s.jsonl", cwd=folder).out.splitlines()
    head, row = next((head, row) for head, row in itertools.pairwise(lines) if head.startswith("reward"))
    assert row.index("-") + 1 == head.index("better") + len("better")


def test_two_files_need_no_folder_for_temporary_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> None:
        raise FileNotFoundError("no usable temporary directory")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", none)
    file = str(folder / "rewards.py")
    with open_sides(file, file) as (old, new):
        assert (old.target, new.target) == (file, file)
