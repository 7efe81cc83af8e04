"""Which prompts a comparison may use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rewards.errors import UsageError
from trainer.data.held_out import last_words, prompt_key, prompts_for
from trainer.rundir import RunDir


def write_prompts(path: Path, *questions: str) -> Path:
    rows = [{"prompt": question, "answer": 2} for question in questions]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_runs_own_held_out_prompts_are_used(tiny_run: Path) -> None:
    prompts = prompts_for(RunDir.open(tiny_run), None, limit=10)
    assert [last_words(row["prompt"]) for row in prompts.rows] == ["What is 2 + 3?", "What is 4 + 5?"]
    assert (prompts.trained, prompts.overlapping, prompts.spared) == (1, 0, 0)


def test_prompts_beyond_the_limit_are_counted(tiny_run: Path) -> None:
    prompts = prompts_for(RunDir.open(tiny_run), None, limit=1)
    assert (len(prompts.rows), prompts.spared) == (1, 1)


def test_prompts_of_a_file_get_the_runs_system_prompt(tiny_run: Path, tmp_path: Path) -> None:
    file = write_prompts(tmp_path / "more.jsonl", "What is 8 + 8?")
    (row,) = prompts_for(RunDir.open(tiny_run), file, limit=10).rows
    assert row["prompt"][0] == {"role": "system", "content": "Maths"}
    assert row["answer"] == 2


def test_a_prompt_that_was_trained_on_is_left_out_and_counted(tiny_run: Path, tmp_path: Path) -> None:
    file = write_prompts(tmp_path / "more.jsonl", "What is 1 + 1?", "What is 8 + 8?", "What is 8 + 8?")
    prompts = prompts_for(RunDir.open(tiny_run), file, limit=10)
    assert (len(prompts.rows), prompts.overlapping) == (1, 1)


def test_nothing_left_is_told(tiny_run: Path, tmp_path: Path) -> None:
    file = write_prompts(tmp_path / "more.jsonl", "What is 1 + 1?")
    with pytest.raises(UsageError, match="all 1 of them were trained on; give others with --prompts"):
        prompts_for(RunDir.open(tiny_run), file, limit=10)


def test_a_missing_file_is_told(tiny_run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no training data .*none\.jsonl|no such file"):
        prompts_for(RunDir.open(tiny_run), tmp_path / "none.jsonl", limit=10)


def test_a_chat_and_its_stored_form_have_one_key() -> None:
    said = [{"role": "user", "content": "Hi"}]
    stored = [{"content": "Hi", "role": "user", "name": None}]
    assert prompt_key(said) == prompt_key(stored)
    assert prompt_key(" Hi ") == prompt_key("Hi")
