"""A user's own `rewards.py` in a process that also needs our package of that name.

In a test session the name belongs to the user: `from rewards import correct` in a test is their file. While one of our
functions runs, it is ours; afterwards it is again what it was.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from collections.abc import Iterator

import workbench

NAME = "rewards"
_kept: types.ModuleType | None = None


@contextlib.contextmanager
def own_rewards() -> Iterator[None]:
    """Let `rewards` be our package for as long as it lasts.

    Modules of ours that are loaded meanwhile stay loaded. Another thread that imports `rewards` at that time gets ours.
    """
    global _kept
    before = sys.modules.pop(NAME, None)
    if before is not None and _is_ours(before):
        _kept = before
    if _kept is not None:
        sys.modules[NAME] = _kept
    else:
        workbench._load_own_rewards()
        _kept = importlib.import_module(NAME)
    try:
        yield
    finally:
        sys.modules.pop(NAME, None)
        if before is not None:
            sys.modules[NAME] = before


def _is_ours(module: types.ModuleType) -> bool:
    home = workbench.__path__[0].removesuffix("workbench") + NAME
    return list(getattr(module, "__path__", [])) == [home]


__all__ = ["own_rewards"]
