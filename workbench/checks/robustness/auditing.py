"""Inside the worker: what a call does outside itself, heard through Python's audit events.

Every connection, process start and execution of text raises an event, whichever package asks for it. Child
processes are not heard.
"""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import sys
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from rewards.contract import call
from workbench.checks.observing import batch_of, reward_named

INSTALLED = f"{os.sep}site-packages{os.sep}"
"""Marks installed packages, which may stand in an environment below the project."""

_listeners: list[Callable[[str, tuple[Any, ...]], None]] = []
_installed: list[bool] = []


@contextlib.contextmanager
def listening(listener: Callable[[str, tuple[Any, ...]], None]) -> Iterator[None]:
    """Tell `listener` every audit event while it lasts; the hook itself stays for the life of the process."""
    if not _installed:
        sys.addaudithook(_hear)
        _installed.append(True)
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    for listener in list(_listeners):
        listener(event, arguments)


def connections(context: Any, *, reward: str, rows: list[int]) -> list[dict[str, Any]]:
    """The connections a call asks for: `address`, `timeout` (None: waits for ever), `line` in the user's file."""
    function, entry = reward_named(context, reward)
    root = str(context.rewardset.root)
    found: list[dict[str, Any]] = []
    named: list[str] = []

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.getaddrinfo":
            named.append(str(arguments[0]))
        elif event == "socket.connect":
            asked, address = arguments[0], arguments[1]
            if getattr(asked, "family", None) == socket.AF_UNIX:
                return
            host = named[-1] if named else str(address[0] if isinstance(address, tuple) else address)
            port = address[1] if isinstance(address, tuple) and len(address) > 1 else ""
            found.append({"address": f"{host}:{port}", "timeout": asked.gettimeout(), "line": _line(root)})
        elif event == "urllib.Request":
            named.append(str(arguments[0]).partition("//")[2].partition("/")[0].partition(":")[0])

    with listening(hear):
        call(function, batch_of(context, rows), params=entry.params)
    if not found and named:  # a name that could not be resolved is a wish to connect as well
        found.append({"address": named[-1], "timeout": 0.0, "line": None})
    return found


def executed(
    context: Any, *, reward: str, rows: list[int], texts: list[str], chat: bool, name: str
) -> list[dict[str, Any]]:
    """Which of `texts` the reward's process executes as Python: `place` among them, and `line` in the user's file.

    Executing shows in a code object that uses the global `name`, which stands in every text.
    """
    function, entry = reward_named(context, reward)
    root = str(context.rewardset.root)
    found: list[dict[str, Any]] = []
    for place, (row, text) in enumerate(zip(rows, texts, strict=True)):
        heard: list[int | None] = []

        def hear(event: str, arguments: tuple[Any, ...], heard: list[int | None] = heard) -> None:
            code = arguments[0] if event == "exec" and arguments else None
            if isinstance(code, CodeType) and name in code.co_names:
                heard.append(_line(root))

        completion = [{"role": "assistant", "content": text}] if chat else text
        with listening(hear):
            call(function, batch_of(context, [row], [completion]), params=entry.params)
        if heard:
            found.append({"place": place, "line": heard[0]})
    return found


def is_local(file: str, root: str) -> bool:
    """Whether a file is the user's own: below the target's folder, and not installed there."""
    return file.startswith(root.rstrip(os.sep) + os.sep) and INSTALLED not in file


def _line(root: str) -> int | None:
    """The line of the innermost frame in the user's own files."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_local(frame.f_code.co_filename, root):
            return frame.f_lineno
        frame = frame.f_back
    return None


def used_time(context: Any, *, reward: str, rows: list[int]) -> dict[str, float]:
    """Seconds of one call: on the `wall`, of this process' `processor`, of `children` that ended in it."""
    function, entry = reward_named(context, reward)
    batch = batch_of(context, rows)
    children, own, wall = _children(), time.process_time(), time.perf_counter()
    call(function, batch, params=entry.params)
    wall, own = time.perf_counter() - wall, time.process_time() - own
    return {"wall": wall, "processor": own, "children": _children() - children}


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


THOUGHTS = "A line of thought. " * 100
"""Makes a completion as long as ordinary ones are: about 500 tokens."""


def memory_kept(context: Any, *, reward: str, rows: list[int], rounds: int, chat: bool) -> dict[str, Any]:
    """Bytes that stay allocated after each of some calls, every text a new one, and the line that keeps most.

    The first round is left out: what is loaded or set up once is no growth.
    """
    import gc
    import tracemalloc

    from rewards.contract import completion_text

    function, entry = reward_named(context, reward)
    plain = [completion_text(completion) for completion in batch_of(context, rows).completions]

    def once(turn: int) -> None:
        texts = [f"{THOUGHTS}\n{turn}.{place}\n{text}" for place, text in enumerate(plain)]
        completions = [[{"role": "assistant", "content": text}] if chat else text for text in texts]
        call(function, batch_of(context, rows, completions), params=entry.params)
        gc.collect()

    once(0)
    tracemalloc.start(3)
    try:
        once(1)
        kept: list[int] = []
        start = tracemalloc.get_traced_memory()[0]
        before = tracemalloc.take_snapshot()
        for turn in range(2, 2 + rounds):
            once(turn)
            now = tracemalloc.get_traced_memory()[0]
            kept.append(now - start)
            start = now
        after = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    root = str(context.rewardset.root)
    line = None
    for difference in after.compare_to(before, "traceback")[:20]:
        own = [frame.lineno for frame in difference.traceback if is_local(frame.filename, root)]
        if own and difference.size_diff > 0:
            line = own[-1]
            break
    return {"kept": kept, "line": line}


__all__ = ["connections", "executed", "is_local", "listening", "memory_kept", "used_time"]
