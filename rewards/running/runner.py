"""Runner: the parent's handle on the template process, and the maker of the workers forked from it."""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from rewards.contract import Batch
from rewards.errors import (
    UsageError,
    WorkerError,
)
from rewards.rewardset import SetDescription
from rewards.running.guard import END
from rewards.running.wire import decode_answer, receive_bytes, send_object
from rewards.running.worker import Worker, code_version

LOAD_TIMEOUT_S = 30.0
"""Seconds a user's file may take to import where nothing else is said."""

LOAD_TIMEOUT_VARIABLE = "REWARD_WORKBENCH_LOAD_TIMEOUT_S"
"""The environment variable that changes them."""

TEMPLATE_TIMEOUT_S = 60.0
"""Seconds the template may take to answer; one that does not is replaced."""

CLOSE_S = 10.0
"""Seconds the template may take to end once it is told to."""

NO_PROCESS = "NoProcess"
"""The kind of error where the system refuses another process; those there are go on."""

WARM_WORKERS = 2
"""Processes a runner keeps for rewards that load a model."""


def load_timeout() -> float:
    """Seconds a user's file may take to import, as the environment says.

    Raises:
        UsageError: what it says is no number of seconds.
    """
    text = os.environ.get(LOAD_TIMEOUT_VARIABLE, "")
    if not text.strip():
        return LOAD_TIMEOUT_S
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.0 < seconds < math.inf:
        raise UsageError(
            f"{LOAD_TIMEOUT_VARIABLE}={text!r} is no number of seconds above 0; the default is {LOAD_TIMEOUT_S:g}"
        )
    return seconds


