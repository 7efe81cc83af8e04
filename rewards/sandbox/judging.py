"""The caller's end of a process that judges one program after another.

Each program gets a pair of sockets of its own, whose other end is given to the judge with the tests: whatever one
does to its channel, the next has another.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from typing import Any

from rewards.sandbox.server import Limits, Overdue, Running, Server, finish, pump

_JOBS = 1000
"""Programs after which a judge is replaced."""

_YEAR_S = 3e7


class Judge:
    """A judge on a server of its own."""

    def __init__(self, server: Server) -> None:
        self._server = server
        limits = Limits(seconds=_YEAR_S)
        self._running = Running(server, {"run": "judge:judge_all"}, limits, channel=True)
        self._left = _JOBS
        self._sound = True

    @property
    def sound(self) -> bool:
        """Whether it can judge another program."""
        return self._sound and self._left > 0 and self._server.alive and self._running.ended is None

    def close(self) -> None:
        """End it."""
        self._running.close()
        self._server.close()

    def forget(self) -> None:
        """Let go of it in a forked copy of the process that started it."""
        for fd in self._running.streams:
            with contextlib.suppress(OSError):
                os.close(fd)
        self._running.streams.clear()
        self._server.forget()

    def judge(
        self, server: Server, program: dict[str, Any], limits: Limits, tests: dict[str, Any]
    ) -> tuple[list[list[Any]], Running, bool]:
        """Judge a program.

        Args:
            server: where the program runs.
            program: its job.
            limits: what it may use.
            tests: what `rewards.sandbox.inside.grader.grade_with` reads.

        Returns:
            The lines of the report (the last is "end", unless the tests took too long), the program's run, and
            whether it had ended before its tests did.

        Raises:
            SandboxError: a server failed.
        """
        self._left -= 1
        self._sound = False
        judge = self._running
        judge.deadline = time.monotonic() + 3 * limits.seconds + 2.0
        ours, theirs = socket.socketpair()
        with ours, theirs:
            judge.send(tests, ours.fileno())
            candidate = Running(server, program, limits, channel=theirs.detach())
        lines: list[list[Any]] = []
        died = False
        try:
            pump([candidate, judge], lambda: judge.has_line or judge.hung_up or candidate.ended is not None)
            died = candidate.ended is not None and not judge.has_line
            if died:
                judge.send("gone")
            while not judge.hung_up and not (lines and lines[-1][0] == "end"):
                pump([candidate, judge], lambda: judge.has_line or judge.hung_up)
                lines += [json.loads(line) for line in judge.take_lines()]
            finish([candidate])
            self._sound = not judge.hung_up
        except Overdue:
            if judge.ended is not None or self._server.alive:
                raise
            finish([candidate])
        finally:
            candidate.close()
        judge.deadline = time.monotonic() + _YEAR_S
        return lines, candidate, died
