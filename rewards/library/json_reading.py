"""Reading JSON out of a completion, strictly: no NaN, no Infinity, no key twice, nothing left over."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

from rewards.library.blanks import is_blank
from rewards.library.extraction import after_thinking, last_block

SHAPES = ("object", "array", "object or array")
_FENCE = re.compile(r"^[ \t]*+```[ \t]*+(?P<info>[A-Za-z0-9_+-]*+)[ \t]*+\r?$", re.MULTILINE)


class NotJson(ValueError):
    """A text that is no JSON, or not the JSON asked for; its text says why."""


@dataclass(frozen=True)
class Read:
    """A JSON value and its place in the completion."""

    value: Any
    span: tuple[int, int]


def parse_json(text: str) -> Any:
    """The value a JSON text stands for.

    Raises:
        NotJson: it is none; also NaN and infinite numbers, a key that stands twice, and nesting too deep to read.

    >>> parse_json('{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    >>> parse_json('{"a": NaN}')
    Traceback (most recent call last):
        ...
    rewards.library.json_reading.NotJson: NaN is no JSON
    """
    try:
        return json.loads(text, parse_constant=_refused, parse_float=_finite, object_pairs_hook=_once)
    except NotJson:
        raise
    except RecursionError as error:
        raise NotJson("nested too deep") from error
    except json.JSONDecodeError as error:
        raise NotJson(f"no JSON: {error.msg} at character {error.pos}") from error
    except ValueError as error:  # a whole number with thousands of digits
        raise NotJson("a number too long to read") from error


def find_json(text: str, *, tag: str = "", alone: bool = True) -> Read:
    """The JSON a completion gives, after its thinking: bare, or in a fence.

    Args:
        text: the completion.
        tag: the tag whose last block holds it; "": none.
        alone: nothing but the JSON and its fence may be there; else the last fence counts whatever stands around
            it, or without one what stands from the first to the last bracket.

    Raises:
        NotJson: there is none.

    >>> find_json('```json\\n{"a": 1}\\n```').value
    {'a': 1}
    >>> find_json('Here:\\n```\\n[1]\\n```\\nDone.', alone=False).span
    (10, 13)
    """
    region = after_thinking(text)
    start, end = region.start, region.end
    if tag:
        block = last_block(text, tag, start=start, end=end)
        if block is None:
            raise NotJson(f"no closed <{tag}> block")
        start, end = block.start, block.end
    fences = list(_FENCE.finditer(text, start, end))
    if fences:
        start, end = _fenced(text, fences, start, end, alone)
    elif not alone:
        start, end = _bracketed(text, start, end)
    return Read(parse_json(text[start:end]), (start, end))


def says_something(value: Any) -> bool:
    """Whether there is anything in a value but nulls, blank texts and empty objects and arrays.

    >>> says_something([{"a": 0}]), says_something([{"a": None}, "", []])
    (True, False)
    """
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            pending += one.values()
        elif isinstance(one, list):
            pending += one
        elif one is not None and not (isinstance(one, str) and is_blank(one)):
            return True
    return False


def has_shape(value: Any, shape: str) -> bool:
    """Whether a value is what was asked for, and not empty.

    >>> has_shape({"a": 1}, "object"), has_shape({}, "object"), has_shape(42, "object or array")
    (True, False, False)
    """
    kinds: dict[str, tuple[type, ...]] = {
        "object": (dict,),
        "array": (list,),
        "object or array": (dict, list),
    }
    return bool(value) and isinstance(value, kinds[shape])


def _fenced(text: str, fences: list[re.Match[str]], start: int, end: int, alone: bool) -> tuple[int, int]:
    """The inside of the last fence."""
    if len(fences) % 2 or fences[-1]["info"]:
        raise NotJson("a fence that is not closed")
    opened, closed = fences[-2], fences[-1]
    if alone and (
        len(fences) > 2 or text[start : opened.start()].strip() or text[closed.end() : end].strip()
    ):
        raise NotJson("text beside the fenced block")
    inside = text[opened.end() : closed.start()]
    bare = inside.strip()
    begin = opened.end() + (len(inside) - len(inside.lstrip()) if bare else 0)
    return begin, begin + len(bare)


def _bracketed(text: str, start: int, end: int) -> tuple[int, int]:
    """From the first bracket or brace to the last one of its kind."""
    opened = [at for at in (text.find("{", start, end), text.find("[", start, end)) if at >= 0]
    if not opened:
        return start, end
    begin = min(opened)
    closed = text.rfind("}" if text[begin] == "{" else "]", begin, end)
    return begin, closed + 1 if closed >= 0 else end


def _refused(name: str) -> Any:
    raise NotJson(f"{name} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isfinite(value):
        return value
    raise NotJson(f"{text[:20]} is too large a number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise NotJson("a key stands twice")
    return made
