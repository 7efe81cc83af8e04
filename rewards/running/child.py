"""What a worker process does: load one target, then answer requests until it is told to stop.

A request names a function of ours by its import path; it is called with a `Context` and the request's
arguments, and what it returns goes back as JSON and arrays.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import socket
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from rewards import outside
from rewards.conditions import call_where
from rewards.contract import Batch, CallResult, TrainerState, describe_exception
from rewards.errors import RewardWorkbenchError
from rewards.repeating import call_rows_apart, calling_scope
from rewards.rewardset import RewardSet
from rewards.running.memory import Memory
from rewards.running.wire import receive_object, send_answer

_PRINTED = 65536
"""Characters kept of what one call prints."""

_PRINTED_ROW = 4096
"""Characters kept of what is printed for one row."""


@dataclass
class Context:
    """What a function that runs in a worker gets: the loaded set and the rows it was started with."""

    rewardset: RewardSet
    batch: Batch
    target: str
    state: TrainerState = field(default_factory=TrainerState)
    memory: Memory | None = None

    def rows(self, rows: list[int] | None) -> Batch:
        """The batch, or only some of its rows."""
        return self.batch if rows is None else self.batch.rows(rows)

    def update(self, news: StateUpdate) -> TrainerState:
        """The trainer's state as it is now, `log_history` included."""
        vars(self.state).update(news.fields)
        del self.state.log_history[news.known :]
        self.state.log_history += news.new
        return self.state


def serve(connection: socket.socket, batch: Batch | None) -> None:
    """Answer requests; the first one names the target."""
    sys.dont_write_bytecode = True
    outside.install()
    output = _Output()
    context: Context | None = None
    while True:
        try:
            request = receive_object(connection)
        except (EOFError, OSError):
            return
        try:
            answer: Any
            if context is None:
                os.chdir(request["cwd"])
                rewardset = RewardSet.load(request["target"])
                answer = rewardset.describe().to_json()
                context = Context(
                    rewardset, batch or Batch([], []), str(request["target"]), memory=Memory(rewardset)
                )
            else:
                answer = _function(request["function"])(context, **request["arguments"])
            if isinstance(answer, types.GeneratorType):
                for part in answer:
                    send_answer(connection, {"part": part})
                answer = None
            send_answer(connection, {"answer": answer, "printed": output.take()})
        except RewardWorkbenchError as error:
            send_answer(connection, {"error": [type(error).__name__, str(error)]})
        except BaseException as error:  # noqa: BLE001  # a fault of ours, or of a user's object where we touched it
            send_answer(connection, {"raised": [type(error).__name__, describe_exception(error)]})


def replace_rows(context: Context, batch: Batch | None) -> None:
    """Give a process that is kept the rows of its next user."""
    context.batch = batch or Batch([], [])


def _function(path: str) -> Any:
    module, _, name = path.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


class _Output:
    """Keeps what is written to the descriptors 1 and 2, past Python's own streams."""

    def __init__(self) -> None:
        with open(os.devnull, "rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        self.file = (
            os.memfd_create("output") if hasattr(os, "memfd_create") else os.open(os.devnull, os.O_RDWR)
        )
        os.dup2(self.file, 1)
        os.dup2(self.file, 2)
        sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False, buffering=1)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False, buffering=1)  # noqa: SIM115

    def take(self) -> str:
        """What was written since the last time, at most 64 KiB."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # the user's code may have replaced or closed it
                stream.flush()
        size = os.lseek(self.file, 0, os.SEEK_CUR)
        if size == 0:
            return ""
        text = os.pread(self.file, _PRINTED, 0)
        os.ftruncate(self.file, 0)
        os.lseek(self.file, 0, os.SEEK_SET)
        return text.decode("utf-8", "replace")


@dataclass(frozen=True)
class StateUpdate:
    """What is new in the trainer's state since the last call to this process.

    `fields` are the plain attributes; `known` is the length of the `log_history` the process should have, to
    which `new` is added. A process that was replaced has none and is sent all of it.
    """

    fields: dict[str, Any]
    known: int
    new: list[dict[str, Any]]


def call_reward(
    context: Context,
    reward: str,
    rows: list[int] | None = None,
    batch: Batch | None = None,
    trainer_state: StateUpdate | None = None,
    record_credits: bool = False,
) -> dict[str, Any]:
    """One call to a reward for `Worker.call`; where it raises, again in halves until only failing rows fail.

    With a condition (`when`) the reward is called with the rows it applies to and abstains on the others. It gets
    a copy of them, so that the next reward does not see what this one changes.
    """
    index = context.rewardset.index(reward)
    entry = context.rewardset.entries[index]
    declared = context.rewardset.declared[index] if context.rewardset.declared else ()
    state = context.update(trainer_state) if trainer_state is not None else None

    def one_call(concerned: Batch) -> CallResult:
        with outside.watched() as seen:
            result = call_rows_apart(
                context.rewardset.function(reward),
                concerned,
                scope=calling_scope(entry.scope, declared),
                params=entry.params,
                trainer_state=state,
                record_credits=record_credits,
            )
        reads = seen.reads() if state is None else ()  # of training nothing is kept
        return replace(result, reads=reads) if reads else result

    concerned = batch if batch is not None else context.rows(rows)
    with context.memory.limited_to(reward) if context.memory is not None else contextlib.nullcontext():
        result = call_where(entry.when, concerned, one_call)
    return encode_result(result)


def call_rewards(
    context: Context,
    rewards: list[str],
    rows: bytes,
    trainer_state: StateUpdate | None = None,
    record_credits: bool = False,
) -> dict[str, dict[str, Any]]:
    """Each of several rewards, one after another, on the same rows (a pickled `Batch`)."""
    batch = pickle.loads(rows)  # noqa: S301  # a worker trusts its parent
    return {
        reward: call_reward(
            context,
            reward,
            batch=batch,
            trainer_state=trainer_state,
            record_credits=record_credits,
        )
        for reward in rewards
    }


def call_units(
    context: Context,
    reward: str,
    units: list[list[int]],
    batch: Batch | None = None,
    trainer_state: StateUpdate | None = None,
    record_credits: bool = False,
) -> Iterator[dict[str, Any]]:
    """Calls with some rows each, one after another; each result is told before the next call begins."""
    source = batch if batch is not None else context.batch
    for rows in units:
        yield call_reward(
            context,
            reward,
            batch=source.rows(rows),
            trainer_state=trainer_state,
            record_credits=record_credits,
        )
        trainer_state = None


def encode_result(result: CallResult) -> dict[str, Any]:
    """A call's result as what may cross the boundary."""
    return {
        "scores": result.scores,
        "status": result.status,
        "errors": [[row, why] for row, why in result.errors.items()],
        "extra": result.extra,
        "metrics": result.metrics,
        "seconds": result.seconds,
        "printed": result.printed[:_PRINTED],
        "credits": result.credits,
        "notes": list(result.notes),
        "reads": [list(one) for one in result.reads],
        "printed_rows": [[row, text[:_PRINTED_ROW]] for row, text in result.printed_rows.items()],
    }


def decode_result(values: dict[str, Any]) -> CallResult:
    """What `encode_result` encoded."""
    errors = {int(row): str(why) for row, why in values["errors"]}
    printed = {int(row): str(text) for row, text in values["printed_rows"]}
    notes = tuple(map(str, values["notes"]))
    reads = tuple((str(file), str(what)) for file, what in values["reads"])
    return CallResult(**{**values, "errors": errors, "notes": notes, "printed_rows": printed, "reads": reads})
