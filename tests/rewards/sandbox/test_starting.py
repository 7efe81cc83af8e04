"""How servers are started: what they may read, and what older or other systems get."""

# ruff: noqa: E501  # tables

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import pytest

from rewards.errors import SandboxError
from rewards.sandbox import Level, server, starting
from rewards.sandbox.level import DECLARED, require
from rewards.sandbox.simple import is_simple


def told(level: Level, kind: str = "candidate") -> dict[str, object]:
    """The settings a server of a level is started with."""
    plan = starting.recipe(level, kind, "/scratch", (), die_with_parent=False)
    settings = json.loads(plan.told[8:])["settings"]
    assert isinstance(settings, dict)
    return settings


def test_only_pythons_own_files_and_shared_libraries_can_be_read() -> None:
    landlock = told(Level.LANDLOCK)["landlock"]
    assert isinstance(landlock, dict)
    library = os.path.realpath(os.__file__)
    assert any(library.startswith(path + os.sep) for path in landlock["read"])
    home, here = os.path.expanduser("~"), os.getcwd()
    assert not {"/", "/etc", "/home", "/tmp", "/proc", "/usr", home, here} & set(landlock["read"])


def test_a_server_is_told_the_modules_it_needs_and_reads_none_of_ours() -> None:
    plan = starting.recipe(Level.LANDLOCK, "candidate", "/scratch", (), die_with_parent=False)
    names = [name for name, _ in json.loads(plan.told[8:])["modules"]]
    assert names[-1] == "rewards.sandbox.inside.template"
    assert not any("grader" in name or "remote" in name for name in names)
    assert os.path.dirname(starting.__file__) not in " ".join(plan.command)


def test_an_older_bubblewrap_gets_no_option_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "_bubblewrap_options", frozenset)
    old = starting._bubblewrap_command(["/usr/lib"], die_with_parent=True)
    assert not {"--size", "--disable-userns"} & set(old)
    monkeypatch.setattr(starting, "_bubblewrap_options", lambda: frozenset({"--size", "--disable-userns"}))
    new = starting._bubblewrap_command(["/usr/lib"], die_with_parent=False)
    assert {"--size", "--disable-userns"} <= set(new)
    assert ("--die-with-parent" in old, "--die-with-parent" in new) == (True, False)


@pytest.mark.parametrize(
    ("system", "levels"), [("darwin", [Level.SEATBELT, Level.LIMITS]), ("sunos", [Level.LIMITS])]
)
def test_other_systems_have_other_levels(
    system: str, levels: list[Level], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    assert starting.best_levels() == levels


def test_a_kernel_without_landlock_or_an_unknown_machine_has_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "bubblewrap", lambda: None)
    monkeypatch.setattr(starting.confine, "landlock_abi", lambda libc: 0)
    assert starting.best_levels() == [Level.LIMITS]
    monkeypatch.setattr(starting, "_filter", lambda: None)
    monkeypatch.setattr(starting.confine, "landlock_abi", lambda libc: 6)
    monkeypatch.setattr(starting, "bubblewrap", lambda: "/usr/bin/bwrap")
    assert starting.best_levels() == [Level.LIMITS]


def test_the_profile_for_macos_denies_all_but_reading_python() -> None:
    profile = starting.seatbelt_profile(["/opt/python"], "/private/tmp/x")
    assert "(deny default)" in profile
    assert '(subpath "/opt/python")' in profile
    assert "network" not in profile
    assert profile.count("file-write*") == 1


def test_levels_below_the_one_asked_for_are_refused() -> None:
    for level in Level:
        if level.rank < DECLARED.rank:
            with pytest.raises(
                SandboxError, match=rf"offers '{level.value}' \(no luck\).*doctor.*--unsafe-code"
            ):
                require(level, DECLARED, unsafe=False, why="no luck")
        require(level, DECLARED, unsafe=True)
    require(Level.SEATBELT, DECLARED, unsafe=False)
    with pytest.raises(SandboxError, match="asks for the level 'bubblewrap'"):
        require(Level.LANDLOCK, Level.BUBBLEWRAP, unsafe=False)


SIMPLE = [
    "def check(f):\n    assert f(1) == 2",
    "import math\nfrom typing import List\n\ndef poly(xs: list, x: float):\n    return sum(math.pow(x, n) for n in xs)",
    "import random\n\ndef check(f):\n    for _ in range(9):\n        try:\n            f(random.randint(0, 9))\n        except ValueError:\n            pass",
    "xs = [1]\nxs[0] = 2\nassert f(*xs) == (lambda x: x)(2)",
    "",
]  # fmt: skip

NOT_SIMPLE = [
    "import os", "import math as m\nm.pi = 3", "from random import *", "from functools import update_wrapper", "class A: pass",
    "@f\ndef g(): pass", "x.y = 1", "del x", "exec('1')", "getattr(x, 'y')", "x.__class__", "__builtins__", "global x",
    "with f(): pass", "import decimal\ndecimal.getcontext().prec = 3", "import decimal\ndecimal.getcontext()", "x.y[0] = 1",
    "def f(:", "from . import x", "import collections.abc", "open('x')", "async def f(): pass", "def f(): yield",
]  # fmt: skip


@pytest.mark.parametrize("code", SIMPLE)
def test_code_that_only_computes_is_simple(code: str) -> None:
    assert is_simple(code)


@pytest.mark.parametrize("code", NOT_SIMPLE)
def test_code_that_might_leave_something_is_not(code: str) -> None:
    assert not is_simple(code)


def test_a_folder_that_another_process_cleared_away_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    make = tempfile.mkdtemp

    def cleared_once(**options: str) -> str:
        made.append(make(dir=tmp_path, **options))
        if len(made) == 1:
            Path(made[0]).rmdir()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", cleared_once)
    folder, lock = server._new_folder()
    os.close(lock)
    assert (folder, len(made)) == (os.path.realpath(made[1]), 2)
