"""Making a failing completion small, inside the worker: the shortest text that still raises the same error.

Delta debugging on the text of one completion: drop halves, quarters and so on while the reward raises the
same exception on the same line. Bounded by a number of calls and by time, so a slow reward costs little.
"""

from __future__ import annotations

import time
from typing import Any

from rewards.contract import call
from workbench.checks.observing import batch_of, reward_named

CALLS = 150
SECONDS = 0.8


def shrink_error(context: Any, *, reward: str, row: int, text: str, chat: bool) -> dict[str, Any]:
    """The smallest variation of `text` on which the reward raises as it does on `text`.

    Returns `{"text": ..., "error": ...}`; `text` itself where nothing smaller does, error None where it does
    not raise at all.
    """
    function, entry = reward_named(context, reward)

    def error_of(candidate: str) -> str | None:
        completion = [{"role": "assistant", "content": candidate}] if chat else candidate
        batch = batch_of(context, [row], [completion])
        return call(function, batch, params=entry.params).errors.get(0)

    wanted = error_of(text)
    if wanted is None:
        return {"text": text, "error": None}
    small = shrink_text(text, lambda candidate: _same_origin(error_of(candidate), wanted))
    return {"text": small, "error": error_of(small)}


def _same_origin(error: str | None, wanted: str) -> bool:
    """Same exception class and same place; the message may name other values."""
    if error is None:
        return False
    return _origin(error) == _origin(wanted)


def _origin(error: str) -> tuple[str, str]:
    return error.partition(":")[0], error.rpartition(" (")[2]


def shrink_text(text: str, fails: Any) -> str:
    """The shortest text found for which `fails(text)` holds, by dropping ever smaller pieces of it."""
    deadline = time.monotonic() + SECONDS
    calls = 0
    size = len(text)
    while size >= 1 and text:
        start, dropped = 0, False
        while start < len(text):
            if calls >= CALLS or time.monotonic() > deadline:
                return text
            calls += 1
            candidate = text[:start] + text[start + size :]
            if candidate != text and fails(candidate):
                text, dropped = candidate, True
            else:
                start += size
        size = (
            min(size, len(text))
            if dropped and size == 1 and calls < CALLS // 2 and len(text) > 1
            else size // 2
        )
        if size == 1 and not dropped and start >= len(text) and calls > CALLS // 2:
            break
    return text


__all__ = ["shrink_error", "shrink_text"]
