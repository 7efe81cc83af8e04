"""Numbers inside arrays: where the number of one row of a NumPy array or pandas Series came from.

Items that are assigned or added to one at a time are remembered by their position, and arrays that are computed from
others, in place or not, row by row. An array that was changed in any other way (through a mask, a slice, a view, a
table) is given up: its numbers are *lost*, and a score that rests on a lost number is never called exact.
"""

from __future__ import annotations

import ast
import operator
from types import FunctionType
from typing import Any

from rewards.tracing.nodes import NODES, Node
from rewards.tracing.provenance import Origin, Record, plain
from rewards.tracing.state import IN_PLACE, MOST_COPIED, STATE, guard_of, note_numbers, operand, register

_ARRAYS = (("numpy", "ndarray"), ("pandas.core.series", "Series"), ("pandas", "Series"))
_ROW_BY_ROW = ("array", "asarray", "copy", "astype", "ravel", "flatten", "squeeze", "reshape", "tolist", "to_numpy",
               "to_list", "list", "tuple", "float64", "float32", "Series")  # fmt: skip
_CHANGED_BY = ("clip", "round", "around", "abs", "absolute")


def is_array(thing: Any) -> bool:
    """True for NumPy arrays and pandas Series."""
    kind = type(thing)
    return (kind.__module__, kind.__name__) in _ARRAYS


def lost(value: Any, node: int) -> Origin:
    """The origin of a number that came by a way nobody followed."""
    return Origin("lost", value, node)


def holds_numbers(container: Any) -> bool:
    """True for arrays, Series, tables, tensors, deques: neither list nor dictionary, nor of a class that holds one."""
    setter = getattr(type(container), "__setitem__", None)
    if setter is None or isinstance(container, (list, dict)):
        return False
    of_python = isinstance(setter, FunctionType)
    return not of_python or hasattr(container, "shape") or "Indexer" in type(container).__name__


def give_up(container: Any) -> None:
    """A container was changed in a way that is not followed."""
    inner = getattr(container, "obj", container) if "Indexer" in type(container).__name__ else container
    STATE.changed[id(inner)] = (inner, None)
    _give_up_base(inner)


def _give_up_base(array: Any) -> None:
    """What changes a view changes the array it shows."""
    base = getattr(array, "base", None)
    if is_array(base):
        STATE.changed[id(base)] = (base, None)


def is_given_up(container: Any) -> bool:
    """True for a container that was changed in a way that is not followed."""
    known = STATE.changed.get(id(container))
    return known is not None and known[0] is container and known[1] is None


def into_slice(node: Node, container: Any) -> None:
    """A container is about to be changed at a slice, if the statement says so."""
    target = getattr(node.tree, "target", node.tree)
    at_slice = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
    if at_slice and (type(container) is list or holds_numbers(container)):
        give_up(container)


def store_number(container: Any, key: Any, origin: Any) -> None:
    """A container is about to be given a number at a key."""
    if not holds_numbers(container):
        return
    at = _position(container, key)
    if at is None:
        give_up(container)
    else:
        _set(container, at, origin)


def add_number(record: Record, number: int, container: Any, key: Any, value: Any) -> None:
    """A statement is about to add to an item of a container."""
    at = _position(container, key)
    if at is None:
        give_up(container)
    else:
        _set(container, at, _sum(record, number, container, at, value))


def _sum(record: Record, number: int, array: Any, at: int, value: Any) -> Origin | None:
    node = NODES[number]
    before = array_item(array, at)
    amount = operand(record, node.kids[1], value, number)
    if before.op == "lost":
        return before
    try:
        new = IN_PLACE[node.extra[0]](array[at].item(), value)
    except (ArithmeticError, TypeError, AttributeError):
        return None
    if not isinstance(amount, Origin):
        amount = Origin("load", value, number, (), guard_of(record, number))
    STATE.note(node, node.text.split(" ")[0], new)
    return Origin("bin", new, number, (before, amount), guard_of(record, number))


def read_item(container: Any, key: Any, value: Any, number: int) -> Origin | None:
    """The origin of an item that is read, where more is known of it than that it was there."""
    if is_given_up(container):
        return lost(value, number)
    at = _position(container, key) if is_array(container) else None
    return _drawn(container, at, value, number) if at is not None else None


def draw(array: Any, at: int, value: Any, number: int) -> None:
    """A loop over an array got its next value."""
    if is_given_up(array):
        register(value, lost(value, number))
    elif is_array(array) and not isinstance(value, tuple):
        origin = _drawn(array, at, value, number)
        if origin is not None:
            register(value, origin)


def _drawn(array: Any, at: int, value: Any, number: int) -> Origin | None:
    found = array_item(array, at)
    if found.op == "lost":
        return lost(value, number)
    return Origin("use", value, number, (found,), found.guard) if found.op != "load" else None


