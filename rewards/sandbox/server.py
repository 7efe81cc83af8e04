"""The caller's end of a fork server, and of the jobs it runs.

A `Server` is one sandboxed interpreter that makes a child for each job. A `Running` is a job in flight: its
descriptors, what it printed so far, what it answers. `pump` lets several of them go on together in one thread.
"""

from __future__ import annotations

import contextlib
import json
import marshal
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.errors import SandboxError
from rewards.sandbox.inside.template import ENDINGS, REPLY, REQUEST
from rewards.sandbox.level import Level
from rewards.sandbox.starting import Recipe, package_folders, recipe

START_TIMEOUT_S = 20.0
KEPT = 64 << 10
FLOOD = 8 << 20
"""Bytes kept of what a job prints, and bytes at which it is ended, or at twice what is to be kept of it."""

_PREFIX = "reward-workbench-sandbox-"


@dataclass(frozen=True)
class Limits:
    """What one job may use: seconds, bytes of memory, bytes in its folder, bytes of output that are kept."""

    seconds: float = 3.0
    memory: int = 1 << 30
    disk: int = 64 << 20
    kept: int = KEPT


@dataclass(frozen=True)
class Ended:
    """How a job ended: "ended", "timeout", "killed", "disk" or "refused"; its exit code or negative signal."""

    how: str
    code: int
    seconds: float
    cpu: float
    memory_kib: int


class Server:
    """A fork server. Start it with `Server(...)`, end it with `close`; one job at a time.

    Raises:
        SandboxError: it does not start on this machine; the text says why.
    """

    def __init__(self, level: Level, kind: str, packages: tuple[str, ...] = ()) -> None:
        package_folders(packages)  # refused before anything is there to be cleared away
        self.level = level
        self.busy = False
        self.base: str | None = None
        lock = -1
        if level is not Level.BUBBLEWRAP:
            self.base, lock = _new_folder()
        self.nothing = os.open(os.devnull, os.O_RDWR)
        self.control, theirs = socket.socketpair()
        # the signal of a parent's death follows the thread that started the process, not the process
        lasting = threading.current_thread() is threading.main_thread()
        plan = recipe(level, kind, self.base, packages, die_with_parent=lasting)
        with tempfile.TemporaryFile() as errors:
            try:
                self.process = _started(plan, theirs.fileno(), lock, errors)
            except OSError as error:
                self.control.close()
                self._clear()
                raise SandboxError(f"the level '{level.value}' does not start: {error}") from None
            finally:
                theirs.close()
                if lock >= 0:
                    os.close(lock)
            self._greet(plan.told, errors)

    def _greet(self, told: bytes, errors: Any) -> None:
        self.control.settimeout(START_TIMEOUT_S)
        try:
            self.control.sendall(told)
            if self.control.recv(1) != b"+":
                raise EOFError
        except (OSError, EOFError):
            self.close()
            errors.seek(0)
            said = errors.read(4000).decode("utf-8", "replace").strip().splitlines()
            why = said[-1] if said else "no answer"
            raise SandboxError(f"the level '{self.level.value}' does not start: {why}") from None
        self.control.settimeout(None)

    @property
    def alive(self) -> bool:
        """Whether it can take a job."""
        return self.control.fileno() >= 0 and self.process.poll() is None

    def close(self) -> None:
        """End it and whatever runs in it."""
        if self.control.fileno() < 0:
            return
        self.control.close()
        try:
            self.process.wait(1.0)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self._clear()

    def _clear(self) -> None:
        os.close(self.nothing)
        if self.base is not None:
            shutil.rmtree(self.base, ignore_errors=True)

    def forget(self) -> None:
        """Let go of it in a forked copy of the process that started it."""
        self.control.close()
        os.close(self.nothing)
        self.process.returncode = 0  # not this process's child: nothing to wait for


def _started(plan: Recipe, control: int, lock: int, errors: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(control) if part == "{fd}" else part for part in plan.command],
        env=plan.environment,
        pass_fds=[control, *([lock] if lock >= 0 else [])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        cwd="/",
        start_new_session=True,
    )


def _new_folder() -> tuple[str, int]:
    """A folder for a server and a lock on it, which lasts as long as the server; clears those of dead ones."""
    import fcntl

    root = Path(tempfile.gettempdir())
    for old in root.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            fd = os.open(old, os.O_RDONLY)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(old, ignore_errors=True)
            finally:
                os.close(fd)
    while True:
        folder = os.path.realpath(tempfile.mkdtemp(prefix=_PREFIX))
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.exists(folder):
                return folder, lock
            os.close(lock)  # another process cleared it away before it was locked


