"""`reward-workbench explain`, run as a user would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.workbench.cli.command import run, sentence

FILE = """
def layout(completions, **_):
    rewards = []
    for text in completions:
        score = 0.0
        if "<answer>" in text:
            score += 0.5
        if "</answer>" in text:
            score += 0.5
        rewards.append(score)
    return rewards


def correctness(completions, answer, **_):
    return [2.0 if gold in text else 0.0 for text, gold in zip(completions, answer)]
"""
ROWS = [
    {"prompt": "1+1", "completion": "<answer>2</answer>", "answer": "2"},
    {"prompt": "1+1", "completion": "<answer>3", "answer": "2"},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rewards.py").write_text(FILE)
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def test_json_without_row_is_one_strict_object_a_line(folder: Path) -> None:
    done = run("explain", "rewards.py", "--samples", "s.jsonl", "--format", "json", cwd=folder)
    assert (done.code, done.err) == (0, "")
    rows = [json.loads(line, parse_constant=pytest.fail) for line in done.out.splitlines()]
    assert [row["row"] for row in rows] == [0, 1]
    assert [[reward["score"] for reward in row["rewards"]] for row in rows] == [[1.0, 2.0], [0.5, 0.0]]
    assert all(reward["exact"] for row in rows for reward in row["rewards"])


def test_json_of_one_row_has_the_documented_fields(folder: Path) -> None:
    done = run("explain", "rewards.py", "--samples", "s.jsonl", "--row", "1", "--format", "json", cwd=folder)
    (reward, _) = json.loads(done.out)["rewards"]
    assert reward["credits"] == [
        {"name": "<answer>", "points": 0.5, "of": 0.5, "line": 7, "condition": '"<answer>" in text', "value": True,
         "spans": [[0, 8]]}
    ]  # fmt: skip
    assert {"line": 7, "hits": 1, "values": {"score": "0.5"}} in reward["lines"]


def test_text_shows_the_completion_and_a_table_of_credits(folder: Path) -> None:
    done = run("explain", "rewards.py", "--samples", "s.jsonl", "--row", "0", cwd=folder)
    assert done.code == 0
    assert "row 0" in done.out
    assert "<answer>2</answer>" in done.out
    assert "+0.5" in done.out
    assert '"</answer>" in text  yes' in done.out


def test_a_row_that_is_not_there_is_wrong_use(folder: Path) -> None:
    done = run("explain", "rewards.py", "--samples", "s.jsonl", "--row", "9", cwd=folder)
    assert (done.code, sentence(done)) == (2, "error: there is no row 9: the samples have rows 0 to 1")


def test_an_unknown_format_is_wrong_use(folder: Path) -> None:
    done = run("explain", "rewards.py", "--samples", "s.jsonl", "--format", "xml", cwd=folder)
    assert (done.code, sentence(done)) == (2, "error: --format xml: known formats are text, json")


def test_a_file_that_fails_to_load_has_its_own_exit_code(folder: Path) -> None:
    (folder / "rewards.py").write_text("def broken(:\n")
    assert run("explain", "rewards.py", "--samples", "s.jsonl", cwd=folder).code == 3
