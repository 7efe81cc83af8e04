"""The shape of the code: imports go one way, heavy packages load late, files stay small."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HEAVY = ("torch", "trl", "transformers", "datasets", "peft", "accelerate", "gradio")
LONGEST_FILE = 600


def loaded_by(statement: str, folder: Path) -> set[str]:
    """The packages that a fresh interpreter has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*sorted(name for name in sys.modules if '.' not in name))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_imports_keep_to_the_layers(repository: Path) -> None:
    program = Path(sys.executable).with_name("lint-imports")
    if not program.exists():
        pytest.skip("import-linter is not installed: pip install 'reward-workbench[dev]'")
    done = subprocess.run(
        [str(program), "--no-cache"], cwd=repository, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "statement",
    [
        "import rewards",
        "import workbench.cli.main",
        "import workbench.pytest_plugin",
        "import trainer.settings, trainer.presets, trainer.rundir",
    ],
)
def test_nothing_heavy_is_loaded_by(statement: str, tmp_path: Path, repository: Path) -> None:
    modules = statement.removeprefix("import ").split(", ")
    files = [repository / name.replace(".", "/") for name in modules]
    if not all(file.with_suffix(".py").exists() or file.is_dir() for file in files):
        pytest.skip(f"not all of {', '.join(modules)} exist")
    assert not loaded_by(statement, tmp_path) & set(HEAVY)


def test_every_heavy_package_is_barred_at_module_level(repository: Path) -> None:
    settings = tomllib.loads((repository / "pyproject.toml").read_text())
    barred = settings["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-module-level-imports"]
    assert set(HEAVY) <= set(barred)


def test_a_users_own_rewards_file_does_not_shadow_the_package(tmp_path: Path) -> None:
    (tmp_path / "rewards.py").write_text("raise RuntimeError('the wrong one')\n")
    assert "rewards" in loaded_by("import rewards", tmp_path)


def test_no_file_is_too_long(repository: Path) -> None:
    folders = ("rewards", "workbench", "trainer", "tests", "benchmarks")
    files = [file for folder in folders for file in (repository / folder).rglob("*.py")]
    lengths = {str(file.relative_to(repository)): len(file.read_text().splitlines()) for file in files}
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_folder_is_a_grab_bag(repository: Path) -> None:
    grab_bags = {"utils", "util", "common", "helpers", "misc"}
    names = [
        file
        for folder in ("rewards", "workbench", "trainer")
        for file in (repository / folder).rglob("*")
        if file.stem in grab_bags
    ]
    assert names == []
