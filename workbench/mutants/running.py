"""Inside the worker: a reward's file with one small change at a time, scored over the same rows and texts.

Each changed file is loaded and called in a child process forked from the worker, so that what a change breaks (an
endless loop, a crash, a memory that fills, a state left behind) ends with that child. The unchanged file goes the same
way first; where it does not score as the reward itself does, nothing is tried.

How many changes are tried is said by the caller, and how long each may take is counted in processor time, so that a
busy machine finds what an idle one finds. Time by the clock only ends what would go on for ever, and that is told.
What the unchanged code does not do outside of its process (write a file, start a program, connect), a changed one is
not let do.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import json
import math
import os
import select
import signal
import sys
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rewards.contract import Batch, call, describe_exception, unwrap
from rewards.loading import module_name
from rewards.rewardset import RewardSet
from workbench.checks.laws.running import found as laws_found
from workbench.checks.laws.running import keeps
from workbench.checks.observing import batch_of, reward_named
from workbench.mutants.writing import keep_to

Scored = dict[str, Any]
"""`rows` and `texts`: for each a pair of scores and statuses."""

LEAST_S = 0.5
"""Processor seconds a child gets at least."""
LONGER = 10
"""How many times the time of the unchanged code a changed one gets."""
WAIT_S = 5.0
"""Seconds by the clock that a child is waited for at least: one that waits uses no processor time."""
FIRST_S = 20.0
"""Seconds the unchanged code gets."""
ALIKE = 1e-9


def try_changes(
    context: Any,
    *,
    reward: str,
    file: str,
    changes: list[tuple[int, int, str]],
    rows: list[int],
    texts: list[tuple[int, str]],
    chat: bool,
    seconds: float,
) -> dict[str, Any]:
    """Score rows and made-up texts with each change of the code.

    Args:
        context: the worker's set and rows.
        reward: its name in the set.
        file: the file to change.
        changes: (start, end, text) in bytes of the file.
        rows: rows of the samples, called together.
        texts: (row, text): completions to try under a row's prompt and columns, called together.
        chat: whether completions are message lists.
        seconds: by the clock, after which no further change is tried: a last resort.

    Returns:
        `first`: what the unchanged code gives ({"rows": [scores, status], "texts": ...}), None where it cannot be
        loaded apart; `lines`: the lines the rows run; `tried`: one entry for each change, in order, fewer where the
        time was over:
        `end` ("same code", "not loaded", "hangs", "dies", "scored"), and where scored the changed `rows` and `texts`
        as [place, score, status] and the `law` that is broken, if any. Texts are only tried where no row changed.
    """
    ends = time.monotonic() + seconds
    path, source = Path(file), Path(file).read_bytes()
    shaped = [[{"role": "assistant", "content": text}] if chat else text for _, text in texts]
    made_up = batch_of(context, [row for row, _ in texts], shaped)
    own = batch_of(context, rows)
    laws = [law["name"] for law in laws_found(context, reward=reward)]

    def score(changed: bytes, first: Scored | None) -> Scored:
        code = compile(changed, file, "exec", dont_inherit=True)
        if first is not None and _shape(code) == shape:
            return {"end": "same code"}
        done = keep_to(None if first is None else first["done"])
        function, entry = _changed_reward(context, reward, path, changed, code)
        by_row = _plain(function, own, entry.params)
        if first is None:
            by_text = _plain(function, made_up, entry.params)
            return {"rows": by_row, "texts": by_text, "done": done()}
        moved = _moved(first["rows"], by_row)
        if moved:
            return {"end": "scored", "rows": moved, "texts": [], "law": None}
        by_text = _plain(function, made_up, entry.params)
        broken = _broken_law(context, reward, laws, texts, chat)
        return {"end": "scored", "rows": [], "texts": _moved(first["texts"], by_text), "law": broken}

    shape = _shape(compile(source, file, "exec", dont_inherit=True))
    first = _in_child(lambda: score(source, None), _Patience(FIRST_S, FIRST_S))
    answer = first.answer
    if "rows" not in answer:
        return {"first": None, "lines": [], "tried": []}
    patience = _Patience(max(LEAST_S, LONGER * first.busy_s), max(WAIT_S, LONGER * first.seconds))
    lines = lines_run(context, reward=reward, file=file, rows=rows)
    tried: list[dict[str, Any]] = []
    for start, end, text in changes:
        if time.monotonic() > ends:
            break
        changed = source[:start] + text.encode("utf-8", "surrogatepass") + source[end:]
        tried.append(_in_child(lambda changed=changed: score(changed, answer), patience).answer)  # type: ignore[misc]
    return {"first": answer, "lines": lines, "tried": tried}


def lines_run(context: Any, *, reward: str, file: str, rows: list[int]) -> list[int]:
    """The lines of a file that a call of the reward over some rows runs."""
    function, entry = reward_named(context, reward)
    seen: set[int] = set()

    def local(frame: types.FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            seen.add(frame.f_lineno)
        return local

    def opened(frame: types.FrameType, event: str, argument: Any) -> Any:
        return local if frame.f_code.co_filename == file else None

    batch = batch_of(context, rows)
    sys.settrace(opened)
    try:
        call(function, batch, params=entry.params)
    finally:
        sys.settrace(None)
    code = getattr(unwrap(function), "__code__", None)
    return sorted(seen | ({code.co_firstlineno} if code is not None else set()))


def _changed_reward(
    context: Any, reward: str, path: Path, changed: bytes, code: types.CodeType
) -> tuple[Any, Any]:
    """The reward as the changed file defines it; the context's set is changed too, for the laws."""
    old, entry = reward_named(context, reward)
    _, separator, name = entry.function.partition("::")
    module = sys.modules.get(module_name(path.resolve()))
    if separator and module is not None and name in vars(module):
        names = {key: value for key, value in vars(module).items() if key.startswith("__")}
        exec(code, names)  # noqa: S102  # the user's file, in a child of the process for the user's code
        vars(module).update(names)
        swapped = tuple(
            names[name] if function is old else function for function in context.rewardset.functions
        )
        context.rewardset = dataclasses.replace(context.rewardset, functions=swapped)
    else:  # a file that the target imports: whatever holds parts of it is loaded anew
        context.rewardset = RewardSet.load(context.target, transform=_replacing(path, changed))
    vars(context).pop("laws", None)
    return reward_named(context, reward)


