"""`make` on odd machines: no Python, a wrong one, an environment moved or broken. Nothing is installed here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NEEDED = ("sh", "rm", "cat", "test", "echo", "printf", "id", "touch")

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def checkout(repository: Path, tmp_path: Path) -> Path:
    """A folder with what make reads, and a search path with the shell's tools but without Python."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(repository / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for name in NEEDED:
        if path := shutil.which(name):
            (tmp_path / "bin" / name).symlink_to(path)
    return tmp_path


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The outcome of a make call in the checkout."""
    program = str(shutil.which("make"))
    environment = {**os.environ, "PATH": str(checkout / "bin")}
    environment.pop("MAKEFLAGS", None)
    return subprocess.run(
        [program, *arguments], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )


def working_environment(checkout: Path, made_in: str) -> None:
    """A .venv whose Python works (it is this one) and whose base is installed."""
    program = checkout / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.symlink_to(sys.executable)
    (checkout / ".venv" / ".made-in").write_text(made_in)
    (checkout / ".venv" / ".has-base").touch()


def test_without_python_make_says_what_to_install(checkout: Path) -> None:
    done = make(checkout, "run")
    assert done.returncode == 2
    assert "needs Python 3.11 or newer, and none is on the search path" in done.stderr
    assert "apt-get install python3 python3-venv" in done.stderr


def test_a_named_python_that_is_none_is_told(checkout: Path) -> None:
    assert "and PYTHON=/no/such is none" in make(checkout, "run", "PYTHON=/no/such").stderr


def test_what_is_installed_is_not_installed_again(checkout: Path) -> None:
    working_environment(checkout, made_in=str(checkout))
    assert "is up to date" in make(checkout, ".venv/.has-base").stdout


def test_newer_settings_install_again_into_the_same_environment(checkout: Path) -> None:
    working_environment(checkout, made_in=str(checkout))
    os.utime(checkout / ".venv" / ".has-base", (0, 0))
    said = make(checkout, "-n", ".venv/.has-base").stdout
    assert "pip" in said
    assert "-m venv" not in said


@pytest.mark.parametrize("damage", ["moved", "no python"])
def test_a_broken_environment_is_made_anew(checkout: Path, damage: str) -> None:
    working_environment(checkout, made_in="/elsewhere" if damage == "moved" else str(checkout))
    if damage == "no python":
        (checkout / ".venv" / "bin" / "python").unlink()
        (checkout / ".venv" / "bin" / "python").symlink_to("/no/such/python")
    said = make(checkout, "-n", ".venv/.has-base").stdout
    assert "-m venv .venv" in said
    assert "pip" in said
