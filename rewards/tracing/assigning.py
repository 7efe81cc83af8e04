"""Numbers that are put into arrays and tables, one at a time or many at once, and read from them one at a time.

`scores[i] += 0.25` is remembered at its position. `scores[mask] += 0.25` is remembered as a whole, with a copy of the
array as it was; `elements` finds out what that means for one position.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from rewards.tracing import tables
from rewards.tracing.arrays import (
    before_change,
    before_item,
    frozen,
    give_up,
    give_up_base,
    holds_numbers,
    is_array,
    is_given_up,
    lost,
    numpy_key,
)
from rewards.tracing.elements import array_item, combined, positions
from rewards.tracing.looking import has, look
from rewards.tracing.nodes import NODES
from rewards.tracing.provenance import Origin, Record, plain
from rewards.tracing.state import IN_PLACE, STATE, guard_of, operand, register

_LARGEST = 20_000


def store_number(record: Record, number: int, container: Any, key: Any, origin: Any, value: Any) -> None:
    """A container is about to be given a number, or many, at a key."""
    if not holds_numbers(container):
        return
    at = _position(container, key)
    if at is not None:
        _set(container, at, origin)
        return
    what = origin if isinstance(origin, Origin) else value
    if not _put(record, number, container, key, what, None):
        give_up(container)


def add_number(record: Record, number: int, container: Any, key: Any, value: Any) -> None:
    """A statement is about to add to an item of a container, or to many."""
    at = _position(container, key)
    if at is not None:
        _set(container, at, _sum(record, number, container, at, value))
        return
    amount = operand(record, NODES[number].kids[1], value, number)
    if not _put(record, number, container, key, amount, NODES[number].extra[0]):
        give_up(container)


def _put(record: Record, number: int, container: Any, key: Any, what: Any, operation: Any) -> bool:
    """Many numbers at once; False where it is not followed."""
    guard = guard_of(record, number)
    if tables.is_table(container) or tables.is_table(look(container, "obj", None)):
        return tables.change(container, key, what, operation, number, guard)
    array = tables.labelled(container, key)
    if array is None or array.size > _LARGEST or look(array, "base", None) is not None:
        return False
    with np.errstate(all="ignore"):
        try:
            expected = np.array(array.to_numpy() if has(array, "to_numpy") else array)
            chosen = positions(expected.shape, key)
            at = numpy_key(key)
            given = plain(what)
            if operation is not None:
                if len(np.unique(chosen)) != chosen.size:
                    return False
                given = IN_PLACE[operation](expected[at], given)
            expected[at] = given
        except (ArithmeticError, IndexError, TypeError, ValueError):
            return False
    key, given = frozen(key), frozen(plain(what))
    what = what if given is plain(what) else given
    kept = before_change(array, STATE.identified(array)).value
    STATE.by_identity[id(array)] = Origin("put", array, number, (kept, key, what, operation), guard)
    if not has(array, "to_numpy"):
        STATE.as_made[id(array)] = (array, expected)
    return True


def _sum(record: Record, number: int, array: Any, at: int, value: Any) -> Origin | None:
    node = NODES[number]
    before = array_item(array, at)
    amount = operand(record, node.kids[1], value, number)
    if before.op == "lost":
        return before
    try:
        new = IN_PLACE[node.extra[0]](array.flat[at].item(), value)
    except (ArithmeticError, TypeError, AttributeError):
        return None
    if not isinstance(amount, Origin):
        amount = Origin("load", value, number, (), guard_of(record, number))
    STATE.note(node, node.text.split(" ")[0], new)
    return Origin(combined(node.extra[0], new), new, number, (before, amount), guard_of(record, number))


def read_item(container: Any, key: Any, value: Any, number: int) -> Origin | None:
    """The origin of an item that is read, where more is known of it than that it was there."""
    if is_given_up(container):
        return lost(value, number)
    if tables.is_table(container):
        return tables.column_read(container, key, value, number)
    at = _position(container, key) if is_array(container) else None
    return _drawn(container, at, value, number) if at is not None else None


def draw(array: Any, at: int, value: Any, number: int) -> None:
    """A loop over an array got its next value."""
    if is_given_up(array):
        register(value, lost(value, number))
    elif is_array(array) and not isinstance(value, tuple):
        if array.ndim > 1:
            register(value, Origin("sub", value, number, (array, at)))
            return
        origin = _drawn(array, at, value, number)
        if origin is not None:
            register(value, origin)


def _drawn(array: Any, at: int, value: Any, number: int) -> Origin | None:
    found = array_item(array, at)
    if found.op == "lost":
        return lost(value, number)
    return Origin("use", value, number, (found,), found.guard) if found.op != "load" else None


def _position(container: Any, key: Any) -> int | None:
    """The position an item's key means in an array; None for masks, slices, labels, rows."""
    if type(container).__name__ != "ndarray" or isinstance(key, bool):
        return None
    if container.ndim != 1:
        return _cell(container, key)
    try:
        at = operator.index(key)
    except TypeError:
        return None
    return at % len(container) if -len(container) <= at < len(container) else None


def _cell(array: Any, key: Any) -> int | None:
    """The position of one number of a matrix."""
    if type(key) is not tuple or len(key) != array.ndim or not all(type(at) is int for at in key):
        return None
    inside = all(-size <= at < size for at, size in zip(key, array.shape, strict=True))
    index = tuple(at % size for at, size in zip(key, array.shape, strict=True)) if inside else ()
    return int(np.ravel_multi_index(index, array.shape)) if inside else None


def _set(array: Any, at: int, origin: Any) -> None:
    before_item(array)
    known = STATE.changed.get(id(array))
    if known is None or known[0] is not array:
        known = STATE.changed[id(array)] = (array, {})
    give_up_base(array)
    if known[1] is not None:
        known[1][at] = origin if isinstance(origin, Origin) else None
