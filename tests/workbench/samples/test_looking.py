from __future__ import annotations

from pathlib import Path

import pytest

from rewards.errors import SamplesError
from workbench.samples.looking import look_at


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "rows.csv"
    file.write_text("question,output,answer\n1+1?,2,2\n1+1?,3,2\n")
    return file


def test_columns_with_usual_names_are_guessed_and_said(table: Path) -> None:
    look = look_at(table)
    assert (look.container, look.shape, look.guessed) == ("CSV", "flat", True)
    assert look.columns == {"question": "prompt", "output": "completion"}
    assert look.samples is not None
    assert (len(look.samples), list(look.samples.columns)) == (2, ["answer"])


def test_columns_that_were_said_are_taken_as_they_are(table: Path) -> None:
    look = look_at(table, {"question": "prompt"})
    assert (look.samples, look.guessed) == (None, False)
    assert "no `completion` column" in look.why
    assert look_at(table, {"question": "prompt", "answer": "completion"}).samples is not None


def test_a_file_that_is_read_as_it_is_needs_no_guess(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"prompt": "p", "completion": "c", "output": "x"}\n')
    look = look_at(tmp_path)
    assert (look.columns, look.guessed, [file.name for file in look.files]) == ({}, False, ["s.jsonl"])


@pytest.mark.parametrize("content", [b"\x00\x01\x02", b"", b"just words"])
def test_a_file_of_no_format_says_why(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "odd.bin").write_bytes(content)
    look = look_at(tmp_path / "odd.bin")
    assert look.samples is None
    assert look.why


def test_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SamplesError, match="there is no samples file"):
        look_at(tmp_path / "nowhere.jsonl")
