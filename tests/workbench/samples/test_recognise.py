"""Which format a file is in, also where its name says nothing, and what is read of a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rewards.errors import SamplesError
from workbench.samples import read_samples

GOOD = json.dumps({"prompt": "p", "completion": "c"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.txt", f"{GOOD}\n{GOOD}\n"),
        ("s", f"[{GOOD},\n {GOOD}]"),
        ("s.log", f"{GOOD}\n{GOOD}"),
        ("s.txt", "prompt;completion\np;c\np;c\n"),
        ("S.JSONL", f"{GOOD}\n{GOOD}\n"),
    ],
)
def test_the_content_decides_where_the_name_does_not(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert len(read_samples([path])) == 2


def test_a_parquet_file_under_any_name_is_known_by_its_first_bytes(formats: Path, tmp_path: Path) -> None:
    source = formats / "trl_1.16" / "completions" / "completions_00002.parquet"
    (tmp_path / "log.bin").write_bytes(source.read_bytes())
    assert len(read_samples([tmp_path / "log.bin"])) == 4


def test_a_file_of_no_known_format_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(SamplesError, match=r"picture\.png: in no format that can be read \(Parquet, "):
        read_samples([tmp_path / "picture.png"])


def test_a_folder_without_samples_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SamplesError, match="holds no samples"):
        read_samples([tmp_path])


def test_a_folder_of_jsonl_files_is_read_whole(write, tmp_path: Path) -> None:
    write("2.jsonl", GOOD)
    write("10.jsonl", GOOD)
    assert [path.name for path in read_samples([tmp_path]).sources] == ["2.jsonl", "10.jsonl"]
