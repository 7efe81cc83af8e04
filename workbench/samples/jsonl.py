"""JSONL: one JSON object a line.

NaN becomes None, as it does in the data loader used for training; Infinity, a number so large that it would become
it, a key that stands twice in one object and other departures from JSON make a line unreadable.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.samples.format import Container, Raw, RowError, kind_of
from workbench.samples.records import Skipped
from workbench.samples.text import NOT_TEXT, open_text, require_text


def parse_constant(name: str) -> None:
    """The value of JSON's stray constants: None for NaN, else RowError."""
    if name != "NaN":
        raise RowError(f"{name} is not JSON")


def parse_float(text: str) -> float:
    """A number with a point or exponent; RowError where it is beyond every float, which Python reads as infinity."""
    number = float(text)
    if math.isinf(number):
        raise RowError(
            f"{'-' if number < 0 else ''}Infinity is not JSON ({text[:20]} is beyond every number)"
        )
    return number


def one_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of its keys and values; RowError where a key stands twice: only one of its values could be meant."""
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(name for name in found if sum(name == other for other, _ in pairs) > 1)
        raise RowError(f"the key {twice!r} stands twice in one object")
    return found


DECODER = json.JSONDecoder(
    parse_constant=parse_constant, parse_float=parse_float, object_pairs_hook=one_of_each
)


def json_fault(error: json.JSONDecodeError) -> str:
    """What is wrong with a text that is no JSON, and where in its line."""
    return f"not JSON: {error.msg.lower().removesuffix(' at')} at column {error.colno}"


def _decode(text: str) -> Any:
    """The value in a text; JSONDecodeError where it is none."""
    if text[:1] == "{":
        value, end = DECODER.raw_decode(text)
        if end == len(text):
            return value
    return DECODER.decode(text)  # with white space around it, or something beyond it


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object in `text`; RowError where it is none."""
    try:
        value = _decode(text)
    except json.JSONDecodeError as error:
        raise RowError(json_fault(error)) from None
    except RecursionError:
        raise RowError("not JSON that can be read: nested too deeply") from None
    except ValueError as error:  # RowError of a constant; a number longer than Python converts
        raise RowError(f"{error}") from None
    if not isinstance(value, dict):
        raise RowError(f"{kind_of(value)}, not an object with `prompt` and `completion`")
    if "\\ud" in text or "\\uD" in text:
        require_text(value)
    return value


def _read(path: Path) -> Iterator[Raw | Skipped]:
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if not text:
                continue
            try:
                if not text.isascii() and not _is_text(text):
                    raise RowError(NOT_TEXT)
                yield Raw(number, parse_object(text))
            except RowError as error:
                yield Skipped(path, number, str(error))


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _recognises(path: Path, head: bytes) -> bool:
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[\n")
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0].strip()
    return path.suffix.lower() != ".json" and first.startswith(b"{") and first.endswith(b"}")


JSONL = Container("JSONL", _recognises, _read)
