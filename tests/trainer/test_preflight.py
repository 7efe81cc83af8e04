"""Preflight: five computed sections and a verdict; nothing is trained."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rewards.errors import UsageError
from tests.trainer.batches import scored
from trainer.job import Request
from trainer.preflight.report import Preflight, preflight
from trainer.preflight.sampled_signal import dead_probability, parse_bounds, prompt_key, read_groups, success


def examine(project: Path, *sets: str, samples: tuple[Path, ...] = ()) -> Preflight:
    return preflight(Request(str(project), sets=sets), samples)


def section(report: Preflight, title: str) -> Any:
    return next(part for part in report.sections if part.title == title)


@pytest.mark.guide("G21")
def test_the_report_computes_data_lengths_memory_signal_seal_and_settings(project: Path) -> None:
    report = examine(project)
    titles = [part.title for part in report.sections]
    assert titles == [
        "data", "prompt length", "model and memory", "signal", "merge", "seal", "settings",
    ]  # fmt: skip
    text = report.to_text()
    assert "train.jsonl: 16 training rows, 4 held out by prompt" in text
    assert "tokens of a prompt, chat template included: median" in text
    assert "memory, estimated:" in text
    assert "learning_rate = 0.002" in text
    assert "a GPU of 8 GB would hold it with room to spare" in text
    assert "merged into float32: nothing of the change is lost to rounding" in text
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


STAGES = """
[[train.stage]]
name = "layout"
rewards = ["tagged"]
max_steps = 2

[[train.stage]]
name = "answers"
rewards = ["right"]
weights = { right = 0.0 }
where = { answer = [0, 1, 2, 3] }
max_completion_length = 5000
max_steps = 3
"""


def test_every_stage_is_examined(project: Path) -> None:
    (project / "rewardset.toml").write_text((project / "rewardset.toml").read_text() + STAGES)
    chat = [{"role": "user", "content": "What is 1 + 1?"}]
    row = {"prompt": chat, "answer": 2, "samples": [{"completion": text} for text in ("2", "no", "2", "no")]}
    (project / "s.jsonl").write_text(json.dumps(row) + "\n")
    report = examine(project, samples=(project / "s.jsonl",))
    layout, answers = (section(report, f"stage '{name}': signal") for name in ("layout", "answers"))
    assert any("there is next to nothing to learn" in why for _, why in layout.worries)  # none has a tag
    assert any("mean total 0.000" in line for line in answers.lines)  # the stage's weight, 0, is what counts
    rows = section(report, "stage 'answers': rows")
    assert rows.worries == [("no", "every reward of this stage has weight 0: nothing is trained on")]
    assert "of 16 training rows (answer = [0, 1, 2, 3])" in rows.lines[0]
    assert any(
        "exceed the model's context" in why
        for _, why in section(report, "stage 'answers': prompt length").worries
    )
    assert "max_completion_length = 5000" in section(report, "stage 'answers': settings").lines
    assert "max_completion_length = 6" in section(report, "stage 'layout': settings").lines


def test_prompts_that_are_always_or_never_solved_are_left_out(project: Path) -> None:
    rows = [json.loads(line) for line in (project / "train.jsonl").read_text().splitlines()]
    replies = [["no"] * 4, ["{}"] * 4, ["{}", "no", "no", "no"]]  # never, always, sometimes
    samples = [
        {
            "prompt": [{"role": "user", "content": row["prompt"]}],
            "answer": row["answer"],
            "samples": [{"completion": text.format(row["answer"])} for text in replies[number % 3]],
        }
        for number, row in enumerate(rows[:12])
    ]
    (project / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in samples))
    report = preflight(Request(str(project)), (project / "s.jsonl",), keep=(0.1, 0.9))
    lines = section(report, "filtered data").lines
    written = [json.loads(line) for line in (project / "train.filtered.jsonl").read_text().splitlines()]
    counts = [int(number) for number in re.findall(r"(\d+) kept; below: (\d+), above: (\d+)", lines[1])[0]]
    unmeasured = int(re.findall(r"; (\d+) without samples kept", lines[1])[0])
    assert sum(counts) + unmeasured == 16
    assert min(counts) > 0
    assert len(written) == counts[0] + unmeasured + 4  # the four held out are all there
    assert "[data] train = 'train.filtered.jsonl'" in lines[2]


def test_filtering_needs_samples_of_the_prompts(project: Path) -> None:
    with pytest.raises(UsageError, match="which `dry-run` makes"):
        preflight(Request(str(project)), keep=(0.1, 0.9))


@pytest.mark.parametrize("text", ["0.1", "a,b", "0.9,0.1", "-1,0.5", "0,1,2"])
def test_bounds_that_are_none_are_one_sentence(text: str) -> None:
    with pytest.raises(UsageError, match="must be two shares LO,HI from 0 to 1"):
        parse_bounds(text)
    assert parse_bounds("0.1, 0.9") == (0.1, 0.9)


def test_samples_that_could_not_be_scored_do_not_make_a_prompt_too_hard() -> None:
    entry = SimpleNamespace(kind="correctness", range=(0.0, 1.0))
    job: Any = SimpleNamespace(description=SimpleNamespace(reward=lambda name: SimpleNamespace(entry=entry)))
    batch = replace(scored([[1.0], [None], [0.0], [1.0], [None]]), prompts=["a", "a", "b", "b", "c"])
    assert success(job, batch) == {prompt_key("a"): 1.0, prompt_key("b"): 0.5}
