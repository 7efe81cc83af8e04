"""Built-in functions and methods performed by the recorder, with what went into them.

What is iterated over by `sum`, `any`, `max` and the like is passed through one item at a time, so lazy
iterables stay lazy and stop where they would have stopped.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from typing import Any

from rewards.tracing.arrays import is_array, items_of
from rewards.tracing.nodes import NODES
from rewards.tracing.provenance import NUMBERS, Entry, Origin, Record
from rewards.tracing.state import STATE, Seen, fresh, guard_of, operand, register

_LAZY: tuple[Any, ...] = (
    types.GeneratorType, map, filter, zip, enumerate, reversed, set, frozenset,
    type({}.values()), type({}.keys()), type({}.items()),
)  # fmt: skip

_SUMS = {"sum": "sum", "fsum": "sum", "nansum": "sum"} | dict.fromkeys(
    ("mean", "fmean", "average", "nanmean"), "mean"
)


def performed(
    record: Record,
    number: int,
    function: Any,
    values: tuple[Any, ...],
    parts: tuple[Any, ...],
    named: dict[str, Any],
) -> Any:
    """Call `function` and record what it made of what."""
    kind = type(function)
    if kind is types.BuiltinFunctionType and type(function.__self__) is str:
        if len(function.__self__) == 1 and not values:
            return _letter_method(record, number, function, function.__self__, named)
        return _keep(record, number, "call", function(*values, **named), (function, parts, named))
    if len(values) == 1 and not named and is_array(values[0]):
        name = getattr(function, "__name__", "")
        if name in _SUMS:
            value = function(*values)
            items = items_of(values[0])
            if items is not None:
                return _keep(record, number, _SUMS[name], value, (items, None))
            return _keep(record, number, "call", value, (function, parts, named))
    if len(values) == 1 and type(values[0]) in (list, tuple) and function is not sum:
        name = getattr(function, "__name__", "")
        if name in _SUMS:
            value = function(*values, **named)
            return _keep(record, number, _SUMS[name], value, (STATE.seen(values[0]), None))
    if kind is types.MethodType or kind is types.FunctionType:
        return _user_call(record, number, function, values, parts, named)
    if kind is types.BuiltinFunctionType or kind is types.BuiltinMethodType:
        receiver: Any = function.__self__
        if type(receiver) is list:
            return _list_method(record, number, function, receiver, values, parts, named)
        if isinstance(receiver, dict):
            return _dict_method(record, number, function, receiver, values, parts, named)
        if function in (sum, max, min, any, all, next) and values:
            return _fold(record, number, function, values, parts, named)
    elif function in (list, tuple, sorted) and len(values) == 1 and not named:
        return _gathered(record, number, function, values[0])
    value = function(*values, **named)
    return _keep(record, number, "call", value, (function, parts, named))


def _letter_method(record: Record, number: int, function: Any, letter: str, named: dict[str, Any]) -> Any:
    """A method of a single character, which the interpreter shares: followed by its place in the code."""
    value = function(**named)
    origin = operand(record, NODES[number].extra[1], letter, number)
    if type(value) is str and len(value) == 1 and isinstance(origin, Origin):
        return _keep(record, number, "ret", value, (origin,))
    return _keep(record, number, "call", value, (function, (origin,), {}))


def _keep(record: Record, number: int, op: str, value: Any, parts: tuple[Any, ...]) -> Any:
    guard = NODES[number].guard
    under = record.get(guard, record.called_under) if guard else record.called_under
    record[number] = origin = Origin(op, value, number, parts, under)
    register(value, origin)
    return value


def _user_call(
    record: Record, number: int, function: Any, values: Any, parts: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    entry = Entry(function, guard_of(record, number))
    entry.arguments = list(parts)
    STATE.left_behind()
    STATE.pending = entry
    value = function(*values, **named)
    returned = STATE.left_behind()
    STATE.pending = None
    if returned is not None and returned.value is value:
        return _keep(record, number, "ret", value, (returned,))
    return _keep(record, number, "call", value, (function, parts, named))


def watched(items: Iterable[Any], seen: Seen) -> Iterator[Any]:
    """The same items, remembered as they pass, with the origin the producing code has just left."""
    for item in items:
        origin = STATE.left_behind()
        if origin is not None and origin.value is item:
            seen.append((item, origin))
        else:
            seen.append((item, STATE.identified(item) if type(item) in NUMBERS else None))
        yield item


def _open(items: Any) -> tuple[Any, Seen | None]:
    """What to iterate instead of `items`, and where its items will be remembered."""
    if isinstance(items, _LAZY):
        seen: Seen = []
        return watched(items, seen), seen
    return items, None


def _fold(
    record: Record, number: int, function: Any, values: tuple[Any, ...], parts: tuple[Any, ...], named: Any
) -> Any:
    several = function in (max, min) and len(values) > 1
    if several:
        value = fresh(function(*values, **named))
        return _keep(
            record, number, "pick", value, (list(zip(values, parts, strict=False)), function.__name__)
        )
    if function is next:
        return _next(record, number, values, parts)
    items, seen = _open(values[0])
    value = function(items, *values[1:], **named)
    if seen is None:
        seen = STATE.seen(values[0]) if type(values[0]) in (list, tuple) else []
    if function is sum:
        start = parts[1] if len(parts) > 1 else None
        return _keep(record, number, "sum", value, (seen, start))
    if function in (any, all):
        return _keep(record, number, function.__name__, value, (seen, values[0]))
    return _keep(record, number, "pick", fresh(value), (seen, function.__name__))


def _next(record: Record, number: int, values: tuple[Any, ...], parts: tuple[Any, ...]) -> Any:
    STATE.left_behind()
    value = next(*values)
    origin = STATE.left_behind()
    if origin is None or origin.value is not value:
        origin = (
            parts[1] if len(parts) > 1 and isinstance(parts[1], Origin) and parts[1].value is value else None
        )
    if origin is not None:
        return _keep(record, number, "ret", value, (origin,))
    return _keep(record, number, "call", value, (next, parts, {}))


def _gathered(record: Record, number: int, function: Any, source: Any) -> Any:
    items, seen = _open(source)
    value = function(items)
    if function is sorted:
        return _keep(record, number, "call", value, (function, (source,), {}))
    if seen is None and type(source) in (list, tuple):
        seen = STATE.seen(source)
    if seen is not None and len(seen) == len(value):
        STATE.items[id(value)] = (value, [origin for _, origin in seen])
    return _keep(record, number, "call", value, (function, (source,), {}))


def _list_method(
    record: Record,
    number: int,
    function: Any,
    items: list[Any],
    values: tuple[Any, ...],
    parts: tuple[Any, ...],
    named: dict[str, Any],
) -> Any:
    origins = STATE.origins_of(items)
    if origins is None:
        origins = [None] * len(items)
    name = function.__name__
    if name == "extend" and values:
        source, seen = _open(values[0])
        length = len(items)
        value = function(source)
        if seen is None:
            seen = STATE.seen(values[0]) if type(values[0]) in (list, tuple) else []
        if len(seen) == len(items) - length:
            STATE.items[id(items)] = (items, [*origins, *(origin for _, origin in seen)])
        return value
    value = function(*values, **named)
    if name == "append":
        origins.append(parts[0])
        STATE.items[id(items)] = (items, origins)
    elif name == "insert" and type(values[0]) is int:
        origins.insert(values[0], parts[1])
        STATE.items[id(items)] = (items, origins)
    elif name == "pop":
        found = origins.pop(*values)
        STATE.items[id(items)] = (items, origins)
        if isinstance(found, Origin) and found.value is value:
            return _keep(record, number, "ret", value, (found,))
    elif name in ("sort", "reverse", "remove", "clear"):
        STATE.items.pop(id(items), None)
    return _keep(record, number, "call", value, (function, parts, named))


def _dict_method(
    record: Record,
    number: int,
    function: Any,
    container: dict[Any, Any],
    values: tuple[Any, ...],
    parts: tuple[Any, ...],
    named: dict[str, Any],
) -> Any:
    value = function(*values, **named)
    if function.__name__ in ("get", "pop", "setdefault") and values:
        found = STATE.item(container, values[0], value)
        default = parts[1] if len(parts) > 1 else None
        if found is None and isinstance(default, Origin) and default.value is value:
            found = default
            if function.__name__ == "setdefault":
                STATE.store_item(container, values[0], default)
        if found is not None:
            return _keep(record, number, "ret", value, (found,))
    return _keep(record, number, "call", value, (function, parts, named))
