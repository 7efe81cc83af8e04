"""Folders with more in them than samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewards.errors import RewardWorkbenchError, SamplesError, UsageError
from workbench.opening import likely_samples
from workbench.samples import read_samples
from workbench.samples.folders import choose_files

ROW = '{"prompt": "p", "completion": "a"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "labels.jsonl").write_text('{"prompt": "p", "completion": "a", "label": "right"}\n')
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "loss": 0.5}\n')
    (tmp_path / "a_empty.jsonl").write_text("")
    (tmp_path / "rows.jsonl").write_text(ROW * 2)
    return tmp_path


def test_a_missing_file_is_answered_with_the_one_that_is_near(folder: Path) -> None:
    with pytest.raises(SamplesError, match=r"there is no samples file .*; did you mean 'rows\.jsonl'\?"):
        read_samples([folder / "rowss.jsonl"])


def test_a_column_to_change_that_no_row_has_is_told(folder: Path) -> None:
    mapping = {"foo": "prompt"}
    assert len(read_samples([folder / "rows.jsonl"], columns=mapping)) == 2
    with pytest.raises(
        UsageError, match="columns foo=prompt: no row has a column 'foo'; the columns are prompt, "
    ):
        read_samples([folder / "rows.jsonl"], columns=mapping, named=mapping)


def test_the_columns_told_are_all_that_rows_have(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"prompt": "p", "completion": "a", "answer": "4", "label": "right"}\n')
    for source, target in (("bogus", "prompt"), ("prompt", "foo")):
        mapping = {source: target}
        with pytest.raises(RewardWorkbenchError, match=r"the columns are .*completion, answer, label"):
            read_samples([tmp_path / "s.jsonl"], columns=mapping, named=mapping)


def test_rows_without_any_column_are_told(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("{}\n{}\n")
    with pytest.raises(SamplesError, match=r"no `completion` column: its rows are empty objects, `\{\}`$"):
        read_samples([tmp_path / "s.jsonl"])


def test_only_files_with_rows_are_read_and_the_others_are_named(folder: Path) -> None:
    samples = read_samples([folder])
    assert (len(samples), samples.sources, samples.skipped) == (2, [folder / "rows.jsonl"], [])
    assert samples.notes == [f"{folder}: not read as samples: a_empty.jsonl, labels.jsonl, metrics.jsonl"]


def test_labels_alone_are_samples(folder: Path) -> None:
    (folder / "rows.jsonl").unlink()
    assert read_samples([folder]).labels == ["right"]


def test_a_table_of_something_else_does_not_hide_the_rows(folder: Path) -> None:
    (folder / "results.jsonl").write_text('{"score": 1}\n')
    assert read_samples([folder]).sources == [folder / "rows.jsonl"]


def test_a_folder_without_any_row_says_what_is_wrong_with_its_first_file(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\n')
    with pytest.raises(SamplesError, match=r"metrics\.jsonl: no `prompt` and no `completion` column"):
        read_samples([tmp_path])


def test_a_file_is_proposed_only_if_it_has_rows(folder: Path) -> None:
    assert likely_samples(folder) == folder / "rows.jsonl"
    (folder / "broken_samples.jsonl").write_bytes(b"\xff\xfe{")
    assert likely_samples(folder) == folder / "rows.jsonl"
    (folder / "rows.jsonl").unlink()
    assert likely_samples(folder) is None


def test_of_a_numbered_series_one_is_looked_into(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"part_{number}.jsonl").write_text(ROW)
    looked: list[str] = []
    chosen = choose_files(tmp_path, lambda file: looked.append(file.name) is None)
    assert (len(chosen.files), looked) == (5, ["part_0.jsonl"])
