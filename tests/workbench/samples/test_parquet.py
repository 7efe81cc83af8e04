"""Parquet: types are kept, damage is told."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rewards.errors import SamplesError
from workbench.samples import read_samples


def parquet(path: Path, columns: dict[str, Any]) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_numbers_lists_and_missing_values_keep_their_types(tmp_path: Path) -> None:
    columns = {
        "prompt": ["p", "q"],
        "completion": ["c", "d"],
        "answer": [18, None],
        "tests": [["a"], ["b", "c"]],
    }
    samples = read_samples([parquet(tmp_path / "s.parquet", columns)])
    assert samples.columns == {"answer": [18, None], "tests": [["a"], ["b", "c"]]}


def test_nan_is_a_missing_value(tmp_path: Path) -> None:
    path = parquet(tmp_path / "s.parquet", {"prompt": ["p"], "completion": ["c"], "answer": [float("nan")]})
    assert read_samples([path]).columns["answer"] == [None]


def test_a_null_completion_is_told_with_its_row(tmp_path: Path) -> None:
    samples = read_samples(
        [parquet(tmp_path / "s.parquet", {"prompt": ["p", "q"], "completion": ["c", None]})]
    )
    assert [(skip.line, skip.why) for skip in samples.skipped] == [
        (2, "`completion` is null, not a text or a list of chat messages")
    ]


def test_a_damaged_file_is_one_sentence(tmp_path: Path) -> None:
    path = parquet(tmp_path / "s.parquet", {"prompt": ["p"], "completion": ["c"]})
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(
        SamplesError, match=r"no sample could be read: .*s\.parquet: damaged Parquet file \(.*\)$"
    ):
        read_samples([path])


def test_a_file_without_the_columns_offers_the_likely_ones(tmp_path: Path) -> None:
    path = parquet(tmp_path / "s.parquet", {"question": ["p"], "generated_text": ["c"]})
    with pytest.raises(SamplesError, match='generated_text = "completion"'):
        read_samples([path])


def test_dates_times_and_decimals_are_read_as_json_has_them(tmp_path: Path) -> None:
    columns = {
        "prompt": ["p"], "completion": ["c"], "at": [datetime(2024, 1, 2, 3, 4, tzinfo=UTC)],
        "inside": [{"days": [date(2024, 1, 2)], "nan": float("nan")}], "price": [Decimal("1.50")],
    }  # fmt: skip
    samples = read_samples([parquet(tmp_path / "s.parquet", columns)])
    assert {name: values[0] for name, values in samples.columns.items()} == {
        "at": "2024-01-02T03:04:00+00:00", "inside": {"days": ["2024-01-02"], "nan": None}, "price": 1.5,
    }  # fmt: skip


def test_a_file_with_two_columns_of_one_name_is_refused(tmp_path: Path) -> None:
    names = ["prompt", "completion", "completion"]
    pq.write_table(pa.Table.from_arrays([pa.array(["p"])] * 3, names=names), tmp_path / "s.parquet")
    with pytest.raises(SamplesError, match="2 columns are called 'completion'; rename them"):
        read_samples([tmp_path / "s.parquet"])
