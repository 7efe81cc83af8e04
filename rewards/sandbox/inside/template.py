"""The fork server of a sandbox: it makes a child for each job, watches it, buries it, and wipes its folder.

It reads nothing of what it passes on. The job's text, its input, its output and its channel are descriptors
that go from the caller through this process into the child, so that no child finds in its inherited memory what
another child was given or said. What it is told and tells are fixed records of numbers.

It ends when its caller is gone, and its children end with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import select
import shutil
import signal
import socket
import struct
import sys
import time
import types
from collections.abc import Callable
from typing import Any

from rewards.sandbox.inside.confine import Confinement
from rewards.sandbox.inside.job import LOW, ROLES, Function, run_job

REQUEST = struct.Struct("!cdQQQ")
"""b"J", seconds, bytes of memory, of disk, of the job; with its descriptors. Or b"K": end the child at once."""

REPLY = struct.Struct("!BiddQ")
"""How it ended (`ENDINGS`), exit code or negative signal, seconds, seconds of CPU, KiB of memory at most."""

ENDINGS = ("ended", "timeout", "killed", "disk", "refused")
ENDED, TIMEOUT, KILLED, DISK, REFUSED = range(5)

_TICK_S = 0.025
"""How often a running child's folder is looked at."""

_MAX_ENTRIES = 512
_TOO_MUCH = 1 << 62
_LONG_PATH = 2000
_LIBPROC = "/usr/lib/libproc.dylib"
_IS_MACOS = os.uname().sysname == "Darwin"
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
    while os.open(os.devnull, os.O_RDWR) < LOW:
        pass
    first, control = control, control.dup()  # and the first stays open: nothing else gets its number
    server = _Server(control, scratch, settings)
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
        first.close()


def _take_functions(names: list[str]) -> dict[str, Function]:
    """The functions that jobs name, after which no module of ours can be found by its name any more."""
    found: dict[str, Function] = {}
    for name in names:
        module, _, function = name.partition(":")
        found[name] = getattr(sys.modules[f"rewards.sandbox.inside.{module}"], function)
    for module in [name for name in sys.modules if name.partition(".")[0] == "rewards"]:
        del sys.modules[module]
    return found


def _bare_fork() -> Callable[[], int]:
    """`fork`; on Linux without what Python does around it for the sake of threads, of which there are none here."""
    if sys.platform.startswith("linux") and sys.implementation.name == "cpython":
        fork = ctypes.PyDLL(None).fork
        fork.argtypes, fork.restype = (), ctypes.c_int
        return fork
    return os.fork


class _Server:
    def __init__(self, control: socket.socket, scratch: str, settings: dict[str, Any]) -> None:
        self.control = control
        self.scratch = scratch
        self.confinement = Confinement(settings, scratch)
        self.functions = _take_functions(settings["functions"])
        self.fork = _bare_fork()
        self.buried: list[tuple[int, Any]] = []
        self.ready, self.say = os.pipe()
        os.set_blocking(self.ready, False)
        self.nothing = os.open(os.devnull, os.O_RDWR)
        self.room = socket.CMSG_SPACE(4 * (len(ROLES) + 1))
        # what a child finds: a fresh `__main__`, and the same random numbers whichever server it is
        sys.modules["__main__"] = types.ModuleType("__main__")
        sys.argv[:] = ["program.py"]
        if "random" in sys.modules:
            sys.modules["random"].seed(0)

    def answer(self) -> bool:
        """One job; False when the caller is gone."""
        data, ancillary, _, _ = self.control.recvmsg(REQUEST.size, self.room)
        while data and len(data) < REQUEST.size:
            more = self.control.recv(REQUEST.size - len(data))
            data = data + more if more else b""
        if not data:
            return False
        kind, seconds, memory, disk, size = REQUEST.unpack(data)
        if kind != b"J":  # the end of a child that had already ended
            return True
        fds = struct.unpack(f"={len(ancillary[0][2]) // 4}i", ancillary[0][2])
        self.started = time.monotonic()
        pid = self.fork()
        if pid == 0:
            self.become(fds, size, memory, seconds)
        for fd in fds:
            os.close(fd)
        return self.see_off(pid, memory, seconds, disk)

    def become(self, fds: tuple[int, ...], size: int, memory: int, seconds: float) -> None:
        """In the child: run the job; never returns."""
        try:
            os.chdir(self.scratch)
            confinement = self.confinement
            places = (*fds, *(self.nothing,) * (len(ROLES) + 1 - len(fds)), self.say)
            run_job(places, size, self.functions, confinement.put_on, confinement.ruleset, memory, seconds)
        finally:
            os._exit(70)

    def see_off(self, pid: int, memory: int, seconds: float, disk: int) -> bool:
        """Watch a child to its end and tell the caller; False when the caller is gone."""
        self.buried.clear()
        ending, gone = self.watch(pid, memory, seconds, disk)
        if ending != ENDED:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        status, usage = self.buried.pop() if self.buried else os.wait4(pid, 0)[1:]
        try:
            os.read(self.ready, 64)
        except BlockingIOError:  # it never said that it is confined
            ending = REFUSED if ending == ENDED else ending
        wipe(self.scratch)
        if gone:
            return False
        code = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - self.started
        self.control.sendall(
            REPLY.pack(ending, code, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
        )
        return True

    def watch(self, pid: int, memory: int, seconds: float, disk: int) -> tuple[int, bool]:
        """How the child ends, and whether the caller is gone."""
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        handle = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
        if handle >= 0:
            poll.register(handle, select.POLLIN)
        tick = _TICK_S if handle >= 0 else _TICK_S / 5
        try:
            while True:
                now = time.monotonic() - self.started
                if now >= seconds and self.is_over(pid, now, seconds):
                    return TIMEOUT, False
                left = seconds - now
                for fd, _ in poll.poll((min(tick, left) if left > 0.0 else tick) * 1000 + 1):
                    return (ENDED, False) if fd == handle else self.interrupted()
                if handle < 0 and self.has_ended(pid):
                    return ENDED, False
                if handle < 0 and resident_memory(pid) > memory:  # macOS limits no address space
                    return KILLED, False
                if disk_use(self.scratch) > disk:
                    return DISK, False
        finally:
            if handle >= 0:
                os.close(handle)

    def has_ended(self, pid: int) -> bool:
        """Whether a child has ended, where there are no descriptors of processes; it is buried then."""
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            self.buried.append((status, usage))
        return bool(done)

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


def resident_memory(pid: int) -> int:
    """Bytes of memory a process has, on macOS; 0 elsewhere."""
    if not _IS_MACOS:
        return 0
    figures = (ctypes.c_uint64 * 64)()  # struct rusage_info_v2, whose tenth word is the footprint
    library = ctypes.CDLL(_LIBPROC)
    return int(figures[9]) if library.proc_pid_rusage(pid, 2, ctypes.byref(figures)) == 0 else 0


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
