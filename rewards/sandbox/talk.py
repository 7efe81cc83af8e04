"""A conversation with a loaded program: requests go in, plain answers come out, until it ends.

`LiveTalk` is one with a process in the local sandbox. `ReplayedTalk` is one through something that can only run a
program with an input and give its output: each request runs the program again with all requests so far, which comes
to the same for programs that do the same each time.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Protocol

from rewards.errors import SandboxError
from rewards.sandbox.oneshot import OneShot
from rewards.sandbox.sandbox import Sandbox, status_of
from rewards.sandbox.server import Limits, Running, finish, pump

MODULE = "solution"
"""The name under which test code imports the program."""

NO_ANSWER: dict[str, Any] = {}
"""Stands for an answer that is none: no JSON object, or more than one."""


class Talk(Protocol):
    """What both kinds have; a context manager."""

    def ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to a request of `rewards.sandbox.inside.candidate`; None where the program has ended."""

    @property
    def status(self) -> str:
        """How the program ended, as in `Result.status`, once `ask` gave None."""

    def __enter__(self) -> Talk: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_talk(box: Sandbox | OneShot, code: str, limits: Limits) -> Talk:
    """Load a program and talk to it."""
    return LiveTalk(box, code, limits) if isinstance(box, Sandbox) else ReplayedTalk(box, code, limits)


def program_job(code: str) -> dict[str, Any]:
    """The job of a server that loads a program and answers for it."""
    return {"run": "candidate:serve", "code": code, "module": MODULE}


class LiveTalk:
    """With a process of the local sandbox."""

    def __init__(self, sandbox: Sandbox, code: str, limits: Limits) -> None:
        self._sandbox = sandbox
        self._code = code
        self._limits = limits
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> LiveTalk:
        server = self._stack.enter_context(self._sandbox.server("candidate"))
        try:
            self._running = Running(server, program_job(self._code), self._limits, channel=True)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                finish([self._running])
        finally:
            self._running.close()
            self._stack.close()

    def ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """See `Talk`."""
        running = self._running
        running.send(request)
        pump([running], lambda: running.has_line or running.hung_up)
        if not running.has_line:
            pump([running], lambda: running.ended is not None)
            return None
        return read_answer(running.take_line)

    @property
    def status(self) -> str:
        """See `Talk`.

        Raises:
            SandboxError: the program was not run at all.
        """
        ended = self._running.ended
        if ended is None:
            return "ok"
        if ended.how == "refused":
            raise SandboxError("the sandbox could not confine the program")
        return status_of(ended, flooded=self._running.flooded)


def read_answer(take: Any) -> dict[str, Any]:
    """An answer's line as an object; `NO_ANSWER` where it is none."""
    try:
        answer = json.loads(take())
    except (ValueError, RecursionError):
        return NO_ANSWER
    return answer if isinstance(answer, dict) else NO_ANSWER


class ReplayedTalk:
    """Through a service or a container: every request is a run."""

    def __init__(self, box: OneShot, code: str, limits: Limits) -> None:
        self._box = box
        self._code = code
        self._limits = limits
        self._requests: list[dict[str, Any]] = []
        self.status = "ok"

    def __enter__(self) -> ReplayedTalk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def ask(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """See `Talk`."""
        self._requests.append(request)
        for answer in self.answers():
            return answer
        return None

    def answers(self) -> Iterator[dict[str, Any]]:
        """The answer to the last request, if one came."""
        result = self._box.converse(program_job(self._code), self._requests, self._limits)
        if result.status == "error":
            raise SandboxError(result.error)
        self.status = result.status
        lines = result.output.split("\n")
        if len(lines) > len(self._requests) + 1:
            yield NO_ANSWER
        elif len(lines) > len(self._requests):
            yield read_answer(lambda: lines[len(self._requests) - 1])
