"""The one place where known errors become a line and an exit code."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

from tests.workbench.cli.command import run, sentence
from workbench.cli import main as face


def ending(monkeypatch: pytest.MonkeyPatch, error: OSError) -> int | str | None:
    """The exit code of a command that raises this error."""

    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(face, "_register", lambda: None)
    monkeypatch.setattr(face, "app", fail)
    with pytest.raises(SystemExit) as caught:
        face.main()
    return caught.value.code


@pytest.mark.parametrize(
    "number",
    [errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP],
    ids=errno.errorcode.get,
)
def test_a_path_that_cannot_be_used_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    assert ending(monkeypatch, OSError(number, os.strerror(number), "in/s.jsonl")) == 2
    said = capsys.readouterr().err
    assert said == f"error: in/s.jsonl cannot be read or written: {os.strerror(number)}\n"


def test_a_missing_folder_for_temporary_files_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "gone")])
    with pytest.raises(FileNotFoundError) as caught:
        tempfile._get_default_tempdir()  # type: ignore[attr-defined]
    assert ending(monkeypatch, caught.value) == 2
    said = capsys.readouterr().err
    assert said == "error: there is no folder for temporary files that can be written; set TMPDIR to one\n"


def test_any_other_fault_of_a_file_is_ours_and_shows_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(face, "_register", lambda: None)

    def fail(**_: object) -> None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "gone")

    monkeypatch.setattr(face, "app", fail)
    with pytest.raises(FileNotFoundError):
        face.main()


def test_a_name_too_long_for_a_file_is_one_short_line(tmp_path: Path) -> None:
    done = run("score", "x" * 300 + ".py", cwd=tmp_path)
    assert (done.code, "File name too long" in sentence(done)) == (2, True)
    assert len(done.err) < 300
