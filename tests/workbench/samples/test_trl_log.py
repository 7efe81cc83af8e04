"""TRL's completions logs: both generations, one file or the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

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
