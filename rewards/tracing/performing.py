"""Built-in functions and methods performed by the recorder, with what went into them.

What is iterated over by `sum`, `any`, `max` and the like is passed through one item at a time, so lazy
iterables stay lazy and stop where they would have stopped.
"""

from __future__ import annotations

import math
import statistics
import types
from collections.abc import Iterable, Iterator
from typing import Any

from rewards.tracing.arrays import after_change, before_change, give_up, is_array, settled, written_to
from rewards.tracing.elements import items_of
from rewards.tracing.iterating import letting_in
from rewards.tracing.looking import look
from rewards.tracing.nodes import NODES
from rewards.tracing.provenance import NUMBERS, Entry, Origin, Record, plain
from rewards.tracing.state import STATE, Seen, fresh, guard_of, operand, register
from rewards.tracing.tables import settle

_LAZY: tuple[Any, ...] = (
    types.GeneratorType, map, filter, zip, enumerate, reversed, set, frozenset,
    type({}.values()), type({}.keys()), type({}.items()),
)  # fmt: skip

_SUMS = {"sum": "sum", "fsum": "sum", "nansum": "sum"} | dict.fromkeys(
    ("mean", "fmean", "average", "nanmean"), "mean"
)


_MEANS = (statistics.mean, statistics.fmean)


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
    if plain(named.get("weights")) is not None and look(function, "__name__", "") in _SUMS:
        return _weighted(record, number, function, values, parts, named)
    if len(values) == 1 and not named and is_array(values[0]):
        name = look(function, "__name__", "")
        if name in _SUMS:
            value = function(*values)
            items = items_of(values[0])
            if items is not None:
                return _keep(record, number, _SUMS[name], value, (items, None))
            return _keep(record, number, "call", value, settled(value, function, parts, named, number))
    if len(values) == 1 and type(values[0]) in (list, tuple) and function is not sum:
        name = look(function, "__name__", "")
        if name in _SUMS:
            value = function(*values, **named)
            return _keep(record, number, _SUMS[name], value, (STATE.seen(values[0]), None))
    if len(values) == 1 and not named and function in (math.fsum, *_MEANS) and isinstance(values[0], _LAZY):
        items, seen = _open(values[0])
        value = function(items)
        return _keep(record, number, _SUMS[function.__name__], value, (seen, None))
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
    written = written_to(function, values, named)
    if written:
        return _written(record, number, function, values, parts, named, written)
    value = function(*values, **named)
    return _keep(record, number, "call", value, settled(value, function, parts, named, number))


def _written(
    record: Record,
    number: int,
    function: Any,
    values: Any,
    parts: Any,
    named: dict[str, Any],
    written: list[Any],
) -> Any:
    """A call that writes into an array: `np.logical_and(a, b, out=m)` is what it gives without, put into `m`."""
    followed = type(function).__name__ == "ufunc" and len(written) == 1 and "where" not in named
    before = [before_change(array, STATE.identified(array)) for array in written] if followed else []
    value = function(*values, **named)
    for array in written:
        if not before or before[0].op == "lost":
            give_up(array)
        else:
            rest = {name: one for name, one in named.items() if name != "out"}
            after_change(
                array,
                Origin(
                    "call", array, number, (function, parts[: function.nin], rest), guard_of(record, number)
                ),
            )
    return value


def _weighted(
    record: Record, number: int, function: Any, values: tuple[Any, ...], parts: tuple[Any, ...], named: Any
) -> Any:
    """A mean with weights: the sum of each number times its share of the weights."""
    value = function(*values, **named)
    numbers, weights = values[0] if values else None, named["weights"]
    if (
        len(values) != 1
        or not isinstance(numbers, (list, tuple))
        or not isinstance(weights, (list, tuple))
        or len(numbers) != len(weights)
        or not sum(weights)
    ):
        return _keep(record, number, "call", value, (function, parts, named))
    seen: Seen = []
    for (one, item), weight in zip(STATE.seen(numbers), weights, strict=True):
        share = weight / sum(weights)
        origin = item if isinstance(item, Origin) else Origin("load", one, number)
        pair = (origin, Origin("load", share, number))
        seen.append((one * share, Origin("times", one * share, number, pair, guard_of(record, number))))
    return _keep(record, number, "sum", value, (seen, None))


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
    settle(value)
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
    keys = STATE.keys_of(items)
    for at, item in enumerate(items):
        origin = STATE.left_behind()
        if keys is not None:
            seen.append((item, STATE.item(keys[0], keys[1][at], item)))
        elif origin is not None and origin.value is item:
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
        if not isinstance(parts[0], Origin):
            _let_in(items, letting_in(record, number))
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


def _let_in(items: list[Any], test: Origin | None) -> None:
    """Something that is no number was appended to a list."""
    known = STATE.let_in.get(id(items))
    if known is not None and known[0] is items and len(known[1]) == len(items) - 1:
        known[1].append(test)
    elif test is not None:
        STATE.let_in[id(items)] = (items, [*[None] * (len(items) - 1), test])


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
