"""`reward-workbench init`, run as a user would."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workbench.cli.command import run, sentence

ROWS = {"gsm8k": 295, "arithmetic": 84, "code": 112, "json": 126, "qa": 126, "summary": 126}
REWARDS = "def layout_reward(completions, **kwargs):\n    return [1.0 for _ in completions]\n"


@pytest.mark.guide("G28")
@pytest.mark.parametrize(("template", "rows"), ROWS.items())
def test_a_new_project_can_be_scored_as_it_stands(tmp_path: Path, template: str, rows: int) -> None:
    made = run("init", "p", "--template", template, cwd=tmp_path)
    assert made.code == 0
    assert "p/rewardset.toml" in made.out.split()
    scored = run("score", "p", "--format", "jsonl", cwd=tmp_path)
    assert scored.code == 0
    assert len(scored.out.splitlines()) == rows
    assert '"errors": {}' in scored.out


def test_the_template_is_gsm8k_where_none_is_named(tmp_path: Path) -> None:
    run("init", "p", cwd=tmp_path)
    assert 'name = "gsm8k"' in (tmp_path / "p" / "rewardset.toml").read_text()


def test_a_second_init_overwrites_nothing(tmp_path: Path) -> None:
    run("init", "p", cwd=tmp_path)
    (tmp_path / "p" / "rewards.py").write_text("mine")
    again = run("init", "p", cwd=tmp_path)
    assert again.code == 2
    assert "nothing was written" in sentence(again)
    assert (tmp_path / "p" / "rewards.py").read_text() == "mine"


def test_a_project_around_a_file_can_be_scored(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(REWARDS)
    (tmp_path / "s.csv").write_text("prompt,completion\np,c\n")
    assert run("init", "p", "--from", "mine.py", cwd=tmp_path).code == 0
    assert run("score", "p", "--samples", "s.csv", cwd=tmp_path).code == 0
    assert (tmp_path / "mine.py").read_text() == REWARDS


def test_a_file_that_does_not_import_makes_no_project(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import a_package_nobody_has\n")
    made = run("init", "p", "--from", "mine.py", cwd=tmp_path)
    assert made.code == 3
    assert "a_package_nobody_has" in sentence(made)
    assert not (tmp_path / "p").exists()


def test_something_else_than_a_file_after_from_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(REWARDS)
    for source in ("nowhere.py", ".", "mine.py::layout_reward", "text.txt"):
        made = run("init", "p", "--from", source, cwd=tmp_path)
        assert (made.code, (tmp_path / "p").exists()) == (2, False), source
        assert "name the file.py that defines the rewards" in sentence(made)


def test_template_and_from_together_are_refused(tmp_path: Path) -> None:
    made = run("init", "p", "--template", "gsm8k", "--from", "mine.py", cwd=tmp_path)
    assert made.code == 2
    assert "two ways" in sentence(made)


def test_a_full_disk_leaves_no_half_project(tmp_path: Path) -> None:
    made = run("init", "p", cwd=tmp_path, file_size=100_000)
    assert made.code == 2
    assert sentence(made).startswith("error: no project was made in p: ")
    assert not any(tmp_path.iterdir())


def test_a_read_only_file_system_is_told(tmp_path: Path) -> None:
    made = run("init", "/proc/p", cwd=tmp_path)
    assert made.code == 2
    assert sentence(made).startswith("error: no project was made in /proc/p: ")
