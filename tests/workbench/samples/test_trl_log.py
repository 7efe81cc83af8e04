"""TRL's completions logs: both generations, one file or the folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.workbench.samples.conftest import Write
from workbench.samples import read_samples


@pytest.mark.parametrize(("release", "chat"), [("trl_1.14", False), ("trl_1.16", True)])
def test_both_generations_are_read_from_the_folder(formats: Path, release: str, chat: bool) -> None:
    samples = read_samples([formats / release / "completions"])
    assert len(samples) == 8
    assert samples.chat is chat
    assert samples.steps == [2] * 4 + [4] * 4


def test_one_file_and_the_folder_of_the_run_are_read_too(formats: Path) -> None:
    assert len(read_samples([formats / "trl_1.16" / "completions" / "completions_00004.parquet"])) == 4
    assert len(read_samples([formats / "trl_1.16"])) == 8


def test_what_the_run_scored_is_kept_aside_and_what_log_extra_added_stays_a_column(formats: Path) -> None:
    samples = read_samples([formats / "trl_1.16"])
    assert list(samples.columns) == ["extracted_answer"]
    assert set(samples.recorded) == {"length_reward", "digit_reward", "sometimes_none", "advantage"}
    assert samples.recorded["length_reward"][0] == pytest.approx(0.67)
    assert None in samples.recorded["sometimes_none"]


def test_rows_of_one_prompt_in_one_step_are_a_group(formats: Path) -> None:
    samples = read_samples([formats / "trl_real_messages"])
    assert len(set(samples.groups)) == 200
    assert samples.groups[0] != samples.groups[300]
    assert samples.prompts[0] == samples.prompts[300]


def test_each_step_is_a_call_of_its_own(formats: Path) -> None:
    samples = read_samples([formats / "trl_real_text"])
    assert [len(rows) for rows in samples.step_rows()] == [300, 300]
    assert [batch.completions[0] for batch in samples.step_batches()] == [
        samples.completions[0],
        samples.completions[300],
    ]


def test_a_column_that_data_columns_names_is_never_kept_aside(formats: Path) -> None:
    samples = read_samples([formats / "trl_1.16"], columns={"digit_reward": "answer", "step": "step"})
    assert "answer" in samples.columns
    assert samples.columns["step"] == samples.steps


def test_files_of_a_folder_are_read_in_the_order_of_their_numbers(formats: Path, tmp_path: Path) -> None:
    source = formats / "trl_1.16" / "completions" / "completions_00002.parquet"
    for name in ("completions_10.parquet", "completions_9.parquet"):
        (tmp_path / name).write_bytes(source.read_bytes())
    assert [path.name for path in read_samples([tmp_path]).sources] == [
        "completions_9.parquet",
        "completions_10.parquet",
    ]


def row(completion: str, correct: Any, advantage: Any, **more: Any) -> dict[str, Any]:
    return {
        "step": 1,
        "prompt": "p",
        "completion": completion,
        "correct": correct,
        **more,
        "advantage": advantage,
    }


def test_whole_numbers_and_numeric_text_are_scores_too(write: Write) -> None:
    whole = read_samples([write("i.jsonl", row("a", 1, 0.5), row("b", 0, -0.5), row("c", None, 0.0))])
    table = read_samples(
        [write("c.csv", ",step,prompt,completion,correct,advantage", "7,1,p,a,1.0,.5", "8,1,p,b,,0")]
    )
    assert (whole.recorded["correct"], list(whole.columns)) == ([1.0, 0.0, None], [])
    assert (table.recorded["correct"], table.recorded["advantage"]) == ([1.0, None], [0.5, 0.0])
    assert list(table.columns) == [""]  # what stands before the completion is no reward


def test_a_guess_which_columns_are_rewards_is_told(write: Write) -> None:
    file = write("i.jsonl", row("a", 1.0, 0.5, measure=3.5, note="x"))
    samples = read_samples([file])
    assert list(samples.columns) == ["note"]
    assert samples.notes == [
        f"{file}: taken for scores of the run and kept from rewards: correct, measure (the number columns right after "
        "`completion`; `[data] columns` makes one a column: name = name)"
    ]
    kept = read_samples([file], columns={"measure": "measure"})
    assert set(kept.columns) == {"measure", "note"}


@pytest.mark.parametrize("named_by", ["attached.json", "checkpoint-5/trainer_state.json"])
def test_the_folder_of_a_run_says_which_columns_are_rewards(write: Write, named_by: str) -> None:
    facts = {"weights": {"correct": 1.0}, "log_history": [{"rewards/correct/mean": 0.5, "step": 5}]}
    write(
        named_by,
        json.dumps({key: facts[key] for key in facts if (key == "weights") == ("attached" in named_by)}),
    )
    samples = read_samples(
        [write("completions/c.jsonl", row("a", 1.0, 0.5, measure=3.5), row("b", 0.0, -0.5, measure=1.5))]
    )
    assert samples.columns == {"measure": [3.5, 1.5]}
    assert samples.notes == []


def test_two_groups_of_one_prompt_in_a_step_are_told_apart_by_their_advantages(write: Write) -> None:
    first = [row(f"a{at}", float(at % 2), at % 2 - 0.5) for at in range(4)]
    second = [row(f"b{at}", 0.0, 0.0) for at in range(4)]
    groups = read_samples([write("twice.jsonl", *first, *second)]).groups
    assert len(set(groups)) == 2
    assert groups == [groups[0]] * 4 + [groups[4]] * 4
    alike = [row(f"a{at}", float(at % 2), at % 2 - 0.5) for at in range(8)]
    assert len(set(read_samples([write("once.jsonl", *alike)]).groups)) == 1


def test_a_run_of_rows_that_is_twice_as_long_as_the_others_is_two_groups(write: Write) -> None:
    rows = [{**row(f"c{at}", 0.0, 0.0), "prompt": f"p{at // 4}"} for at in range(12)]
    again = [row(f"d{at}", 0.0, 0.0) for at in range(8)]
    groups = read_samples([write("log.jsonl", *rows, *again)]).groups
    assert [groups.count(name) for name in dict.fromkeys(groups)] == [4] * 5
