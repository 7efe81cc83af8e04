"""Commands that need torch: `python -P -m trainer ...` as a process of its own."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from rewards.errors import MissingExtraError

_NEEDS_NOTHING = ("watch",)


def run_trainer(arguments: Sequence[str]) -> int:
    """Run a trainer command to its end and return its exit code; Ctrl+C and SIGTERM reach it.

    Raises:
        MissingExtraError: torch or trl is not installed.
    """
    if arguments[0] not in _NEEDS_NOTHING and "--help" not in arguments:
        for package in ("torch", "trl"):
            if importlib.util.find_spec(package) is None:
                raise MissingExtraError(package, "train", f"reward-workbench {arguments[0]}")
    command = [sys.executable, "-P", "-m", "trainer", *arguments]
    process = subprocess.Popen(command)
    previous = signal.signal(signal.SIGTERM, lambda *_: process.send_signal(signal.SIGTERM))
    try:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # the terminal has sent it to the trainer too, which stops after its step
    finally:
        signal.signal(signal.SIGTERM, previous)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGTERM)
            process.wait()