def _replacing(path: Path, changed: bytes) -> Callable[..., Any]:
    import ast

    resolved = path.resolve()

    def transform(tree: ast.Module, file: Path) -> ast.Module:
        return ast.parse(changed, filename=str(file)) if file.resolve() == resolved else tree

    return transform


def _plain(function: Any, batch: Batch, params: Any) -> list[Any]:
    if not len(batch):
        return [[], []]
    result = call(function, batch, params=params)
    return [[float(score) for score in result.scores], [int(status) for status in result.status]]


def _moved(first: list[Any], then: list[Any]) -> list[list[Any]]:
    """[place, score, status] where a score or status is another."""
    return [
        [place, score, status]
        for place, (old, was, score, status) in enumerate(zip(*first, *then, strict=True))
        if was != status or not _same(old, score)
    ]


def _same(one: float, other: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other or abs(one - other) <= ALIKE * max(1.0, abs(one), abs(other))


def _broken_law(
    context: Any, reward: str, laws: list[str], texts: list[tuple[int, str]], chat: bool
) -> str | None:
    for law in laws:
        if any(keeps(context, reward=reward, law=law, items=texts[:40], chat=chat)):
            return law
    return None


def _shape(code: types.CodeType) -> Any:
    """What a code object does, without the places it came from."""
    constants = tuple(
        _shape(item) if isinstance(item, types.CodeType) else (type(item).__name__, repr(item))
        for item in code.co_consts
    )
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_flags


@dataclass(frozen=True)
class _Patience:
    """How long a child may take: seconds of the processor, and seconds by the clock."""

    busy_s: float
    seconds: float


@dataclass(frozen=True)
class _Ended:
    """What a child gave, and the seconds of the processor and by the clock that it took."""

    answer: dict[str, Any]
    busy_s: float
    seconds: float


def _in_child(work: Callable[[], dict[str, Any]], patience: _Patience) -> _Ended:
    """What `work` returns in a forked process: {"end": ...} where it hangs, dies or raises."""
    began = time.monotonic()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        _work_and_leave(work, write, patience.busy_s)
    os.close(write)
    status, busy = 0, math.nan
    try:
        payload, late = _read_until(read, began + patience.seconds)
    finally:
        os.close(read)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            _, status, usage = os.wait4(pid, 0)
            busy = usage.ru_utime + usage.ru_stime
    seconds = time.monotonic() - began
    return _Ended(_answer(payload, status, late=late), seconds if math.isnan(busy) else busy, seconds)


def _read_until(read: int, deadline: float) -> tuple[bytes, bool]:
    """What was written until the other end closed, and whether it was too late for that."""
    payload = bytearray()
    while select.select([read], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(read, 1 << 20)
        if not part:
            return bytes(payload), False
        payload += part
    return bytes(payload), True


def _answer(payload: bytes, status: int, *, late: bool) -> dict[str, Any]:
    if late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF):
        return {"end": "hangs"}
    try:
        answer: dict[str, Any] = json.loads(payload)
    except ValueError:
        return {"end": "dies"}
    return answer


def _work_and_leave(work: Callable[[], dict[str, Any]], write: int, busy_s: float) -> None:
    gc.disable()  # it would copy the pages shared with the worker
    try:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # which ends this process
        signal.setitimer(signal.ITIMER_PROF, busy_s)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        try:
            answer = work()
        except BaseException as error:  # noqa: BLE001  # the changed file of the user, or what it calls
            answer = {"end": "not loaded", "why": describe_exception(error)}
        payload = json.dumps(answer).encode()
        while payload:
            payload = payload[os.write(write, payload) :]
    finally:
        os._exit(0)


__all__ = ["lines_run", "try_changes"]
