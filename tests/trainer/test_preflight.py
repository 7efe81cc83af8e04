"""Preflight: five computed sections and a verdict; nothing is trained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainer.job import Request
from trainer.preflight import Preflight, dead_probability, preflight, read_groups


def examine(project: Path, *sets: str, samples: tuple[Path, ...] = ()) -> Preflight:
    return preflight(Request(str(project), sets=sets), samples)


def section(report: Preflight, title: str) -> Any:
    return next(part for part in report.sections if part.title == title)


@pytest.mark.guide("G21")
def test_the_report_computes_data_lengths_memory_signal_seal_and_settings(project: Path) -> None:
    report = examine(project)
    titles = [part.title for part in report.sections]
    assert titles == ["data", "prompt length", "model and memory", "signal", "seal", "settings"]
    text = report.to_text()
    assert "train.jsonl: 16 training rows, 4 held out by prompt" in text
    assert "tokens of a prompt, chat template included: median" in text
    assert "memory, estimated:" in text
    assert "learning_rate = 0.002" in text
    assert "report_to=none" in text
    assert text.endswith("verdict: think again")
    assert report.exit_code == 0
    assert not (project / "runs").exists()


def test_a_sealed_set_with_nothing_to_worry_about_is_a_go(sealed_project: Path) -> None:
    report = examine(sealed_project)
    assert (report.verdict, report.exit_code) == ("go", 0)


def test_duplicates_empty_answers_and_skipped_rows_are_worries(project: Path) -> None:
    rows = [*[{"prompt": "same", "answer": 1}] * 10, {"prompt": "other", "answer": None}, {"prompt": ""}]
    (project / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    worries = [why for _, why in section(examine(project, "data.holdout=0"), "data").worries]
    assert worries == [
        "1 rows are left out: train.jsonl, row 12: the prompt is empty",
        "9 of 11 rows repeat a prompt",
        "column 'answer' is empty in 1 of 11 rows",
        "nothing is held out: [data] holdout = 0.1 lets `compare` prove something",
    ]


def test_prompts_over_the_limit_end_in_no(project: Path) -> None:
    report = examine(project, "max_prompt_length=5")
    assert (report.verdict, report.exit_code) == ("no", 1)
    assert "no: every prompt is longer than max_prompt_length=5" in report.to_text()


def test_prompt_and_completion_beyond_the_context_end_in_no(project: Path) -> None:
    report = examine(project, "max_completion_length=5000")
    assert "exceed the model's context of" in report.to_text()
    assert report.exit_code == 1


def task_file(folder: Path, replies: list[str]) -> Path:
    path = folder / "samples.jsonl"
    row = {"prompt": "What is 1 + 1?", "answer": 2, "samples": [{"completion": text} for text in replies]}
    path.write_text(json.dumps(row) + "\n")
    return path


@pytest.mark.guide("G1")
def test_samples_without_any_spread_end_in_no(project: Path) -> None:
    chat = [{"role": "user", "content": "What is 1 + 1?"}]
    row = {"prompt": chat, "answer": 2, "samples": [{"completion": "no"}] * 8}
    (project / "s.jsonl").write_text(json.dumps(row) + "\n")
    report = examine(project, samples=(project / "s.jsonl",))
    assert "there is next to nothing to learn: 100% of the groups would have no spread" in report.to_text()
    assert report.verdict == "no"


@pytest.mark.guide("G1")
def test_samples_with_spread_are_a_signal(project: Path) -> None:
    chat = [{"role": "user", "content": "What is 1 + 1?"}]
    row = {
        "prompt": chat,
        "answer": 2,
        "samples": [{"completion": text} for text in ("2", "no", "<answer>2", "x")],
    }
    (project / "s.jsonl").write_text(json.dumps(row) + "\n")
    text = "\n".join(section(examine(project, samples=(project / "s.jsonl",)), "signal").lines)
    assert "4 completions of 1 prompts" in text
    assert "a group of 4 would have no spread with probability 0.00" in text


def test_dead_groups_are_estimated_without_bias() -> None:
    assert dead_probability([1.0] * 8, 4) == 1.0
    assert dead_probability([0.0] * 4 + [1.0] * 4, 4) == pytest.approx(2 / 70)
    assert dead_probability([0.0, 1.0], 4) == pytest.approx(2 / 16)
    assert dead_probability([1.0], 4) == 1.0


def test_single_completions_make_no_group(tmp_path: Path) -> None:
    assert read_groups([task_file(tmp_path, ["2"])], {"answer"}) is None
    batch = read_groups([task_file(tmp_path, ["2", "3"])], {"answer"})
    assert batch is not None
    assert (batch.completions, batch.columns) == (["2", "3"], {"answer": [2, 2]})
