"""A reward for chat messages on plain texts, and the other way round: the cause is told everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.workbench.cli.command import run
from workbench.explanation import explain
from workbench.opening import open_target
from workbench.scoring import score

REWARDS = """import re

def chatty(completions, **_):
    return [float("b" in completion[0]["content"]) for completion in completions]

def plain(completions, **_):
    return [float(bool(re.match("a", completion))) for completion in completions]

def broken(completions, **_):
    return [1 / 0 for completion in completions]
"""
TEXT = "the samples are plain text and chatty reads chat messages: have them read so with --read-as chat"
CHAT = "the samples are chat messages and plain reads plain text: have them read so with --read-as text"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rewards.py").write_text(REWARDS)
    texts = [{"prompt": "p", "completion": text} for text in ("ab", "ba", "ccc", "d")]
    chats = [
        {
            "prompt": [{"role": "user", "content": row["prompt"]}],
            "completion": [{"role": "assistant", "content": row["completion"]}],
        }
        for row in texts
    ]
    for name, rows in (("text", texts), ("chat", chats)):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return tmp_path


@pytest.mark.parametrize(("form", "said"), [("text", TEXT), ("chat", CHAT)])
def test_score_tells_which_form_a_reward_reads(folder: Path, form: str, said: str) -> None:
    samples = open_target(folder / "rewards.py", [folder / f"{form}.jsonl"]).samples
    notes = score(folder / "rewards.py", samples).notes
    assert [note for note in notes if note.startswith(said)] == notes
    assert len(notes) == 1  # a reward that fails in both forms is broken otherwise


def test_explain_tells_it_at_the_reward(folder: Path) -> None:
    samples = open_target(folder / "rewards.py", [folder / "text.jsonl"]).samples
    (row,) = explain(folder / "rewards.py", samples, [0])
    assert [reward.name for reward in row.rewards if any(TEXT in note for note in reward.notes)] == ["chatty"]


def test_check_names_the_cause_and_the_way_out(folder: Path) -> None:
    done = run(
        "check",
        "rewards.py::chatty",
        "--samples",
        "text.jsonl",
        "--select",
        "RW110",
        "--format",
        "json",
        cwd=folder,
    )
    (finding,) = json.loads(done.out)["rewards"][0]["findings"]
    assert finding["message"].endswith("the samples are plain text and chatty reads chat messages.")
    assert finding["advice"].startswith("Have them read so with --read-as chat")


def test_samples_are_read_in_the_form_that_is_asked_for(folder: Path) -> None:
    target, samples = folder / "rewards.py::chatty", [folder / "text.jsonl"]
    assert score(target, open_target(target, samples, form="chat").samples).totals.tolist() == [1, 1, 0, 0]
    (folder / "rewardset.toml").write_text(
        '[set]\nsamples = "text.jsonl"\nread_as = "chat"\n[[reward]]\nfunction = "rewards.py::chatty"\n'
    )
    assert score(folder, open_target(folder).samples).totals.tolist() == [1, 1, 0, 0]


def test_what_was_said_of_a_row_holds_in_either_form(folder: Path) -> None:
    target, samples = folder / "rewards.py::chatty", [folder / "text.jsonl"]
    assert (
        run(
            "label", "rewards.py", "--samples", "text.jsonl", "--row", "1", "--label", "right", cwd=folder
        ).code
        == 0
    )
    assert open_target(target, samples, form="chat", pinned=True).samples.labels == [
        None,
        "right",
        None,
        None,
    ]


def test_an_unknown_form_is_refused(folder: Path) -> None:
    done = run("score", "rewards.py", "--samples", "text.jsonl", "--read-as", "chats", cwd=folder)
    assert (done.code, done.err) == (2, "error: --read-as chats: must be chat or text\n")


def test_a_comparison_tells_it_once_for_both_sides(folder: Path) -> None:
    done = run("diff", "rewards.py::chatty", "rewards.py::chatty", "--samples", "text.jsonl", cwd=folder)
    assert done.err.count(TEXT) == 1
