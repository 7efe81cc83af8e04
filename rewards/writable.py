"""Text that can be written wherever results go.

A reward's own text may hold half a character (a lone surrogate, as `json.loads(r'"\\ud83d"')` gives): no file and no
terminal takes it, and one in a message would lose the results of all rows. And a terminal or pipe may be set to
an encoding that lacks what results say.
"""

from __future__ import annotations

import io
import sys
from typing import Any


def writable(text: str) -> str:
    r"""The text with each lone surrogate as its escape; any other text unchanged.

    >>> writable("a \ud83d b")
    'a \\ud83d b'
    """
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def writable_parts(value: Any) -> Any:
    """A value whose texts, also those inside lists, tuples and dicts, are `writable`; others are left as they are."""
    if isinstance(value, str):
        return writable(value)
    kind = type(value)
    try:
        if kind is list or kind is tuple:
            return kind(map(writable_parts, value))
        if kind is dict:
            return {writable_parts(key): writable_parts(item) for key, item in value.items()}
    except RecursionError:  # it contains itself, or is as deep as if it did
        return value
    return value


def write_utf8() -> None:
    """Have standard output and error take any text: UTF-8 whatever the environment says, an escape for what it lacks.

    Results are read by programs that expect UTF-8, and bars and marks would be unreadable as escapes.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
