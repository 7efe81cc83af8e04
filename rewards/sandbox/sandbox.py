"""The sandbox: programs run in it, and answer calls in it, at the best level the machine offers.

    with Sandbox() as sandbox:
        result = sandbox.run(Job("print(6 * 7)"))       # Result(status="ok", output="42\\n", ...)

A `Sandbox` has a pool of fork servers, started when first needed and ended with this process. Programs that fail
are results; what goes wrong with the sandbox itself is one too (`status="error"`), never a score.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import threading
import weakref
from collections.abc import Iterator
from types import TracebackType

from rewards.errors import SandboxError
from rewards.permissions import unsafe_code_allowed
from rewards.sandbox.job import Job, Result
from rewards.sandbox.judging import Judge
from rewards.sandbox.level import DECLARED, Level, require
from rewards.sandbox.server import Ended, Limits, Running, Server, pump
from rewards.sandbox.starting import best_levels, package_folders

_REQUIRED = {
    Level.BUBBLEWRAP: {"files", "folders", "writing", "network", "signals", "programs", "processes"},
    Level.LANDLOCK: {"files", "folders", "writing", "network", "signals", "programs", "processes"},
    Level.SEATBELT: {"files", "folders", "writing", "network", "programs"},
    Level.LIMITS: set(),
}

_CAVEATS = {
    Level.SEATBELT: "programs may start processes, memory is only looked at now and then; never measured",
    Level.LIMITS: "files and network stand open",
}


class Sandbox:
    """Runs model-written programs. A context manager; usable from several threads.

    Args:
        level: the level asked for: below it nothing is run.
        only: use this level, not the best one.
        packages: what programs may import besides the standard library; all of site-packages is then readable.
        unsafe: run at any level; None: as `--unsafe-code` said.
    """

    def __init__(
        self,
        level: Level = DECLARED,
        *,
        only: Level | None = None,
        packages: tuple[str, ...] = (),
        unsafe: bool | None = None,
    ) -> None:
        self._asked = level
        self._only = only
        self._packages = packages
        self._unsafe = unsafe
        self._lock = threading.Lock()
        self._idle: dict[str, list[Server]] = {"candidate": [], "grader": []}
        self._judges: list[Judge] = []
        self._found: Level | None = None
        self._why = ""
        self._closed = False
        _SANDBOXES.add(self)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """End the pool; a later job starts a new one."""
        with self._lock:
            ended: list[Server | Judge] = [server for idle in self._idle.values() for server in idle]
            ended += self._judges
            self._judges.clear()
            for idle in self._idle.values():
                idle.clear()
        for one in ended:
            one.close()

    def level(self) -> Level:
        """The best level that works on this machine, found by starting a server and trying to get out of it.

        Raises:
            SandboxError: not even the lowest works.
        """
        with self._lock:
            if self._found is None:
                self._find()
            assert self._found is not None
            return self._found

    def why(self) -> str:
        """Why the level is not a better one; "" where it is the best there is."""
        self.level()
        return self._why

    def require(self) -> Level:
        """The level, if model-written code may run at it.

        Raises:
            SandboxError: it is below the level asked for.
        """
        found = self.level()
        unsafe = unsafe_code_allowed() if self._unsafe is None else self._unsafe
        require(found, self._asked, unsafe=unsafe, why=self._why)
        return found

    def _find(self) -> None:
        package_folders(self._packages)
        levels = [self._only] if self._only is not None else best_levels()
        reasons = []
        for level in levels:
            try:
                server = Server(level, "candidate", self._packages)
                worked = probe(server)
            except SandboxError as error:
                reasons.append(str(error))
                continue
            broken = sorted(worked & _REQUIRED[level])
            if broken:
                server.close()
                reasons.append(
                    f"the level '{level.value}' does not hold here: {', '.join(broken)} stood open"
                )
                continue
            self._idle["candidate"].append(server)
            self._found, self._why = level, "; ".join(reasons) or _CAVEATS.get(level, "")
            return
        raise SandboxError("; ".join(reasons) or "there is no sandbox for this system")

    @contextlib.contextmanager
    def server(self, kind: str) -> Iterator[Server]:
        """A server for one job at a time; it goes back to the pool if it is still sound."""
        level = self.level()
        with self._lock:
            server = self._idle[kind].pop() if self._idle[kind] else None
        if server is None or not server.alive:
            if server is not None:
                server.close()
            server = Server(level, kind, self._packages)
        try:
            yield server
        finally:
            if server.busy or not server.alive:
                server.close()
            else:
                with self._lock:
                    self._idle[kind].append(server)

    @contextlib.contextmanager
    def judge(self) -> Iterator[Judge]:
        """A judge for one program; it goes back to the pool if it is still sound."""
        level = self.level()
        with self._lock:
            judge = self._judges.pop() if self._judges else None
        if judge is not None and not judge.sound:
            judge.close()
            judge = None
        judge = judge or Judge(Server(level, "grader", self._packages))
        try:
            yield judge
        finally:
            if judge.sound:
                with self._lock:
                    self._judges.append(judge)
            else:
                judge.close()

    def run(self, job: Job) -> Result:
        """Run a program as a script. Never raises for what the program does.

        Raises:
            SandboxError: the level is refused.
        """
        level = self.require()
        error = ""
        for _ in range(2):  # a server that died is replaced, once
            try:
                with self.server("candidate") as server:
                    return self._run(server, job, level)
            except SandboxError as failure:
                error = str(failure)
        return Result("error", error=error, level=level)

    def _run(self, server: Server, job: Job, level: Level) -> Result:
        task = {"run": "job:run_program", "code": job.code}
        running = Running(server, task, job.limits, stdin=job.stdin.encode("utf-8", "replace"))
        try:
            pump([running], lambda: False)
        finally:
            running.close()
        ended = running.ended
        assert ended is not None
        output = running.texts["out"].decode("utf-8", "replace")
        error = running.texts["err"].decode("utf-8", "replace").strip()
        if ended.how == "refused":
            return Result("error", error="the sandbox could not confine the program", level=level)
        status = status_of(ended, flooded=running.flooded)
        return Result(status, output, error[-2000:], ended.code, ended.seconds, ended.cpu, level)

    def forget(self) -> None:
        """Let go of the pool in a forked copy of the process."""
        self._lock = threading.Lock()
        for idle in self._idle.values():
            for server in idle:
                server.forget()
            idle.clear()
        for judge in self._judges:
            judge.forget()
        self._judges.clear()


def status_of(ended: Ended, *, flooded: bool = False) -> str:
    """The status of a `Result` for how a job ended."""
    if flooded:
        return "output"
    if ended.how == "disk":
        return "disk"
    if ended.how == "timeout":
        return "timeout"
    if ended.code < 0:
        return "died"
    return "ok" if ended.code == 0 else "failed"


def probe(server: Server) -> set[str]:
    """What a job on a server can do of what no job may; see `rewards.sandbox.inside.probe`."""
    running = Running(server, {"run": "probe:probe"}, Limits(seconds=10.0), report=True)
    try:
        pump([running], lambda: False)
    finally:
        running.close()
    try:
        return set(json.loads(bytes(running.texts["report"]))["worked"])
    except (ValueError, KeyError):
        said = running.texts["err"].decode("utf-8", "replace").strip() or "no word"
        raise SandboxError(f"the level '{server.level.value}' does not work: {said[-200:]}") from None


_SANDBOXES: weakref.WeakSet[Sandbox] = weakref.WeakSet()


def close_all() -> None:
    """End the pools of every sandbox of this process."""
    for sandbox in list(_SANDBOXES):
        sandbox.close()


def _forget_all() -> None:
    for sandbox in list(_SANDBOXES):
        sandbox.forget()


atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
