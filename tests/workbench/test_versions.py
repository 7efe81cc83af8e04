"""Versions of reward code: kept, found, put back, and never in the way."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
from pathlib import Path

import pytest

from rewards.errors import TargetError
from rewards.rewardset import RewardSet
from rewards.targets import parse_target
from tests.workbench.tables import samples
from workbench import versions as versions_module
from workbench.scoring import score
from workbench.versions import Code, Versions, data_note, put_back, read_code, target_text

NOON = datetime.datetime(2026, 1, 2, 12, tzinfo=datetime.UTC)
REWARD = "from helper import worth\n\ndef pays(completions, **_):\n    return [worth(text) for text in completions]\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "rewards.py").write_text(REWARD)
    (tmp_path / "helper.py").write_text("def worth(text):\n    return 1.0\n")
    (tmp_path / "words.txt").write_text("yes\n")
    return tmp_path


def code_of(project: Path, target: str = "rewards.py") -> Code:
    code = read_code(parse_target(project / target))
    assert code is not None
    return code


@pytest.mark.guide("G24")
def test_every_scoring_keeps_the_code_it_ran(project: Path) -> None:
    score(project / "rewards.py", samples(["a"]), keep=True)
    (kept,) = Versions(project).all()
    assert (kept.target, sorted(kept.files)) == ("rewards.py", ["helper.py", "rewards.py"])
    assert Versions(project).read(kept)["rewards.py"] == REWARD.encode()


def test_the_same_code_is_kept_once(project: Path) -> None:
    store = Versions(project)
    first, second = store.keep(code_of(project)), store.keep(code_of(project))
    assert (first, len(store.all())) == (second, 1)
    (project / "helper.py").write_text("def worth(text):\n    return 2.0\n")
    store.keep(code_of(project))
    assert [len(version.files) for version in store.all()] == [2, 2]
    assert len(list(store.code_folder.glob("*/*"))) == 3


def test_git_does_not_see_the_folder(project: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], cwd=project, check=True)
    Versions(project).keep(code_of(project))
    seen = subprocess.run(
        ["git", "status", "--short", "-uall"], cwd=project, check=True, capture_output=True, text=True
    )
    assert ".workbench" not in seen.stdout


def test_a_project_keeps_its_manifest_and_all_files_it_names(project: Path) -> None:
    (project / "rewardset.toml").write_text('[[reward]]\nfunction = "rewards.py::pays"\nweight = 2.0\n')
    code = code_of(project, ".")
    assert (code.target, sorted(code.files)) == (
        "rewardset.toml",
        ["helper.py", "rewards.py", "rewardset.toml"],
    )


def test_numbers_count_back_from_the_present_code(project: Path) -> None:
    store = Versions(project)
    for worth in (1, 2, 3):
        (project / "helper.py").write_text(f"def worth(text):\n    return {worth}.0\n")
        store.keep(code_of(project), now=NOON)
    present = code_of(project).version
    assert b"return 2.0" in store.read(store.find("@1", present))["helper.py"]
    assert b"return 1.0" in store.read(store.find("@2", present))["helper.py"]
    assert b"return 3.0" in store.read(store.find("@1"))["helper.py"]
    assert store.find(f"@{present.id[:8]}").id == present.id


def test_a_version_that_is_not_kept_is_told_with_those_that_are(project: Path) -> None:
    store = Versions(project)
    with pytest.raises(TargetError, match="version '@1' is not kept: there are none yet in"):
        store.find("@1")
    kept = store.keep(code_of(project), now=NOON)
    assert kept is not None
    with pytest.raises(TargetError, match=rf"kept in .* are @{kept.id[:8]} \(2026-01-02 12:00\)"):
        store.find("@9")


def test_a_version_put_back_runs_with_the_data_of_today(project: Path, tmp_path: Path) -> None:
    (project / "helper.py").write_text(
        "from pathlib import Path\n\ndef worth(text):\n"
        "    return float(text in (Path(__file__).parent / 'words.txt').read_text())\n"
    )
    old = code_of(project)
    (project / "helper.py").write_text("def worth(text):\n    return 9.0\n")
    (tmp_path / "elsewhere").mkdir()
    place = put_back(old.files, tmp_path / "elsewhere", project)
    table = score(target_text(place, old.target, "pays"), samples(["yes", "no"]))
    assert table.scores[:, 0].tolist() == [1.0, 0.0]


def test_files_above_the_project_are_put_back_above_it(project: Path, tmp_path: Path) -> None:
    inner = project / "inner"
    inner.mkdir()
    (inner / "rewardset.toml").write_text('[[reward]]\nfunction = "../rewards.py::pays"\n')
    code = read_code(parse_target(inner))
    assert code is not None
    (tmp_path / "elsewhere").mkdir()
    place = put_back(code.files, tmp_path / "elsewhere", None)
    assert RewardSet.load(target_text(place, code.target, None)).names == ["pays"]


def test_a_module_of_the_project_comes_back_as_a_project(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / "graders").mkdir()
    (project / "graders" / "maths.py").write_text(
        "from graders import base\n\n" + "def m(completions, **_):\n    return [base.ONE]\n"
    )
    (project / "graders" / "base.py").write_text("ONE = 1.0\n")
    code = read_code(parse_target("graders.maths:m"))
    assert code is not None
    (tmp_path / "elsewhere").mkdir()
    place = put_back(code.files, tmp_path / "elsewhere", None)
    table = score(target_text(place, code.target, None), samples(["x"]))
    assert (table.names, table.scores.tolist()) == (["m"], [[1.0]])


def test_installed_code_has_no_version() -> None:
    assert read_code(parse_target("math_verify.grader:verify")) is None


def test_a_folder_that_cannot_be_written_is_no_trouble(project: Path) -> None:
    (project / ".workbench").write_text("a file in the way")
    assert Versions(project).keep(code_of(project)) is None
    assert score(project / "rewards.py", samples(["a"]), keep=True).totals.tolist() == [1.0]


def test_damage_is_passed_over_or_told(project: Path) -> None:
    store = Versions(project)
    kept = store.keep(code_of(project))
    assert kept is not None
    with store.list_file.open("a") as file:
        file.write('{"id": 1}\nnot json\n{"id": "x", "target": "t", "files": {"a": 3}}\n')
    assert store.all() == [kept]
    next(store.code_folder.glob("*/*")).write_bytes(b"broken")
    with pytest.raises(TargetError, match=f"version {kept.label} is damaged: "):
        store.read(kept)


def test_hostile_paths_stay_inside_the_folder(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    with pytest.raises(TargetError, match="outside its project"):
        put_back({"/etc/passwd": b""}, place, None)
    put_back({"a/../../../x.py": b"", "../ok.py": b""}, place, None)
    assert sorted(os.listdir(tmp_path)) == ["place"]


def test_the_oldest_go_when_there_are_many(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions_module, "KEPT", 4)
    store = Versions(project)
    for number in range(6):
        (project / "helper.py").write_text(f"def worth(text):\n    return {number}.0\n")
        store.keep(code_of(project))
    contents = [store.read(version)["helper.py"].decode().split()[-1] for version in store.all()]
    assert contents == ["5.0", "4.0", "3.0", "2.0"]
    assert len(list(store.code_folder.glob("*/*"))) == 5
    assert all(json.loads(line) for line in store.list_file.read_text().splitlines())


def test_each_file_of_a_folder_has_versions_of_its_own(project: Path) -> None:
    store = Versions(project)
    old = store.keep(code_of(project), now=NOON)
    (project / "other.py").write_text(
        "def counts(completions, **_):\n    return [2.0 for _ in completions]\n"
    )
    store.keep(code_of(project, "other.py"), now=NOON)
    (project / "helper.py").write_text("def worth(text):\n    return 3.0\n")
    assert old is not None
    assert store.find("@1", code_of(project).version).id == old.id
    with pytest.raises(TargetError, match=r"kept of other\.py in"):
        store.find("@1", code_of(project, "other.py").version)


def test_what_a_manifest_scored_is_a_version_of_its_file(project: Path) -> None:
    (project / "rewardset.toml").write_text('[[reward]]\nfunction = "rewards.py::pays"\n')
    store = Versions(project)
    store.keep(code_of(project, "."), now=NOON)
    (project / "helper.py").write_text("def worth(text):\n    return 3.0\n")
    found = store.find("@1", code_of(project).version)
    assert (found.target, b"return 1.0" in store.read(found)["helper.py"]) == ("rewards.py", True)


def test_data_files_that_changed_since_are_told(project: Path) -> None:
    (project / "helper.py").write_text(
        "def worth(text):\n    return float(text in open('words.txt').read())\n"
    )
    (project / "notes.md").write_text("not read")
    store = Versions(project)
    kept = store.keep(code_of(project), now=NOON)
    assert kept is not None
    assert (list(kept.data), data_note(kept, project)) == (["words.txt"], "")
    (project / "words.txt").write_text("no\n")
    note = f"{kept.label}: data files are those of now; words.txt differs from then"
    assert data_note(kept, project) == note
    store.keep(code_of(project), now=NOON)
    assert data_note(store.all()[0], project) == ""
