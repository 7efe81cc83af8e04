"""What a user has to allow by word: that model-written code runs where it cannot be shut in as asked.

The word is said by `--unsafe-code` (or the environment variable) and holds for the processes started from there.
"""

from __future__ import annotations

import os

UNSAFE_CODE = "--unsafe-code"
UNSAFE_CODE_HELP = "Run model-written code even where this machine cannot isolate it as asked (see doctor)."
UNSAFE_CODE_VARIABLE = "REWARD_WORKBENCH_UNSAFE_CODE"


def unsafe_code_allowed() -> bool:
    """Whether model-written code may run on any level."""
    return os.environ.get(UNSAFE_CODE_VARIABLE, "") not in ("", "0")


def allow_unsafe_code(value: bool = True) -> bool:
    """Allow it, for this process and those it starts, where `value` is true; returns `value` (a typer callback)."""
    if value:
        os.environ[UNSAFE_CODE_VARIABLE] = "1"
    return value
