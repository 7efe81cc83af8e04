"""The guard: a process that waits for the template to end, however it ends, and then ends what is left of it.

A template that is killed cannot bury its workers. They die with it, but what they started, in sessions of its own,
lives on and is adopted by the nearest process that asked for that: the guard, which is the template's parent and
does nothing else. Where the guard is killed instead, the template notices and ends everything itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterator

END = signal.SIGUSR1
"""Tells the guard to end the template, whatever state that is in."""

PDEATHSIG = 1
SUBREAPER = 36


def process_control(option: int, value: int) -> None:
    """Linux `prctl`; does nothing elsewhere."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def leave_a_guard(control: int) -> int:
    """Go on in a child of this process, which stays behind as its guard and never returns.

    Args:
        control: a descriptor that only the child needs.

    Returns:
        A descriptor that becomes readable when the guard is gone.
    """
    gone, held = os.pipe()
    with contextlib.suppress(OSError):
        os.setsid()
    process_control(SUBREAPER, 1)
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
    ):  # meant for the parent, who may have work to end
        signal.signal(number, signal.SIG_IGN)
    template = os.fork()
    if template == 0:
        os.close(held)
        return gone
    code = 1
    try:
        os.close(gone)
        os.close(control)
        code = _guard(template)
    finally:
        os._exit(code)


def _guard(template: int) -> int:
    """Bury the template and all that comes after it; its exit code. `END` ends it."""

    def end_it(*_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(template, signal.SIGKILL)

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(END, end_it)
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == template:
            end_children()
            return abs(os.waitstatus_to_exitcode(status)) & 0xFF


def end_children() -> None:
    """Kill every child of this process and all they leave behind, until there is none."""
    while True:
        for pid in children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def children() -> Iterator[int]:
    """The children of this process, on Linux; none elsewhere."""
    with (
        contextlib.suppress(OSError),
        open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file,
    ):
        yield from (int(pid) for pid in file.read().split())
