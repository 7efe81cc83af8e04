"""Seeing the exceptions that a reward catches itself, from inside the worker.

The call is made under a trace function that hears of every exception passing through a frame of the user's
own files. Those that arose in such a frame and did not leave the reward were swallowed. Exceptions of other
origins (a parser that refuses its input, code of a completion that was run) are that code's business.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from rewards.contract import call
from workbench.checks.observing import batch_of, reward_named

IGNORED = (StopIteration, StopAsyncIteration, GeneratorExit)


def swallowed(context: Any, *, reward: str, rows: list[int]) -> list[dict[str, Any]]:
    """Exceptions that arose in the reward's own file and were caught there, one row a call.

    Returns one entry for each type and origin: `type`, `text`, `line` (where it arose), `caught` (the line of
    the frame where it went no further) and `rows` (which of `rows` showed it).
    """
    function, entry = reward_named(context, reward)
    own = _own_files(context, function)
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in rows:
        heard: dict[int, dict[str, Any]] = {}
        sys.settrace(_listener(own, heard))
        try:
            result = call(function, batch_of(context, [row]), params=entry.params)
        finally:
            sys.settrace(None)
        if result.errors:
            continue
        for item in heard.values():
            known = found.setdefault((item["type"], item["line"]), {**item, "rows": []})
            if row not in known["rows"]:
                known["rows"].append(row)
    return list(found.values())


def _own_files(context: Any, function: Callable[..., Any]) -> str:
    root = str(context.rewardset.root)
    return root if root.endswith(os.sep) else root + os.sep


def _listener(own: str, heard: dict[int, dict[str, Any]]) -> Callable[..., Any]:
    kept: list[BaseException] = []  # so that no two exceptions of one call share an id

    def local(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "exception":
            kind, value, trace = argument
            if not issubclass(kind, IGNORED):
                origin = _origin(trace)
                if origin.tb_frame.f_code.co_filename.startswith(own):
                    kept.append(value)
                    item = heard.setdefault(
                        id(value), {"type": kind.__name__, "text": str(value)[:200], "line": origin.tb_lineno}
                    )
                    item["caught"] = frame.f_lineno
        return local

    def opened(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(own):
            return None
        frame.f_trace_lines = False
        return local

    return opened


def _origin(trace: TracebackType) -> TracebackType:
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace


__all__ = ["swallowed"]
