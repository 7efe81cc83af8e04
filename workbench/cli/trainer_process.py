"""Commands that need torch: `python -P -m trainer ...` as a process of its own."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from rewards.errors import MissingExtraError

_NEEDS_NOTHING = ("watch", "launch-config")
COMMAND = "REWARD_WORKBENCH_COMMAND"
"""Tells the trainer whose process it is to end with (`trainer.environment.end_with_command`)."""
SENT_BY_A_PROCESS = 0
"""`si_code` of a signal that came by kill(2), and not from the terminal (SI_USER)."""


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
    process = subprocess.Popen(command, env={**os.environ, COMMAND: str(os.getpid())})
    previous = signal.signal(signal.SIGTERM, lambda *_: process.send_signal(signal.SIGTERM))
    try:
        code = wait_for(process)
    finally:
        signal.signal(signal.SIGTERM, previous)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGTERM)
            process.wait()
    return code if code >= 0 else _ended_by(-code, arguments)


def wait_for(process: subprocess.Popen[bytes]) -> int:
    """The exit code of a process that hears of each SIGINT once.

    Ctrl+C in a terminal reaches it as it reaches us; one that was sent to us alone is handed on.
    """
    if not hasattr(signal, "sigtimedwait"):  # macOS: who sent it cannot be told
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue
    watched = {signal.SIGINT, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    try:
        while (code := process.poll()) is None:
            came = signal.sigtimedwait(watched, 1.0)
            if came is not None and came.si_signo == signal.SIGINT and came.si_code == SENT_BY_A_PROCESS:
                process.send_signal(signal.SIGINT)
        return code
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ended_by(number: int, arguments: Sequence[str]) -> int:
    """Tell that the process was killed from outside; the exit code of a shell for it."""
    name = signal.Signals(number).name
    hint = " (is there enough memory?)" if number == signal.SIGKILL else ""
    again = (
        "; the same command with --resume goes on from its last checkpoint, or from the start where it had none"
        if arguments[0] == "train"
        else ""
    )
    sys.stderr.write(f"error: {arguments[0]} was ended by {name} from outside{hint}{again}\n")
    return 128 + number
