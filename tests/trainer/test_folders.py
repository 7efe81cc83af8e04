"""Folders that are there whole or not at all."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from rewards.errors import UsageError
from trainer.models.folders import ABANDONED_S, folder_written_whole, replace_folder, temporary_beside


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    def interrupted() -> None:
        with folder_written_whole(tmp_path / "model", otherwise="") as folder:
            (folder / "half").write_text("")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert names(tmp_path) == []


def test_the_first_of_two_that_write_at_once_wins(tmp_path: Path) -> None:
    with folder_written_whole(tmp_path / "model", otherwise="") as mine:
        (mine / "a").write_text("mine")
        with folder_written_whole(tmp_path / "model", otherwise="") as theirs:
            (theirs / "a").write_text("theirs")
    assert (tmp_path / "model" / "a").read_text() == "theirs"
    assert names(tmp_path) == ["model"]


def test_a_full_disk_is_told_in_one_sentence(tmp_path: Path) -> None:
    def full() -> None:
        with folder_written_whole(tmp_path / "model", otherwise="give another place"):
            raise OSError(28, "No space left on device")

    with pytest.raises(
        UsageError, match="model cannot be written: No space left on device; give another place"
    ):
        full()
    assert names(tmp_path) == []


def test_what_a_killed_process_left_is_cleared_away_after_a_day(tmp_path: Path) -> None:
    for name, age in ((".model-old", ABANDONED_S + 60), (".model-new", 60)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - age, time.time() - age))
    with temporary_beside(tmp_path / "model", otherwise=""):
        pass
    assert names(tmp_path) == [".model-new"]


def test_a_folder_that_is_replaced_goes_once_the_new_one_stands(tmp_path: Path) -> None:
    for name in ("model", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text("")
    replace_folder(tmp_path / "new", tmp_path / "model")
    assert (names(tmp_path), names(tmp_path / "model")) == (["model"], ["new"])


def test_a_folder_that_cannot_be_replaced_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.rename

    def refuse(source: Path, target: Path) -> None:
        if Path(source).name == "new":
            raise OSError("no")
        real(source, target)

    for name in ("model", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text("")
    monkeypatch.setattr("trainer.models.folders.os.rename", refuse)
    with pytest.raises(OSError, match="no"):
        replace_folder(tmp_path / "new", tmp_path / "model")
    assert names(tmp_path / "model") == ["model"]


def test_everybody_can_read_the_finished_folder(tmp_path: Path) -> None:
    with folder_written_whole(tmp_path / "model", otherwise="") as folder:
        (folder / "weights").write_text("")
        (folder / "weights").chmod(0o600)
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "model" / "weights").stat().st_mode & 0o777 == 0o644
