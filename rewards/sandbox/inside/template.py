"""The fork server of a sandbox: it makes a child for each job, watches it, buries it, and wipes its folder.

It reads nothing of what it passes on. The job's text, its input, its output and its channel are descriptors
that go from the caller through this process into the child, so that no child finds in its inherited memory what
another child was given or said. What it is told and tells are fixed records of numbers.

It ends when its caller is gone, and its children end with it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import shutil
import signal
import socket
import struct
import sys
import time
from typing import Any

from rewards.sandbox.inside.confine import Confinement
from rewards.sandbox.inside.job import Function, run_job

REQUEST = struct.Struct("!cdQQ")
"""b"J", seconds, bytes of memory, bytes of disk; with descriptors. Or b"K": end the child at once."""

REPLY = struct.Struct("!BiddQ")
"""How it ended (`ENDINGS`), exit code or negative signal, seconds, seconds of CPU, KiB of memory at most."""

ENDINGS = ("ended", "timeout", "killed", "disk", "refused")
ENDED, TIMEOUT, KILLED, DISK, REFUSED = range(5)

_TICK_S = 0.025
"""How often a running child's folder is looked at."""

_MAX_ENTRIES = 512
_TOO_MUCH = 1 << 62
_LONG_PATH = 2000
_PATIENCE = 3.0
_ASLEEP = 0.2


def serve(control: socket.socket, settings: dict[str, Any]) -> None:
    """Answer the caller until it is gone, then wipe the folder and return.

    Args:
        control: the caller.
        settings: "scratch" (folder of the jobs), "remove" (a folder to remove at the end, or None),
            "path" (folders to import from besides the standard library), "preload" (modules to import first),
            "functions" (what jobs may name), and what `Confinement` takes.
    """
    sys.path += settings["path"]
    for module in settings["preload"]:
        with contextlib.suppress(ImportError):
            __import__(module)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    scratch = settings["scratch"]
    os.makedirs(scratch, mode=0o700, exist_ok=True)
    server = _Server(control, scratch, Confinement(settings, scratch), _take_functions(settings["functions"]))
    server.confinement.hide()
    sys.argv[:] = ["program.py"]
    gc.collect()
    gc.freeze()
    try:
        control.sendall(b"+")
        while server.answer():
            pass
    except (EOFError, OSError):
        pass
    finally:
        with contextlib.suppress(OSError):
            wipe(scratch)
        if settings["remove"] is not None:
            shutil.rmtree(settings["remove"], ignore_errors=True)


def _take_functions(names: list[str]) -> dict[str, Function]:
    """The functions that jobs name, after which no module of ours can be found by its name any more."""
    found: dict[str, Function] = {}
    for name in names:
        module, _, function = name.partition(":")
        found[name] = getattr(sys.modules[f"rewards.sandbox.inside.{module}"], function)
    for module in [name for name in sys.modules if name.partition(".")[0] == "rewards"]:
        del sys.modules[module]
    return found


