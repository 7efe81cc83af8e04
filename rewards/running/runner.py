"""Runner and Worker: the parent's handles on processes that run the user's code.

A `Runner` owns one template process. `Runner.worker` forks a `Worker` from it, in which a target is loaded;
requests to it have a deadline, at which it is killed. Errors the user can cause while the file loads come
as `LoadError`, `TargetError` or `ManifestError`; later ones as a status of the rows concerned.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from rewards import errors
from rewards.contract import Batch, CallResult
from rewards.errors import LoadError, RewardWorkbenchError, WorkerDied, WorkerError, WorkerTimeout
from rewards.rewardset import SetDescription
from rewards.running.wire import decode_answer, receive_bytes, send_object
from rewards.sources import source_digest
from rewards.targets import parse_target

LOAD_TIMEOUT_S = float(os.environ.get("REWARD_WORKBENCH_LOAD_TIMEOUT_S", "30"))
"""Seconds a user's file may take to import; the environment variable of that name changes it."""

WARM_WORKERS = 2
"""Processes a runner keeps for rewards that load a model."""


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
                    self._process.wait(10)
                except subprocess.TimeoutExpired:
                    self._process.kill()
                    self._process.wait()
                self._process = None
            if self._forked is not None:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(self._forked, 0)
                self._forked = None

    def _ask(self, message: dict[str, Any], fds: list[int] | None = None, *, answered: bool = True) -> Any:
        with self._lock:
            if self._control is None:
                raise WorkerError("the runner is closed")
            try:
                socket.send_fds(self._control, [b"+"], fds or [])
                send_object(self._control, message)
                return decode_answer(receive_bytes(self._control)) if answered else None
            except (OSError, EOFError) as error:
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
            except WorkerError:
                if self._control is None:
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
        return int(pid), connection, life

    def end(self, pid: int) -> None:
        """Kill a worker and everything in its session."""
        with contextlib.suppress(WorkerError):
            self._ask({"op": "kill", "pid": pid}, answered=False)

    def worker(
        self, target: str | Path, batch: Batch | None = None, *, load_timeout_s: float = LOAD_TIMEOUT_S
    ) -> Worker:
        """A new process in which `target` is loaded and `batch` is at hand.

        Raises:
            LoadError: the user's file raised, ended the process or was not loaded in `load_timeout_s` seconds.
            TargetError, ManifestError: as in `RewardSet.load`.
        """
        kept = self.take_warm(str(target))
        if kept is not None:
            kept.serve(self, batch)
            return kept
        return Worker(self, str(target), batch, load_timeout_s)

    def take_warm(self, target: str) -> Worker | None:
        """A process kept for this target, if its code is still the same; one of an older version is ended."""
        with self._lock:
            worker, version = self._warm.pop(target, (None, ""))
        if worker is None:
            return None
        if worker.alive and version == _version(target):
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

    def inspect(self, target: str | Path, *, load_timeout_s: float = LOAD_TIMEOUT_S) -> SetDescription:
        """Load a target in a process of its own and say what it holds. Raises as `worker` does."""
        with self.worker(target, load_timeout_s=load_timeout_s) as worker:
            return worker.description


def _become_template(control: socket.socket, held: dict[int, Batch]) -> None:
    status = 1
    try:
        keep = control.fileno()
        os.closerange(3, keep)
        os.closerange(keep + 1, 65536)
        from rewards.running.template import serve

        serve(control, dict(held))
        status = 0
    finally:
        os._exit(status)