class Runner:
    """One template process and the workers forked from it. A context manager; usable from several threads.

    Args:
        spawn: start the template as a fresh interpreter (needed where this process has threads or is large:
            app, trainer); otherwise it is forked from this process, which is quicker.
        preload: modules a spawned template imports, so that workers have them at once.
        batch: rows that a forked template inherits as they are, without being sent.
        environment: variables set in a spawned template and its workers, on top of this process' own.
    """

    def __init__(
        self,
        *,
        spawn: bool = False,
        preload: tuple[str, ...] = (),
        batch: Batch | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._environment = {**os.environ, **environment} if environment else None
        self._spawn = spawn or threading.active_count() > 1 or not sys.platform.startswith("linux")
        self._preload = preload
        self._lock = threading.RLock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._forked: int | None = None
        self._keys = itertools.count(1)
        self._held: list[tuple[int, Batch]] = []
        self._warm: dict[str, tuple[Worker, str]] = {}
        self._first = batch
        self._start()

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        if self._spawn:
            command = [
                sys.executable,
                "-P",
                "-m",
                "rewards.running.template",
                str(theirs.fileno()),
                *self._preload,
            ]
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=self._environment
            )
        else:
            self._forked = os.fork()
            if self._forked == 0:
                _become_template(theirs, {} if self._first is None else {0: self._first})
        theirs.close()
        self._control = ours
        self._held = [(0, self._first)] if self._forked and self._first is not None else []

    def close(self) -> None:
        """End the template and every worker."""
        with self._lock:
            warm, self._warm = self._warm, {}
            for worker, _ in warm.values():
                worker.kill()
            if self._control is not None:
                self._control.close()
                self._control = None
            if self._process is not None:
                try:
                    self._process.wait(CLOSE_S)
                except subprocess.TimeoutExpired:
                    self._end_template()
                    self._process.wait()
                self._process = None
            if self._forked is not None:
                self._bury_forked(self._forked)
                self._forked = None

    def _bury_forked(self, guard: int) -> None:
        """Wait for the guard of a forked template, which is told to end it where that takes long."""
        with contextlib.suppress(ChildProcessError):
            end = time.monotonic() + CLOSE_S
            while os.waitpid(guard, os.WNOHANG) == (0, 0):
                if time.monotonic() > end:
                    self._end_template()
                    os.waitpid(guard, 0)
                    return
                time.sleep(0.001)

    def _end_template(self) -> None:
        """Have the template's guard end it, and all that came of it, whatever state it is in."""
        guard = self._process.pid if self._process is not None else self._forked
        if guard is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(guard, END)

    def _ask(self, message: dict[str, Any], fds: list[int] | None = None, *, answered: bool = True) -> Any:
        with self._lock:
            if self._control is None:
                raise WorkerError("the runner is closed")
            try:
                self._control.settimeout(TEMPLATE_TIMEOUT_S)
                send_object(self._control, message, fds=fds or [])
                return decode_answer(receive_bytes(self._control)) if answered else None
            except (OSError, EOFError) as error:
                if isinstance(error, TimeoutError):  # stopped: it would never notice that it is not wanted
                    self._end_template()
                raise WorkerError(f"the template process ended ({type(error).__name__})") from error

    def _hold(self, batch: Batch | None) -> int:
        """Give the template a batch once; workers forked later inherit it."""
        if batch is None or not len(batch):
            return -1
        for key, held in self._held:
            if held is batch:
                return key
        key = next(self._keys)
        self._ask({"op": "hold", "key": key, "value": batch})
        self._held = [*self._held[-3:], (key, batch)]
        return key

    def fork(self, batch: Batch | None) -> tuple[int, socket.socket, socket.socket]:
        """A new worker's process id, its connection, and the socket on which its exit code comes."""
        with self._lock:
            try:
                return self._fork_once(batch)
            except WorkerError as error:
                if self._control is None or error.kind == NO_PROCESS:
                    raise
                self.close()  # a dead template is replaced, once
                self._start()
                return self._fork_once(batch)

    def _fork_once(self, batch: Batch | None) -> tuple[int, socket.socket, socket.socket]:
        key = self._hold(batch)
        connection, theirs = socket.socketpair()
        life, their_life = socket.socketpair()
        try:
            pid = self._ask({"op": "fork", "batch": key}, [theirs.fileno(), their_life.fileno()])
        except WorkerError:
            connection.close()
            life.close()
            raise
        finally:
            theirs.close()
            their_life.close()
        if isinstance(pid, str):
            connection.close()
            life.close()
            raise WorkerError(f"no process could be started for the rewards: {pid}", kind=NO_PROCESS)
        return int(pid), connection, life

    def end(self, pid: int) -> None:
        """Kill a worker and everything in its session."""
        with contextlib.suppress(WorkerError):
            self._ask({"op": "kill", "pid": pid}, answered=False)

    def worker(
        self, target: str | Path, batch: Batch | None = None, *, load_timeout_s: float | None = None
    ) -> Worker:
        """A new process in which `target` is loaded and `batch` is at hand.

        Raises:
            LoadError: the user's file raised, ended the process or was not loaded in `load_timeout_s` seconds
                (None: as `load_timeout` says).
            TargetError, ManifestError: as in `RewardSet.load`.
        """
        kept = self.take_warm(str(target))
        if kept is not None:
            kept.serve(self, batch)
            return kept
        return Worker(self, str(target), batch, load_timeout() if load_timeout_s is None else load_timeout_s)

    def take_warm(self, target: str) -> Worker | None:
        """A process kept for this target, if its code is still the same; one of an older version is ended."""
        with self._lock:
            worker, version = self._warm.pop(target, (None, ""))
        if worker is None:
            return None
        if worker.alive and version == code_version(target):
            return worker
        worker.kill()
        return None

    def keep(self, worker: Worker) -> bool:
        """Keep a worker whose rewards are declared `runs = "warm"` for the next one who asks; False for others."""
        if not worker.alive or all(reward.entry.runs != "warm" for reward in worker.description.rewards):
            return False
        with self._lock:
            if self._control is None or worker.target in self._warm:
                return False
            while len(self._warm) >= WARM_WORKERS:
                oldest, _ = self._warm.pop(next(iter(self._warm)))
                oldest.kill()
            self._warm[worker.target] = (worker, worker.version)
        return True

    def inspect(self, target: str | Path, *, load_timeout_s: float | None = None) -> SetDescription:
        """Load a target in a process of its own and say what it holds. Raises as `worker` does."""
        with self.worker(target, load_timeout_s=load_timeout_s) as worker:
            return worker.description


def _become_template(control: socket.socket, held: dict[int, Batch]) -> None:
    status = 1
    try:
        keep = control.fileno()
        os.closerange(3, keep)
        os.closerange(keep + 1, 65536)
        from rewards.running.guard import leave_a_guard
        from rewards.running.template import serve

        serve(control, leave_a_guard(keep), dict(held))
        status = 0
    finally:
        os._exit(status)
