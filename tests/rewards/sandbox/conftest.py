"""Sandboxes of each level, one for the whole session."""

from __future__ import annotations

import os
import sys

import pytest

from rewards.errors import SandboxError
from rewards.sandbox import Level, Sandbox
from rewards.sandbox.starting import bubblewrap as bubblewrap_path


def open_level(level: Level) -> Sandbox:
    """A sandbox of one level; skips where this machine does not offer it.

    In CI a program that is installed and does not work is a failure: the level would silently go untested.
    """
    if not sys.platform.startswith("linux"):
        pytest.skip("levels of Linux")
    if level is Level.BUBBLEWRAP and bubblewrap_path() is None:
        pytest.skip("bubblewrap is not installed: apt-get install bubblewrap")
    sandbox = Sandbox(only=level)
    try:
        sandbox.level()
    except SandboxError as error:
        if os.environ.get("CI") and level is Level.BUBBLEWRAP:
            pytest.fail(f"bubblewrap is installed and does not work: {error}")
        pytest.skip(str(error))
    return sandbox


@pytest.fixture(scope="session")
def landlock() -> Sandbox:
    """The level of Landlock and seccomp."""
    return open_level(Level.LANDLOCK)


@pytest.fixture(scope="session")
def bubblewrap() -> Sandbox:
    """The same in namespaces of its own."""
    return open_level(Level.BUBBLEWRAP)


@pytest.fixture(params=["landlock", "bubblewrap"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Each level in turn."""
    found = request.getfixturevalue(str(request.param))
    assert isinstance(found, Sandbox)
    return found
