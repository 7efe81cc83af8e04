"""Preflight: five computed sections and a verdict; nothing is trained."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rewards.errors import UsageError
from tests.trainer.batches import scored
from trainer.job import Request
from trainer.preflight.report import Preflight, preflight
from trainer.preflight.sampled_signal import (
    Solved,
    forecast,
    parse_bounds,
    prompt_key,
    read_groups,
    success,
    write_filtered,
)


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


def sampled(project: Path, *replies: list[str]) -> Path:
    """Samples of as many prompts as there are lists of replies."""
    path = project / "s.jsonl"
    rows = [
        {
            "prompt": [{"role": "user", "content": f"What is {number} + 1?"}],
            "answer": number + 1,
            "samples": [{"completion": text} for text in texts],
        }
        for number, texts in enumerate(replies)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.guide("G1")
def test_samples_without_any_spread_end_in_no(project: Path) -> None:
    report = examine(project, samples=(sampled(project, *[["no"] * 8] * 16),))
    assert (
        "no: there is next to nothing to learn: 100% of the groups would have no spread "
        "(interval 81% to 100%, 16 prompts)" in report.to_text()
    )
    assert report.verdict == "no"


def test_a_few_prompts_without_spread_are_no_ground_for_a_no(project: Path) -> None:
    report = examine(project, samples=(sampled(project, ["no"] * 8, ["no"] * 8),))
    assert (
        "think again: 100% of the groups would have no spread (interval 34% to 100%, 2 prompts)"
        in report.to_text()
    )
    assert report.verdict == "think again"


@pytest.mark.guide("G1")
def test_samples_with_spread_are_a_signal(project: Path) -> None:
    file = sampled(project, ["1", "no", "<answer>1", "x"])
    text = "\n".join(section(examine(project, samples=(file,)), "signal").lines)
    assert "4 completions of 1 prompts" in text
    assert (
        "a group of 4 would have no spread with probability 0.00 (95 % interval 0.00 to 0.79, from 1 prompts)"
        in text
    )


def test_groups_larger_than_the_samples_are_not_foretold(project: Path) -> None:
    report = examine(project, samples=(sampled(project, *[["no"] * 3] * 40),))
    lines, worries = section(report, "signal").lines, section(report, "signal").worries
    assert "groups of 4 are not foretold: no prompt has 4 scored completions" in lines[1]
    assert "a group of 3 would have no spread with probability 1.00" in lines[2]
    assert worries == []


def test_dead_groups_are_foretold_without_bias() -> None:
    draws = np.random.default_rng(0).random((4000, 8)) < 0.1
    batch = scored([[float(value)] for value in draws.ravel()], group=8)
    assert forecast(batch, 8).dead == pytest.approx(0.43, abs=0.02)
    few = forecast(scored([[float(value)] for value in draws[:, :2].ravel()], group=2), 8)
    assert (few.size, few.planned) == (2, False)


def test_dead_groups_are_those_of_what_the_trainer_ranks_by() -> None:
    rows = [
        [1.0, 0.0],
        [0.0, 1.0],
        [0.0, 1.0],
        [0.0, 1.0],
    ]  # one total, two kinds of answer: told apart or not
    assert forecast(scored(rows, names=("a", "b")), 4).dead == 1.0
    apart = scored(rows, names=("a", "b"), weights=[1.0, 0.5], aggregation="normalize_then_sum")
    assert forecast(apart, 4).dead == 0.0
    level = scored(rows, names=("a", "b"), aggregation="normalize_then_sum")
    assert forecast(level, 4).dead == 1.0


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
    assert any(
        "100% of the groups would have no spread" in why for _, why in layout.worries
    )  # none has a tag
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
    replies = [["no"] * 40, ["{}"] * 40, ["{}", "no", "no", "no"]]  # never, always, sometimes
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
    assert success(job, batch) == {prompt_key("a"): Solved(1, 1), prompt_key("b"): Solved(1, 2)}


def test_a_prompt_is_left_out_only_where_its_samples_are_enough_to_say_so(tmp_path: Path) -> None:
    rows = [{"prompt": name} for name in ("never of 8", "never of 36", "always of 36", "half")]
    counts = [Solved(0, 8), Solved(0, 36), Solved(36, 36), Solved(4, 8)]
    solved = {prompt_key(row["prompt"]): one for row, one in zip(rows, counts, strict=True)}
    done = write_filtered(rows, [], solved, (0.1, 0.9), tmp_path / "kept.jsonl")
    assert (done.kept, done.too_hard, done.too_easy, done.undecided) == (1, 1, 1, 1)
    assert done.lines()[2] == (
        "outside on too few samples to be sure of it, and kept: 1, which takes 36 or more where all fail or all succeed"
    )
    assert [json.loads(line)["prompt"] for line in (tmp_path / "kept.jsonl").read_text().splitlines()] == [
        "never of 8",
        "half",
    ]
