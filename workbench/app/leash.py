"""A leash on worker processes: from any thread, cutting it ends them at once, whatever the user's code is doing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rewards.contract import Batch
from rewards.errors import RewardWorkbenchError
from rewards.running import Runner, Worker


class Stopped(Exception):
    """Work that was ended because its result is no longer wanted."""


class Leash(Runner):
    """A runner for one piece of work: forks from `runner`'s template, and can be cut from any thread."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner  # not Runner.__init__: the template is the other runner's
        self._pids: set[int] = set()
        self._guard = threading.Lock()
        self.is_cut = False

    def fork(self, batch: Batch | None) -> tuple[int, socket.socket, socket.socket]:
        """A worker as of the runner.

        Raises:
            Stopped: the leash was cut.
        """
        if self.is_cut:
            raise Stopped
        pid, connection, life = self._runner.fork(batch)
        if not self._hold_pid(pid):
            self._runner.end(pid)
            connection.close()
            life.close()
            raise Stopped
        return pid, connection, life

    def _hold_pid(self, pid: int) -> bool:
        with self._guard:
            self._pids.add(pid)
            return not self.is_cut

    def end(self, pid: int) -> None:
        """Kill a worker."""
        with self._guard:
            self._pids.discard(pid)
        self._runner.end(pid)

    def cut(self) -> None:
        """Kill all workers now, and let no more be made."""
        with self._guard:
            self.is_cut = True
            pids, self._pids = self._pids, set()
        for pid in pids:
            self._runner.end(pid)

    def take_warm(self, target: str) -> Worker | None:
        """A process the runner keeps for this target, on this leash from now on.

        Raises:
            Stopped: the leash was cut.
        """
        worker = self._runner.take_warm(target)
        if worker is not None and not self._hold_pid(worker.pid):
            worker.kill()
            raise Stopped
        return worker

    def keep(self, worker: Worker) -> bool:
        """Give a warm process back to the runner, off the leash."""
        with self._guard:
            if self.is_cut:
                return False
            self._pids.discard(worker.pid)
        return self._runner.keep(worker)

    def close(self) -> None:
        """Nothing to end: the template belongs to the runner."""

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Work in the workers: what looks like their failure is Stopped where the leash was cut meanwhile."""
        try:
            yield
        except RewardWorkbenchError as error:
            if self.is_cut:
                raise Stopped from error
            raise
        if self.is_cut:
            raise Stopped