class Overdue(SandboxError):
    """A job that was not ended long after its time."""


class Running:
    """A job in flight on a server.

    Args:
        server: it must not have another.
        job: what `rewards.sandbox.inside.job.run_job` reads: plain values.
        limits: what it may use.
        stdin: its standard input.
        channel: a descriptor for its channel, closed here afterwards; or True: `send` and `take_line` are its
            other end.
        report: keep what it reports apart from what it prints; or a descriptor for that, closed here afterwards.
    """

    def __init__(
        self,
        server: Server,
        job: dict[str, Any],
        limits: Limits,
        *,
        stdin: bytes | None = None,
        channel: int | bool = False,
        report: int | bool = False,
    ) -> None:
        self.server = server
        self.limits = limits
        self.ended: Ended | None = None
        self.flooded = False
        self.texts: dict[str, bytearray] = {}
        self.seen: dict[str, int] = {}
        self.streams: dict[int, str] = {}
        self._outgoing = bytearray()
        self._channel: socket.socket | None = None
        fds = self._open(stdin, channel, report)
        payload = marshal.dumps(job)
        fds.insert(0, _behind(payload))
        server.busy = True
        try:
            record = REQUEST.pack(b"J", limits.seconds, limits.memory, limits.disk, len(payload))
            socket.send_fds(server.control, [record], fds)
        except OSError:
            self.close()
            raise SandboxError("the sandbox's server ended") from None
        finally:
            for fd in fds:
                if fd != server.nothing:
                    os.close(fd)
        self.deadline = time.monotonic() + 3 * limits.seconds + 10.0

    def _open(self, stdin: bytes | None, channel: int | bool, report: int | bool) -> list[int]:
        """The job's ends of its descriptors, in the order of `ROLES`; this side's go into `streams`."""
        nothing = self.server.nothing
        given = _behind(stdin) if stdin is not None else nothing
        fds = [given, self._pipe("out"), self._pipe("err")]
        if channel is True:
            self._channel, theirs = socket.socketpair()
            self._channel.setblocking(False)
            self.streams[self._channel.fileno()] = "channel"
            self.texts["channel"], self.seen["channel"] = bytearray(), 0
            fds.append(theirs.detach())
        else:
            fds.append(nothing if channel is False else channel)
        fds.append(self._pipe("report") if report is True else nothing if report is False else report)
        return fds

    def _pipe(self, role: str) -> int:
        mine, theirs = os.pipe()
        os.set_blocking(mine, False)
        self.streams[mine] = role
        self.texts[role], self.seen[role] = bytearray(), 0
        return theirs

    # ------------------------------------------------------------------------------------- going on

    def wanted(self) -> dict[int, int]:
        """Descriptors to poll, and for what."""
        events = dict.fromkeys(self.streams, select.POLLIN)
        if self._channel is not None and self._outgoing:
            events[self._channel.fileno()] = select.POLLIN | select.POLLOUT
        if self.ended is None:
            events[self.server.control.fileno()] = select.POLLIN
        return events

    def handle(self, fd: int, event: int) -> None:
        """Do what a descriptor is ready for."""
        if fd in self.streams:
            if event & select.POLLOUT:
                self._write()
            if event & ~select.POLLOUT:
                self._read(fd)
        elif self.ended is None and fd == self.server.control.fileno():
            self._learn_the_end()

    def _write(self) -> None:
        assert self._channel is not None
        try:
            sent = self._channel.send(self._outgoing)
            del self._outgoing[:sent]
        except BlockingIOError:
            return
        except OSError:
            self._outgoing.clear()

    def _read(self, fd: int) -> None:
        role = self.streams[fd]
        try:
            data = os.read(fd, 1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._shut(fd)
            return
        self.seen[role] += len(data)
        kept = self.limits.kept if role in ("out", "err") else FLOOD
        room = kept - len(self.texts[role])
        self.texts[role] += data[: max(0, room)]
        if self.seen[role] > max(FLOOD, 2 * self.limits.kept) and not self.flooded and role != "channel":
            self.flooded = True
            self.kill()

    def _shut(self, fd: int) -> None:
        if self.streams.pop(fd) == "channel" and self._channel is not None:
            self._channel.close()
            self._channel = None
        else:
            os.close(fd)

    def _learn_the_end(self) -> None:
        data = b""
        while len(data) < REPLY.size:
            try:
                part = self.server.control.recv(REPLY.size - len(data))
            except OSError:
                part = b""
            if not part:
                self.close()
                raise SandboxError("the sandbox's server ended")
            data += part
        how, code, seconds, cpu, memory = REPLY.unpack(data)
        self.ended = Ended(ENDINGS[how], code, seconds, cpu, memory)
        self.server.busy = False
        for fd in list(self.streams):  # what was written before the end
            while fd in self.streams and _readable(fd):
                self._read(fd)

    def kill(self) -> None:
        """Ask for the job's end; it comes through `pump` like any other."""
        if self.ended is None:
            with contextlib.suppress(OSError):
                self.server.control.sendall(REQUEST.pack(b"K", 0.0, 0, 0, 0))

    # -------------------------------------------------------------------------------------- the channel

    def send(self, value: Any, given: int | None = None) -> None:
        """Put a line of JSON into the channel, with a descriptor where one is given; `pump` carries it.

        Raises:
            SandboxError: the descriptor cannot be sent.
        """
        self._outgoing += json.dumps(value, allow_nan=False).encode() + b"\n"
        if given is not None and self._channel is not None:
            try:
                sent = socket.send_fds(self._channel, [self._outgoing], [given])
            except (
                OSError
            ) as error:  # full, though nothing can lie in it between two jobs, or its reader is gone
                self.close()
                raise SandboxError(f"the sandbox's judge takes no program ({error})") from None
            del self._outgoing[:sent]
        if self._channel is not None:
            self._write()
        else:
            self._outgoing.clear()

    def hang_up(self) -> None:
        """Close this end of the channel: the job reads its end."""
        if self._channel is not None:
            self._shut(self._channel.fileno())

    @property
    def has_line(self) -> bool:
        """Whether an answer is there."""
        return b"\n" in self.texts["channel"]

    def take_lines(self) -> list[bytes]:
        """The whole lines that came; what follows stays."""
        *lines, rest = bytes(self.texts["channel"]).split(b"\n")
        self.texts["channel"][:] = rest
        return lines

    @property
    def hung_up(self) -> bool:
        """Whether no answer can come any more."""
        return (
            self._channel is None or self.seen["channel"] > 8 * FLOOD or len(self.texts["channel"]) >= FLOOD
        )

    def take_line(self) -> bytes:
        """The next answer; nothing may follow it that nobody asked for.

        Raises:
            ValueError: something follows it.
        """
        line, _, rest = bytes(self.texts["channel"]).partition(b"\n")
        self.texts["channel"].clear()
        if rest:
            raise ValueError("more than one answer")
        return line

    # --------------------------------------------------------------------------------------- its end

    def close(self) -> None:
        """Let go of its descriptors; a job that has not ended takes its server with it."""
        for fd in list(self.streams):
            self._shut(fd)
        if self.ended is None:
            self.server.close()


def _behind(data: bytes) -> int:
    """A descriptor behind which `data` is to be read."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("job")
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _readable(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))


def pump(jobs: Sequence[Running], until: Callable[[], bool]) -> None:
    """Let jobs go on until something is so, or all have ended and said everything.

    Raises:
        Overdue: a job was not ended long after its time; it is closed.
        SandboxError: a server ended.
    """
    while not until():
        poll = select.poll()
        owners: dict[int, Running] = {}
        for job in jobs:
            for fd, events in job.wanted().items():
                poll.register(fd, events)
                owners[fd] = job
        if not owners:
            return
        unfinished = [job for job in jobs if job.ended is None]
        if not unfinished and not poll.poll(0):
            return
        left = min((job.deadline for job in unfinished), default=time.monotonic()) - time.monotonic()
        ready = poll.poll(max(0.0, left) * 1000)
        if not ready and left <= 0 and unfinished:
            for job in unfinished:
                if job.deadline <= time.monotonic():
                    job.close()
            raise Overdue("the sandbox did not end a program in time")
        for fd, event in ready:
            owners[fd].handle(fd, event)


def finish(jobs: Sequence[Running]) -> list[Ended]:
    """End jobs and let go of them."""
    for job in jobs:
        job.kill()
    pump(jobs, lambda: all(job.ended is not None for job in jobs))
    for job in jobs:
        job.close()
    return [job.ended for job in jobs if job.ended is not None]