class Worker:
    """A process with one target loaded. A context manager; one request at a time."""

    def __init__(self, runner: Runner, target: str, batch: Batch | None, load_timeout_s: float) -> None:
        self._runner = runner
        self._batch = batch
        self._load_timeout_s = load_timeout_s
        self._pid = 0
        self._connection: socket.socket | None = None
        self._life: socket.socket | None = None
        self.target = target
        self.printed = ""
        self.generation = 0
        self.version = ""
        self.description = self._start()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._runner.keep(self):
            self.kill()

    def serve(self, runner: Runner, batch: Batch | None) -> None:
        """Work for another runner of the same template, on other rows, from now on."""
        self._runner = runner
        if batch is not self._batch:
            self._batch = batch
            self.run("rewards.running.child:replace_rows", batch=batch)

    @property
    def batch(self) -> Batch:
        """The rows the worker was started with."""
        return self._batch if self._batch is not None else Batch([], [])

    @property
    def pid(self) -> int:
        """The process; 0 before the first start."""
        return self._pid

    @property
    def alive(self) -> bool:
        """False once the process was killed or ended."""
        return self._connection is not None

    def _start(self) -> SetDescription:
        self._pid, self._connection, self._life = self._runner.fork(self._batch)
        self.generation += 1
        name = Path(self.target.partition("::")[0]).name
        try:
            values = self._request({"target": self.target, "cwd": os.getcwd()}, self._load_timeout_s)
        except WorkerTimeout:
            raise LoadError(
                f"{name} was not loaded after {self._load_timeout_s:g} s: is there an endless loop at import? "
                "Put long work into a function"
            ) from None
        except WorkerDied as error:
            raise LoadError(
                f"{name} ended the process while it was imported ({_ending(error.code)})"
            ) from None
        except RewardWorkbenchError:
            self.kill()
            raise
        description = SetDescription.from_json(values)
        if any(reward.entry.runs == "warm" for reward in description.rewards):
            self.version = _version(self.target)
        return description

    def restart(self) -> None:
        """A fresh process with the same target and rows."""
        self.kill()
        self._start()

    def kill(self) -> None:
        """End the process at once, and everything it started; returns when it is gone."""
        if self._connection is not None:
            self._runner.end(self._pid)
            self._exit_code()

    def _exit_code(self) -> int:
        """Wait until the process is gone, close its sockets; the code it ended with, negative for a signal."""
        assert self._connection is not None
        assert self._life is not None
        connection, life = self._connection, self._life
        self._connection = self._life = None
        try:
            if not select.select([life], [], [], 0.5)[0]:  # it closed its connection and lives on
                self._runner.end(self._pid)
            life.settimeout(10)
            code = life.recv(4)
            return int.from_bytes(code, "big", signed=True) if len(code) == 4 else -9
        except OSError:
            return -9
        finally:
            connection.close()
            life.close()

    def _request(self, message: dict[str, Any], timeout_s: float) -> Any:
        if self._connection is None:
            raise WorkerDied("the worker process is gone", code=-9)
        deadline = time.monotonic() + timeout_s
        try:
            send_object(self._connection, message)
            answer = decode_answer(self._await_answer(deadline))
        except TimeoutError:
            self.kill()
            raise WorkerTimeout(f"no answer after {timeout_s:g} s", kind="WorkerTimeout") from None
        except (EOFError, OSError, ValueError):
            code = self._exit_code()
            raise WorkerDied(_ending(code), code=code) from None
        if "error" in answer:
            kind, text = answer["error"]
            raise _known_error(kind)(text)
        if "raised" in answer:
            kind, text = answer["raised"]
            raise WorkerError(text, kind=kind)
        self.printed += answer["printed"]
        return answer["answer"]

    def _await_answer(self, deadline: float) -> bytearray:
        assert self._connection is not None
        assert self._life is not None
        left = max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([self._connection, self._life], [], [], left)
        if not ready:
            raise TimeoutError
        if self._connection not in ready:
            raise EOFError
        self._connection.settimeout(max(0.001, deadline - time.monotonic()))
        payload = receive_bytes(self._connection)
        self._connection.settimeout(None)
        return payload

    def run(self, function: str | Callable[..., Any], *, timeout_s: float = 60.0, **arguments: Any) -> Any:
        """Call one of our own functions inside the process and return its answer.

        Args:
            function: `"module:function"` or a module-level function; it is called as
                `function(context, **arguments)` with a `rewards.running.child.Context`.
            timeout_s: seconds until the process is killed.
            arguments: anything that pickles.

        Returns:
            What the function returned: JSON values and arrays of float64, uint8, int64 or bool.

        Raises:
            WorkerTimeout, WorkerDied: the process is gone afterwards (`restart` makes a new one).
            WorkerError: the function raised; `kind` is the exception's class.
        """
        path = function if isinstance(function, str) else f"{function.__module__}:{function.__qualname__}"
        return self._request({"function": path, "arguments": arguments}, timeout_s)

    def call(
        self,
        reward: str,
        batch: Batch | None = None,
        *,
        rows: list[int] | None = None,
        timeout_s: float | None = None,
        trainer_state: Callable[[], Any] | None = None,
        record_credits: bool = False,
    ) -> CallResult:
        """Call one reward as TRL would; never raises for what the user's code does.

        The rows go in one call. If that call raises it is repeated in halves until only the failing rows
        fail; if the process hangs or dies, row by row (group by group for `scope = "group"`).

        Args:
            reward: the reward's name.
            batch: the rows; None for those the worker was started with, `rows` selects among them.
            timeout_s: seconds one completion may take; None: as declared.
            trainer_state: gives a `rewards.running.child.StateUpdate` for the process as it is then.
        """
        from rewards.running.calling import call_with_deadlines

        return call_with_deadlines(
            self,
            reward,
            batch,
            rows,
            timeout_s=timeout_s,
            trainer_state=trainer_state,
            record_credits=record_credits,
        )


def _version(target: str) -> str:
    """The code version of a target; one that cannot be read has none that another would equal."""
    try:
        return source_digest(parse_target(target))
    except RewardWorkbenchError as error:
        return f"unreadable: {error}"


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _known_error(kind: str) -> type[RewardWorkbenchError]:
    found = getattr(errors, kind, None)
    if (
        isinstance(found, type)
        and issubclass(found, RewardWorkbenchError)
        and found is not errors.MissingExtraError
    ):
        return found
    return RewardWorkbenchError