class _Server:
    def __init__(
        self,
        control: socket.socket,
        scratch: str,
        confinement: Confinement,
        functions: dict[str, Function],
    ) -> None:
        self.control = control
        self.functions = functions
        self.scratch = scratch
        self.confinement = confinement

    def answer(self) -> bool:
        """One job; False when the caller is gone."""
        data, fds, _, _ = socket.recv_fds(self.control, REQUEST.size, 8)
        while data and len(data) < REQUEST.size:
            more = self.control.recv(REQUEST.size - len(data))
            data = data + more if more else b""
        if not data:
            return False
        kind, seconds, memory, disk = REQUEST.unpack(data)
        if kind != b"J":  # the end of a child that had already ended
            return True
        pid, ready = self.fork(fds, memory, seconds)
        for fd in fds:
            os.close(fd)
        ending, gone = self.watch(pid, seconds, disk)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        started = self.started
        _, status, usage = os.wait4(pid, 0)
        confined = os.read(ready, 1) == b"+"
        os.close(ready)
        if not confined and ending == ENDED:
            ending = REFUSED
        wipe(self.scratch)
        if gone:
            return False
        code = os.waitstatus_to_exitcode(status)
        cpu = usage.ru_utime + usage.ru_stime
        self.control.sendall(REPLY.pack(ending, code, time.monotonic() - started, cpu, usage.ru_maxrss))
        return True

    def fork(self, fds: list[int], memory: int, seconds: float) -> tuple[int, int]:
        """The child's process id and a pipe in which it says that it is confined, before it runs the job."""
        ready, say = os.pipe()
        self.started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            try:
                self.confinement.die_with_parent()
                self.control.close()
                os.close(ready)
                os.chdir(self.scratch)
                confine = self.confinement
                run_job(fds, say, self.functions, lambda: confine.put_on(memory, seconds), confine.ruleset)
            finally:
                os._exit(70)
        os.close(say)
        return pid, ready

    def watch(self, pid: int, seconds: float, disk: int) -> tuple[int, bool]:
        """How the child ends, and whether the caller is gone."""
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        handle = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
        if handle >= 0:
            poll.register(handle, select.POLLIN)
        try:
            while True:
                now = time.monotonic() - self.started
                if now >= seconds and self.is_over(pid, now, seconds):
                    return TIMEOUT, False
                tick = _TICK_S if handle >= 0 else 0.004
                events = poll.poll(min(tick, max(0.001, seconds - now)) * 1000)
                for fd, _ in events:
                    if fd != handle:
                        return self.interrupted()
                    return ENDED, False
                if handle < 0 and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    return ENDED, False
                if disk_use(self.scratch) > disk:
                    return DISK, False
        finally:
            if handle >= 0:
                os.close(handle)

    def interrupted(self) -> tuple[int, bool]:
        """The caller wants the child ended, or is gone."""
        data = self.control.recv(REQUEST.size)
        return KILLED, not data

    def is_over(self, pid: int, elapsed: float, seconds: float) -> bool:
        """Whether a child past its time has really had it: on a busy machine one that computes gets more.

        Not one that sleeps, and never more than three times as much: then a verdict does not hang on what else
        the machine was doing.
        """
        if elapsed >= _PATIENCE * seconds:
            return True
        used = cpu_time(pid)
        return used is None or used >= 0.9 * seconds or used < _ASLEEP * elapsed


def cpu_time(pid: int) -> float | None:
    """Seconds of CPU a process has used; None where that cannot be asked."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except (AttributeError, OSError, OverflowError):
        return None


def disk_use(folder: str) -> int:
    """Bytes that lie in a folder; very many for too many files, or where some cannot be looked at."""
    total, pending, seen = 0, [folder], 0
    while pending:
        try:
            entries = list(os.scandir(pending.pop()))
            seen += len(entries)
            for entry in entries:
                total += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
        except FileNotFoundError:  # removed while looking
            continue
        except OSError:
            return _TOO_MUCH
        if seen > _MAX_ENTRIES:
            return _TOO_MUCH
    return total


def wipe(folder: str) -> None:
    """Empty a folder, however deep its folders go: what lies too deep for a path is moved up first.

    Raises:
        OSError: something in it cannot be removed.
    """
    while entries := _entries(folder):
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _remove(entry.path, folder)
            else:
                os.unlink(entry.path)


def _remove(path: str, top: str) -> None:
    pending, seen = [path], []
    while pending:
        current = pending.pop()
        os.chmod(current, 0o700)
        seen.append(current)
        for entry in os.scandir(current):
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
            elif len(entry.path) > _LONG_PATH:
                os.rename(entry.path, f"{top}/{os.urandom(12).hex()}")
            else:
                pending.append(entry.path)
    for current in reversed(seen):
        os.rmdir(current)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except FileNotFoundError:
        os.makedirs(folder, mode=0o700)
        return []
