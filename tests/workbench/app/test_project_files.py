from __future__ import annotations

import os
from pathlib import Path

import pytest

from rewards.errors import RewardWorkbenchError, TargetError, UsageError
from rewards.targets import parse_target
from workbench.app.project_files import mirror, open_project, read_source, save_source


def test_a_project_opens_with_the_files_its_rewards_are_in_first(project: Path) -> None:
    (project / "a_helper.py").write_text("x = 1\n")
    opened = open_project(project)
    assert opened.files == ("rewards.py", "a_helper.py")
    assert opened.name == "sums"
    assert opened.samples == (project / "samples.jsonl",)


def test_a_single_reward_of_a_file_opens_the_file(project: Path, tmp_path: Path) -> None:
    opened = open_project(f"{project}/rewards.py::correct")
    assert (opened.root, opened.files) == (project, ("rewards.py",))
    assert opened.in_mirror(tmp_path / "m") == f"{tmp_path}/m/rewards.py::correct"


def test_an_importable_module_opens_as_its_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    assert open_project("json.decoder:scanstring").files == ("decoder.py",)
    (project / "mine.py").write_text("")
    assert open_project("mine:correct").root == project


def test_a_manifest_without_python_files_says_so(tmp_path: Path) -> None:
    (tmp_path / "rewardset.toml").write_text('[[reward]]\nfunction = "json:dumps"\n')
    with pytest.raises(TargetError, match="names no Python file"):
        open_project(tmp_path)


def test_a_file_outside_the_project_is_not_edited(project: Path) -> None:
    opened = open_project(project)
    for name in ("../secret.py", "/etc/passwd", "rewardset.toml", ""):
        with pytest.raises(UsageError, match="is not a file of this project"):
            opened.path(name)


def test_a_mirror_holds_the_draft_and_links_to_the_rest(project: Path, tmp_path: Path) -> None:
    (project / "data").mkdir()
    folder = tmp_path / "m"
    mirror(project, {"rewards.py": "draft"}, folder)
    assert (folder / "rewards.py").read_text() == "draft"
    assert (folder / "samples.jsonl").resolve() == project / "samples.jsonl"
    assert (folder / "data").is_symlink()
    assert parse_target(folder).root == folder
    assert "def shaped" in (project / "rewards.py").read_text()


def test_a_mirror_reaches_into_subfolders(project: Path, tmp_path: Path) -> None:
    (project / "src").mkdir()
    (project / "src" / "r.py").write_text("old")
    (project / "src" / "h.py").write_text("helper")
    mirror(project, {"src/r.py": "new"}, tmp_path / "m")
    assert (tmp_path / "m/src/r.py").read_text() == "new"
    assert (tmp_path / "m/src/h.py").is_symlink()
    assert (project / "src/r.py").read_text() == "old"


def test_line_ends_stay_as_they_are_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "r.py"
    path.write_bytes(b"a = 1\r\nb = 2\r\n")
    assert read_source(path) == "a = 1\nb = 2\n"
    save_source(path, "a = 3\n")
    assert path.read_bytes() == b"a = 3\r\n"


def test_saving_keeps_mode_and_follows_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    save_source(link, "new")
    assert link.is_symlink()
    assert (real.read_text(), real.stat().st_mode & 0o777) == ("new", 0o640)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.py"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RewardWorkbenchError, match="No space left on device; the old file is unchanged"):
        save_source(path, "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["r.py"]
    assert path.read_text() == "old"


def test_a_file_that_is_no_text_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "r.py"
    path.write_bytes(b"x = '\xff'")
    with pytest.raises(UsageError, match=r"r\.py is not UTF-8 text \(byte 5\)"):
        read_source(path)
