"""JSON: a list of objects, an object that holds such a list (`samples`, `rows`, `data`), or one object.

Items are decoded one after another, so that a file that breaks off still gives its first rows, each with the
line it begins on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.samples.format import Container, Raw, RowError, kind_of
from workbench.samples.jsonl import DECODER, json_fault
from workbench.samples.records import Skipped
from workbench.samples.text import open_text, require_text

LIST_KEYS = ("samples", "rows", "data")

_SPACE = re.compile(r"[ \t\r\n]*")


def _read(path: Path) -> Iterator[Raw | Skipped]:
    with open_text(path) as file:
        text = file.read()
    start = _SPACE.match(text).end()  # type: ignore[union-attr]  # matches everything, the empty text too
    if text.startswith("[", start):
        yield from _items(path, text, start + 1)
        return
    try:
        value, end = _value(text, start)
    except RowError as error:
        yield Skipped(path, text.count("\n", 0, start) + 1, str(error))
        return
    if text[end:].strip():  # several objects one after another: JSON lines in a file named .json
        yield from _items(path, text, start, separator="")
        return
    yield from _object(path, value)


def _object(path: Path, value: Any) -> Iterator[Raw | Skipped]:
    """The records of a file that is one object: those of a list in it, or itself."""
    if not isinstance(value, dict):
        yield Skipped(path, 1, f"{kind_of(value)}, not a list of objects")
        return
    listed = next((key for key in LIST_KEYS if isinstance(value.get(key), list)), None)
    if listed is None or "prompt" in value:
        yield Raw(1, value)
        return
    for number, item in enumerate(value[listed], 1):
        yield _record(path, number, item)


def _items(path: Path, text: str, position: int, separator: str = ",") -> Iterator[Raw | Skipped]:
    """The records of a list that begins at `position`, or of objects one after another."""
    line, counted = 1, 0
    while True:
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]  # see above
        line += text.count("\n", counted, position)
        counted = position
        if position >= len(text):
            if separator:
                yield Skipped(path, line, "the list breaks off here, its end is missing")
            return
        if separator and text[position] == "]":
            behind = _SPACE.match(text, position + 1).end()  # type: ignore[union-attr]  # see above
            line += text.count("\n", counted, behind)
            counted = behind
            if behind == len(text):
                return
            if text[behind] == "[":  # lists one after another, as some tools append them
                position = behind + 1
                continue
            yield Skipped(path, line, "what stands behind the list is not read")
            return
        try:
            value, position = _value(text, position)
        except RowError as error:
            yield Skipped(path, line, f"{error}; the rest of the file is not read")
            return
        yield _record(path, line, value)
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]  # see above
        if separator and text.startswith(separator, position):
            position += 1


def _value(text: str, position: int) -> tuple[Any, int]:
    try:
        return DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        raise RowError(json_fault(error)) from None
    except RecursionError:
        raise RowError("not JSON that can be read: nested too deeply") from None
    except ValueError as error:  # see jsonl.parse_object
        raise RowError(f"{error}") from None


def _record(path: Path, line: int, value: Any) -> Raw | Skipped:
    if not isinstance(value, dict):
        return Skipped(path, line, f"{kind_of(value)}, not an object with `prompt` and `completion`")
    try:
        require_text(value)
    except RowError as error:
        return Skipped(path, line, str(error))
    return Raw(line, value)


def _recognises(path: Path, head: bytes) -> bool:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    return path.suffix.lower() == ".json" or start in (b"[", b"{")


JSON_LIST = Container("JSON", _recognises, _read)