def _position(container: Any, key: Any) -> int | None:
    """The position an item's key means in an array of one dimension; None for masks, slices, labels."""
    if type(container).__name__ != "ndarray" or container.ndim != 1 or isinstance(key, bool):
        return None
    try:
        at = operator.index(key)
    except TypeError:
        return None
    return at % len(container) if -len(container) <= at < len(container) else None


def _set(array: Any, at: int, origin: Any) -> None:
    known = STATE.changed.get(id(array))
    if known is None or known[0] is not array:
        known = STATE.changed[id(array)] = (array, {})
    _give_up_base(array)
    if known[1] is not None:
        known[1][at] = origin if isinstance(origin, Origin) else None


def before_change(array: Any, origin: Any) -> Any:
    """An array's origin, kept with a copy of its numbers, because the array itself is about to be changed in place."""
    if len(array) > MOST_COPIED:
        give_up(array)
        return lost(array, 0)
    kept = array.copy()
    made = origin if isinstance(origin, Origin) else Origin("load", array, 0)
    copied = Origin(made.op, kept, made.node, made.parts, made.guard)
    STATE.by_identity[id(kept)] = copied
    known = STATE.changed.pop(id(array), None)
    if known is not None and known[0] is array:
        STATE.changed[id(kept)] = (kept, known[1])
    return copied


def after_change(array: Any, origin: Origin) -> None:
    """An array was changed in place, by what `origin` says."""
    STATE.by_identity[id(array)] = origin
    if is_array(array) and type(array).__name__ == "ndarray":
        note_numbers(array)
        _give_up_base(array)


def items_of(array: Any) -> list[tuple[Any, Origin]] | None:
    """The numbers of an array of one dimension with their origins; None for any other, and for long ones."""
    if not is_array(array) or array.ndim != 1 or len(array) > _MOST_SUMMED:
        return None
    found = [(number, array_item(array, row)) for row, number in enumerate(array.tolist())]
    return found if all(type(number) in (int, float, bool) for number, _ in found) else None


_MOST_SUMMED = 1_000


def array_item(array: Any, row: int) -> Origin:
    """Where the number of one row of an array came from."""
    try:
        value = (array if type(array).__name__ == "ndarray" else array.to_numpy()).reshape(-1)[row].item()
    except (AttributeError, IndexError, TypeError, ValueError, RuntimeError):
        return lost(None, 0)
    known = STATE.changed.get(id(array))
    if known is not None and known[0] is array:
        if known[1] is None:
            return lost(value, 0)
        if row in known[1]:
            origin = known[1][row]
            return origin if origin is not None and _stored(array, origin.value, value) else lost(value, 0)
    base = STATE.changed.get(id(getattr(array, "base", None)))
    if base is not None and base[0] is array.base:
        return lost(value, 0)
    made = STATE.identified(array)
    if made is None:
        return Origin("load", value, STATE.left_at)
    first = STATE.as_made.get(id(array))
    if first is not None and first[0] is array and not _same(first[1].reshape(-1)[row].item(), value):
        return lost(value, made.node)  # by a function that changes its argument
    if made.op == "lost":
        return lost(value, made.node)
    if made.op == "bin":
        return _computed(made, value, row)
    if made.op == "call":
        return _called(made, value, row)
    return Origin("load", value, made.node)


def _computed(made: Origin, value: Any, row: int) -> Origin:
    """A row of `left + right`."""
    inner: list[Any] = []
    for part in made.parts:
        thing = plain(part)
        if is_array(thing):
            inner.append(array_item(thing, row))
        else:
            inner.append(part if isinstance(part, Origin) else None)
    if all(isinstance(part, Origin) for part in inner):
        return Origin("bin", value, made.node, tuple(inner), made.guard)
    return Origin("load", value, made.node)


def _called(made: Origin, value: Any, row: int) -> Origin:
    """A row of what a function or method made of a list or an array."""
    function, arguments, _ = made.parts
    name = getattr(function, "__name__", "")
    receiver = getattr(function, "__self__", None)
    things = [receiver, *map(plain, arguments)] if is_array(receiver) else list(map(plain, arguments))
    first = things[0] if things else None
    if isinstance(first, list) and row < len(first):
        found = STATE.item(first, row, first[row])
        if found is not None and found.value == value:
            return found
    if first is not None and is_array(first) and row < len(first):
        if name in _ROW_BY_ROW:
            return array_item(first, row)
        if name in _CHANGED_BY:
            return Origin("call", value, made.node, (function, (array_item(first, row),), {}), made.guard)
    if any(is_array(thing) and _was_changed(thing) for thing in things):
        return lost(value, made.node)
    return Origin("load", value, made.node)


def _was_changed(array: Any) -> bool:
    known = STATE.changed.get(id(array))
    made = STATE.identified(array)
    return (known is not None and known[0] is array) or (made is not None and made.op in ("bin", "lost"))


def _stored(array: Any, wanted: Any, value: Any) -> bool:
    """Whether an array that was given a number holds it, in the array's own precision."""
    try:
        return bool(array.dtype.type(wanted) == value)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return False


def _same(one: Any, other: Any) -> bool:
    return bool(one == other or (one != one and other != other))
