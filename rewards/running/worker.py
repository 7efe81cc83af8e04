"""Worker: the parent's handle on one process that runs the user's code.

Requests to it have a deadline, at which it is killed. Errors the user can cause while the file loads come as
`LoadError`, `TargetError` or `ManifestError`; later ones as a status of the rows concerned.
"""

from __future__ import annotations

import math
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from rewards import errors
from rewards.contract import Batch, CallResult
from rewards.errors import LoadError, RewardWorkbenchError, WorkerDied, WorkerError, WorkerTimeout
from rewards.rewardset import SetDescription
from rewards.running.wire import BAD_ANSWER, decode_answer, receive_bytes, send_object
from rewards.sources import source_digest
from rewards.targets import parse_target

if TYPE_CHECKING:
    from rewards.running.calling import PendingCall
    from rewards.running.runner import Runner

LONGEST_S = 1e6
"""The longest that is waited for anything; more does not fit into the system's own waiting."""


class GivenUp(Exception):
    """A worker whose answers nobody wants any more was asked to go on."""


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
        self.helper: Worker | None = None
        self._given_up = False
        self.description = self.loaded = self._start()

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
        self._see_that_it_is_wanted()
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
        self._see_that_it_is_wanted()
        description = SetDescription.from_json(values)
        if any(reward.entry.runs == "warm" for reward in description.rewards):
            self.version = code_version(self.target)
        return description

    def restart(self) -> None:
        """A fresh process with the same target and rows; `loaded` is what the target's files give now."""
        self.kill()
        self.loaded = self._start()

    def kill(self) -> None:
        """End the process at once, and everything it started; returns when it is gone."""
        if self._connection is not None:
            self._runner.end(self._pid)
            self._exit_code()

    def give_up(self) -> None:
        """From any thread: end the process and let no other take its place; its user gets `GivenUp`."""
        self._given_up = True
        helper = self.helper
        if helper is not None:
            helper.give_up()
        if self._connection is not None:
            self._runner.end(self._pid)

    def sibling(self, batch: Batch) -> Worker:
        """Another process with the same target, on rows of its own; `give_up` ends it too.

        Raises:
            GivenUp: nobody wants its answers any more.
        """
        helper = Worker(self._runner, self.target, batch, self._load_timeout_s)
        self.helper = helper
        self._see_that_it_is_wanted()
        return helper

    def _see_that_it_is_wanted(self) -> None:
        if self._given_up:
            self.kill()
            if self.helper is not None:
                self.helper.kill()
            raise GivenUp

    def _exit_code(self) -> int:
        """Wait until the process is gone, close its sockets; the code it ended with, negative for a signal."""
        assert self._connection is not None
        assert self._life is not None
        connection, life = self._connection, self._life
        self._connection = self._life = None
        try:
            if not wait_for([life], time.monotonic() + 0.5):  # it closed its connection and lives on
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
        deadline = time.monotonic() + min(timeout_s, LONGEST_S)
        self._send(message, deadline, timeout_s)
        return self._interpret(self._receive(deadline, timeout_s))

    def _send(self, message: dict[str, Any], deadline: float, timeout_s: float) -> None:
        if self._connection is None:
            raise WorkerDied("the worker process is gone", code=-9)
        try:
            self._connection.settimeout(_left(deadline))
            send_object(self._connection, message)
        except OSError as error:
            self._lost(error, timeout_s)

    def _receive(self, deadline: float, timeout_s: float) -> dict[str, Any]:
        """The next frame of an answer."""
        if self._connection is None or self._life is None:
            raise WorkerDied("the worker process is gone", code=-9)
        try:
            ready = wait_for([self._connection, self._life], deadline)
            if not ready:
                raise TimeoutError
            if self._connection not in ready:
                raise EOFError
            self._connection.settimeout(_left(deadline))
            frame = decode_answer(receive_bytes(self._connection))
            if not isinstance(frame, dict):
                raise ValueError("no frame")  # an answer of the wrong shape, as any other
            return frame
        except BAD_ANSWER as error:
            return self._lost(error, timeout_s)

    def _lost(self, error: BaseException, timeout_s: float) -> NoReturn:
        if isinstance(error, TimeoutError):
            self.kill()
            raise WorkerTimeout(f"no answer after {timeout_s:g} s", kind="WorkerTimeout") from None
        code = self._exit_code()
        raise WorkerDied(_ending(code), code=code) from None

    def _interpret(self, frame: dict[str, Any]) -> Any:
        try:
            if "error" in frame:
                kind, text = map(str, frame["error"])
                raise _known_error(kind)(text)
            if "raised" in frame:
                kind, text = map(str, frame["raised"])
                raise WorkerError(text, kind=kind)
            self.printed += str(frame["printed"])
            return frame["answer"]
        except (KeyError, TypeError, ValueError) as error:
            return self._lost(error, 0.0)

    # ------------------------------------------------------------------------- requests that are waited for elsewhere

    def begin(self, function: str, *, timeout_s: float, **arguments: Any) -> None:
        """Send a request as `run` does, and do not wait for its answer.

        Raises:
            WorkerTimeout, WorkerDied: it could not be sent in `timeout_s` seconds.
        """
        deadline = time.monotonic() + min(timeout_s, LONGEST_S)
        self._send({"function": function, "arguments": arguments}, deadline, timeout_s)

    def answer(self, timeout_s: float) -> Any:
        """The answer to what was begun; raises as `run` does."""
        return self._interpret(self._receive(time.monotonic() + min(timeout_s, LONGEST_S), timeout_s))

    def part(self, timeout_s: float) -> tuple[Any, bool]:
        """What a function that yields gives next, and whether it was the last: then it is its None.

        Raises:
            WorkerTimeout, WorkerDied, WorkerError: as `run`.
        """
        frame = self._receive(time.monotonic() + min(timeout_s, LONGEST_S), timeout_s)
        return (frame["part"], False) if "part" in frame else (self._interpret(frame), True)

    @property
    def sockets(self) -> list[socket.socket]:
        """What becomes readable when there is an answer, or no more can come; none where the process is gone."""
        return [one for one in (self._connection, self._life) if one is not None]

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
        trainer_state: Callable[[bool], Any] | None = None,
        record_credits: bool = False,
    ) -> CallResult:
        """Call one reward as TRL would; never raises for what the user's code does.

        The rows go in one call. If it raises, hangs or ends its process, the rows that do so alone fail, and the
        others are called together without them, as `rewards.running.calling` says.

        Args:
            reward: the reward's name.
            batch: the rows; None for those the worker was started with, `rows` selects among them.
            timeout_s: seconds one completion may take; None: as declared.
            trainer_state: gives a `rewards.running.child.StateUpdate` for the worker's process as it is then, or for
                a fresh one where its argument is true.

        Raises:
            GivenUp: `give_up` was called.
        """
        begun = self.begin_call(
            reward,
            batch,
            rows=rows,
            timeout_s=timeout_s,
            trainer_state=trainer_state,
            record_credits=record_credits,
        )
        return begun.result()

    def begin_call(
        self,
        reward: str,
        batch: Batch | None = None,
        *,
        rows: list[int] | None = None,
        timeout_s: float | None = None,
        **options: Any,
    ) -> PendingCall:
        """Send what `call` sends and do not wait; the result of what is returned is what `call` returns."""
        from rewards.running.calling import PendingCall

        return PendingCall(self, reward, batch, rows, timeout_s, options).begin()


def wait_for(sockets: Sequence[socket.socket], deadline: float) -> list[socket.socket]:
    """Those of the sockets that can be read; none once the deadline (of `time.monotonic`) has passed."""
    poll = select.poll()
    by_number = {one.fileno(): one for one in sockets}
    for number in by_number:
        poll.register(number, select.POLLIN)
    ready = poll.poll(math.ceil(min(max(0.0, deadline - time.monotonic()), LONGEST_S) * 1000))
    return [by_number[number] for number, _ in ready]


def _left(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())


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


def code_version(target: str) -> str:
    """The code version of a target; one that cannot be read has none that another would equal."""
    try:
        return source_digest(parse_target(target))
    except RewardWorkbenchError as error:
        return f"unreadable: {error}"
