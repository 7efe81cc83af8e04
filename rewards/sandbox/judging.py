"""The caller's end of a process that judges one program after another.

It and a program are connected by a pair of sockets that stays; between two programs both directions are emptied,
so that neither what one was asked nor what it answered reaches the next.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from typing import Any

from rewards.errors import SandboxError
from rewards.sandbox.server import Limits, Overdue, Running, Server, finish, pump

_JOBS = 1000
"""Programs after which a judge is replaced."""

_YEAR_S = 3e7


class Judge:
    """A judge on a server of its own."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._ours, theirs = socket.socketpair()
        limits = Limits(seconds=_YEAR_S)
        try:
            self._running = Running(
                server, {"run": "judge:judge_all"}, limits, channel=True, report=theirs.detach()
            )
        except SandboxError:
            self._ours.close()
            raise
        self._left = _JOBS
        self._sound = True

    @property
    def sound(self) -> bool:
        """Whether it can judge another program."""
        return self._sound and self._left > 0 and self._server.alive and self._running.ended is None

    def close(self) -> None:
        """End it."""
        self._ours.close()
        self._running.close()
        self._server.close()

    def forget(self) -> None:
        """Let go of it in a forked copy of the process that started it."""
        self._ours.close()
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
        self._empty()
        judge = self._running
        judge.deadline = time.monotonic() + 3 * limits.seconds + 2.0
        judge.send(tests)
        candidate = Running(server, program, limits, channel=os.dup(self._ours.fileno()))
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

    def _empty(self) -> None:
        """Throw away what the last program was asked and did not read."""
        with contextlib.suppress(BlockingIOError):
            while self._ours.recv(
                1 << 16, socket.MSG_DONTWAIT
            ):  # the socket itself blocks: programs have it too
                pass
