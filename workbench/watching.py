"""Looking again whenever the code is saved: an editor beside a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from rewards.errors import RewardWorkbenchError
from rewards.targets import Target
from workbench.versions import code_files

PAUSE_S = 0.05
"""Seconds between two looks at the files."""

State = tuple[tuple[str, int, int], ...]


def saves(target: Target, saved: Callable[[], bool] | None = None) -> Iterator[None]:
    """Comes once at the start, and again each time a file of the target was saved.

    Args:
        target: whose files are looked at.
        saved: waits for the next save, False to end; None: look at the files.
    """
    state = code_state(target)
    yield
    while saved is None or saved():
        if saved is None:
            while (now := code_state(target)) == state or not now:
                time.sleep(PAUSE_S)
            state = now
        yield


def code_state(target: Target) -> State:
    """When each file of the target's code was saved last; () while one is gone, as in the middle of a save."""
    try:
        stats = [(str(path), path.stat()) for path in code_files(target)]
    except (OSError, RewardWorkbenchError):
        return ()
    return tuple((path, stat.st_mtime_ns, stat.st_size) for path, stat in stats)
