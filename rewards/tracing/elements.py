"""Where one number of an array came from: arithmetic, comparisons, masks, `where`, matrices, lists of lists.

An array has one origin for the whole; what that says of a single number is worked out when it is asked for. Numbers
are named by their position in the flattened array. What comes of it is compared with the number that is there: where
it is another one, something changed the array out of sight, and the number is lost.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from rewards.tracing import tables
from rewards.tracing.arrays import is_array, is_given_up, lost, numpy_key
from rewards.tracing.looking import look
from rewards.tracing.provenance import Origin, admitting, plain
from rewards.tracing.state import STATE

_ROW_BY_ROW = ("array", "asarray", "copy", "astype", "ravel", "flatten", "squeeze", "reshape", "tolist", "to_numpy",
               "to_list", "list", "tuple", "float64", "float32", "Series")  # fmt: skip
_CHANGED_BY = ("clip", "round", "around", "abs", "absolute")
_PICKS = {"maximum": "max", "fmax": "max", "minimum": "min", "fmin": "min"}
_DOTS = ("dot", "matmul", "inner", "vdot")

_MOST_ITEMS = 100
"""Numbers of an array whose sum or mean is taken apart; longer ones are of a whole batch."""

MOST_SUMMED = 1_000
"""Numbers of a sum that are followed."""

_asked: set[tuple[int, int]] = set()
"""What is being worked out: an array may be made of itself, where it was changed while nobody saw."""

_LARGEST = 20_000
"""Numbers of an array above which positions in it are not worked out."""


_LOOKED_THROUGH = 1_000
"""Numbers of an array that are all looked at for unseen changes while the reward still runs."""


_answers: dict[tuple[int, int], tuple[Any, Origin]] | None = None
"""What was found while one score is read: nothing changes then, and the same number is the same origin."""


@contextmanager
def one_answer() -> Iterator[None]:
    """Let the same number of an array be the same origin until the end of the block."""
    global _answers
    outer = _answers
    _answers = {} if outer is None else outer
    try:
        yield
    finally:
        _answers = outer


def array_item(array: Any, at: int) -> Origin:
    """Where the number at one position of an array came from."""
    if _answers is None:
        return _item(array, at)
    known = _answers.get((id(array), at))
    if known is None or known[0] is not array:
        known = _answers[id(array), at] = (array, _item(array, at))
    return known[1]


def _item(array: Any, at: int) -> Origin:
    try:
        value = _number(array, at)
    except (AttributeError, IndexError, TypeError, ValueError, RuntimeError):
        return lost(None, 0)
    known = STATE.changed.get(id(array))
    if known is not None and known[0] is array:
        if known[1] is None:
            return lost(value, 0)
        if at in known[1]:
            origin = known[1][at]
            return origin if origin is not None and _stored(array, origin.value, value) else lost(value, 0)
    base = STATE.changed.get(id(look(array, "base", None)))
    if base is not None and base[0] is array.base:
        return lost(value, 0)
    made = STATE.identified(array)
    if made is None:
        return Origin("load", value, STATE.left_at)
    first = STATE.as_made.get(id(array))
    whole = _answers is not None or array.size <= _LOOKED_THROUGH
    if (
        first is not None
        and first[0] is array
        and not (_as_noted(array, first[1], known) if whole else _same(_number(first[1], at), value))
    ):
        return lost(value, made.node)  # by a function that changes its argument
    return _made(made, array, value, at)


def _as_noted(array: Any, first: Any, known: Any) -> bool:
    """Whether an array holds what it held when its origin was noted, but for the items known to be set since."""
    try:
        differs = (array != first) & ((array == array) | (first == first))
        if not differs.any():
            return True
    except (AttributeError, TypeError, ValueError):  # of another shape, or of things that are no numbers
        return False
    items = known[1] if known is not None and known[0] is array else {}
    return all(int(at) in items for at in np.flatnonzero(differs))


def _made(made: Origin, array: Any, value: Any, at: int) -> Origin:
    """The number by what made the array."""
    if made.op == "lost":
        return lost(value, made.node)
    method = _BY_OP.get(made.op)
    if method is None or array.size > _LARGEST or (id(made), at) in _asked:
        return Origin("load", value, made.node)
    _asked.add((id(made), at))
    try:
        found = method(made, array, value, at)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        found = None
    finally:
        _asked.discard((id(made), at))
    if found is None:
        return Origin("load", value, made.node)
    return found if found.op == "lost" or _stored(array, found.value, value) else lost(value, made.node)


def _number(array: Any, at: int) -> Any:
    flat = array if type(array).__name__ == "ndarray" else array.to_numpy()
    value = flat.flat[at]
    return value.item() if isinstance(value, np.generic) else value


def _stored(array: Any, wanted: Any, value: Any) -> bool:
    """Whether an array that was given a value holds it, in the array's own precision."""
    if _same(wanted, value):
        return True
    try:
        return bool(array.dtype.type(wanted) == value)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return False


def _same(one: Any, other: Any) -> bool:
    return bool(one == other or (one != one and other != other))


def items_of(array: Any) -> list[tuple[Any, Origin]] | None:
    """The numbers of an array with their origins; None where it holds anything else, and for long ones."""
    if not is_array(array) or array.size > _MOST_ITEMS:
        return None
    found = [(origin.value, origin) for origin in (array_item(array, at) for at in range(array.size))]
    return found if all(type(number) in (int, float, bool) for number, _ in found) else None


# ------------------------------------------------------------------------------------------- pieces


def positions(shape: tuple[int, ...], key: Any) -> Any:
    """The positions in an array of some shape that a key means, in the key's own shape."""
    return np.arange(math.prod(shape)).reshape(shape)[numpy_key(key)]


def piece(part: Any, shape: tuple[int, ...], at: int) -> Any:
    """What a number, list or array contributes to one position of a result of some shape."""
    thing = plain(part)
    if is_array(thing):
        if thing.shape == shape:
            return array_item(thing, at)
        index = np.broadcast_to(np.arange(thing.size).reshape(thing.shape), shape)
        return array_item(thing, int(index.flat[at]))
    if type(thing) in (list, tuple):
        index = np.broadcast_to(np.arange(len(thing)), shape)
        return _list_item(thing, (int(index.flat[at]),))
    return part


def _list_item(thing: Any, index: Sequence[int]) -> Any:
    """An item of a list, or of a list of lists or arrays."""
    for depth, at in enumerate(index):
        if is_array(thing):
            return array_item(thing, int(np.ravel_multi_index(tuple(index[depth:]), thing.shape)))
        if depth == len(index) - 1:
            value = thing[at]
            return STATE.item(thing, int(at), value) or value
        thing = thing[at]
    return None


def _as_origin(thing: Any, node: int) -> Origin:
    return thing if isinstance(thing, Origin) else Origin("load", thing, node)


def as_test(item: Any) -> Origin | None:
    """A truth value of a mask as the test that it is; None where nothing is known of it."""
    while isinstance(item, Origin) and item.op == "use" and item.place.kind in ("slot", "augslot"):
        inner = item.parts[0]
        if inner.op in ("const", "load"):  # `mask[other] = True`
            let = item.guard is not None and item.guard.op == "let" and item.value is True
            return admitting(item.guard) if let else None
        item = inner
    if not isinstance(item, Origin) or item.op == "lost":
        return None
    if item.op != "load":
        return item
    return Origin("test", bool(item.value), item.node) if item.place.kind in ("call", "cmp", "sub") else None


# --------------------------------------------------------------------------------------- operations


def _bin(made: Origin, array: Any, value: Any, at: int) -> Origin | None:
    """`left + right`, number by number."""
    extra = made.place.extra
    operation = extra[0] if isinstance(extra, tuple) else extra
    if operation is ast.MatMult:
        left, right = made.parts
        return _product(made, left, right, array.shape, at)
    if not _aligned(*map(plain, made.parts)):
        return None
    inner = [piece(part, array.shape, at) for part in made.parts]
    if not all(isinstance(part, Origin) for part in inner):
        return None
    return Origin(combined(operation, value), value, made.node, tuple(inner), made.guard)


def _aligned(*things: Any) -> bool:
    """False where pandas puts rows together by labels that are not the same."""
    labelled = [thing.index for thing in things if is_array(thing) and type(thing).__name__ == "Series"]
    return all(labels.equals(labelled[0]) for labels in labelled[1:])


def _cmp(made: Origin, array: Any, value: Any, at: int) -> Origin | None:
    if not _aligned(*map(plain, made.parts)):
        return None
    inner = tuple(piece(part, array.shape, at) for part in made.parts)
    return Origin("cmp", value, made.node, inner, made.guard)


def _unary(made: Origin, array: Any, value: Any, at: int) -> Origin | None:
    item = piece(made.parts[0], array.shape, at)
    if not isinstance(item, Origin):
        return None
    return Origin("not" if type(value) is bool else "unary", value, made.node, (item,), made.guard)


def _sub(made: Origin, array: Any, value: Any, at: int) -> Origin | None:
    """A part of an array: a row, a slice, what a mask chose."""
    container, key = plain(made.parts[0]), made.parts[1]
    if not is_array(container) or type(container).__name__ != "ndarray":
        return None
    return array_item(container, int(positions(container.shape, key).flat[at]))


def _view(made: Origin, array: Any, value: Any, at: int) -> Origin | None:
    """`array.T`, `series.values`."""
    source, name = plain(made.parts[0]), made.parts[1]
    if name == "T" and array.ndim > 1:
        at = int(np.arange(source.size).reshape(source.shape).T.flat[at])
    return array_item(source, at)


def _put(made: Origin, array: Any, value: Any, at: int) -> Origin | None:
    """An array some of whose numbers were set, or added to, at once: `scores[mask] += 0.25`."""
    kept, key, what, operation = made.parts
    chosen = positions(kept.shape, key)
    hits = np.flatnonzero(chosen.reshape(-1) == at)
    if not len(hits):
        return array_item(kept, at)
    amount = _as_origin(piece(what, chosen.shape, int(hits[-1])), made.node)
    test = _mask(key, kept.shape, at)
    under = Origin("let", True, made.node, (test,), made.guard) if test is not None else made.guard
    used = Origin("use", amount.value, made.node, (amount,), under)
    if operation is None:
        return used
    return Origin(combined(operation, value), value, made.node, (array_item(kept, at), used), under)


def combined(operation: type, value: Any) -> str:
    """Two truth values put together are a test."""
    return "bool" if type(value) is bool and operation in (ast.BitAnd, ast.BitOr, ast.BitXor) else "bin"


def _mask(key: Any, shape: tuple[int, ...], at: int) -> Origin | None:
    """The test by which a mask chose a position."""
    first = key[0] if type(key) is tuple and key else key
    if is_array(first) and first.dtype == bool:
        row = at if first.shape == shape else int(np.unravel_index(at, shape)[0])
        return as_test(array_item(first, row))
    if type(first) is list and first and type(first[0]) is bool:
        return as_test(STATE.item(first, at, first[at]))
    return None


# ------------------------------------------------------------------------------------------- sums


def product(made: Origin) -> Origin | None:
    """`weights @ features` where it gives one number, as the sum that it is; None where it is no such product."""
    parts = made.parts[1] if made.op == "call" else made.parts
    receiver = look(made.parts[0], "__self__", None) if made.op == "call" else None
    both = [receiver, *parts] if is_array(receiver) else list(parts)
    if len(both) != 2 or not all(is_array(plain(part)) or type(plain(part)) is list for part in both):
        return None
    try:
        return _product(made, both[0], both[1], (), 0)
    except (AttributeError, IndexError, TypeError, ValueError):
        return None


def _product(made: Origin, left: Any, right: Any, shape: tuple[int, ...], at: int) -> Origin | None:
    first, second = plain(left), plain(right)
    one, other = np.shape(first), np.shape(second)
    count = one[-1]
    if count > MOST_SUMMED or not count or other[0 if len(other) == 1 else -2] != count:
        return None
    index = [int(number) for number in np.unravel_index(at, shape)] if shape else []
    row = index[: len(one) - 1]
    column = index[len(one) - 1 :]
    seen: list[tuple[Any, Any]] = []
    for inner in range(count):
        pair = [
            _as_origin(_list_item(thing, place), made.node)
            for thing, place in ((first, [*row, inner]), (second, [inner, *column]))
        ]
        value = pair[0].value * pair[1].value
        seen.append((value, Origin("times", value, made.node, tuple(pair), made.guard)))
    return _total("sum", made, seen)


def _total(op: str, made: Origin, seen: list[tuple[Any, Any]]) -> Origin:
    value = math.fsum(number for number, _ in seen) / (len(seen) if op == "mean" else 1)
    return Origin(op, value, made.node, (seen, None), made.guard)


def _along(made: Origin, op: str, thing: Any, axis: int, array: Any, at: int) -> Origin | None:
    """A sum or mean along an axis."""
    axis %= thing.ndim
    if thing.shape[axis] > MOST_SUMMED or not thing.shape[axis]:
        return None
    index = np.unravel_index(at, array.shape)
    seen = []
    for inner in range(thing.shape[axis]):
        place = [*map(int, index[:axis]), inner, *map(int, index[axis:])]
        item = array_item(thing, int(np.ravel_multi_index(tuple(place), thing.shape)))
        seen.append((item.value, item))
    return _total(op, made, seen)


def _across(
    made: Origin, name: str, table: Any, named: dict[str, Any], arguments: Sequence[Any], at: int
) -> Origin | None:
    """The sum or mean of a row of a table."""
    axis = plain(named.get("axis", arguments[0] if arguments else 0))
    if name not in ("sum", "mean") or axis not in (1, "columns"):
        return None
    items = [array_item(tables.column(table, column), at) for column in table.columns]
    return _total(name, made, [(item.value, item) for item in items])


# ------------------------------------------------------------------------------------------- calls


def _call(made: Origin, array: Any, value: Any, at: int) -> Origin | None:
    """A number of what a function or method made of lists and arrays."""
    function, arguments, named = made.parts
    name = look(function, "__name__", "")
    receiver = look(function, "__self__", None)
    given = [receiver, *arguments] if is_array(receiver) else list(arguments)
    things = list(map(plain, given))
    if tables.is_table(receiver):
        source = STATE.identified(receiver)
        if is_given_up(receiver) or (source is not None and source.op == "lost"):
            return lost(value, made.node)
        return _across(made, name, receiver, named, arguments, at)
    if type(receiver).__name__ == "StringMethods":
        return _text_test(made, receiver, name, things, named, value, at)
    if is_array(receiver) and name in ("where", "mask"):
        given = _chosen_by(name, given)
    found = _of_several(made, name, given, named, array, value, at)
    if found is not None or not things:
        return found
    first = things[0]
    if name in _ROW_BY_ROW:
        if is_array(first) and first.size == array.size:
            return array_item(first, at)
        if type(first) in (list, tuple):
            item = _list_item(first, [int(index) for index in np.unravel_index(at, array.shape)])
            return item if isinstance(item, Origin) else None
    if name in _CHANGED_BY and is_array(first) and first.shape == array.shape:
        return Origin("call", value, made.node, (function, (array_item(first, at),), {}), made.guard)
    if any(is_array(thing) and _was_changed(thing) for thing in things):
        return lost(value, made.node)
    return None


def _chosen_by(name: str, given: list[Any]) -> list[Any]:
    """`series.where(condition, other)` in the order of `np.where`; nothing for other forms of it, and for `mask`."""
    return [given[1], given[0], given[2]] if name == "where" and len(given) == 3 else []


def _of_several(
    made: Origin, name: str, given: list[Any], named: dict[str, Any], array: Any, value: Any, at: int
) -> Origin | None:
    """A number by a function that looks at several arrays, or along one."""
    shape = array.shape
    if name == "where" and len(given) == 3:
        test = as_test(piece(given[0], shape, at))
        chosen = _as_origin(piece(given[1 if _true(given[0], shape, at) else 2], shape, at), made.node)
        return Origin("if", value, made.node, (chosen, test), made.guard) if test is not None else chosen
    if name == "select" and len(given) > 1:
        return _selected(made, given, named, shape, value, at)
    if name in _PICKS and len(given) == 2:
        pair = [_as_origin(piece(part, shape, at), made.node) for part in given]
        seen = [(item.value, item) for item in pair]
        return Origin("pick", value, made.node, (seen, _PICKS[name]), made.guard)
    if name in ("logical_and", "logical_or") and len(given) == 2:
        pair = [_as_origin(piece(part, shape, at), made.node) for part in given]
        return Origin("bool", value, made.node, tuple(pair), made.guard)
    if not given:
        return None
    if name in ("logical_not", "invert"):
        return Origin("not", value, made.node, (piece(given[0], shape, at),), made.guard)
    if name in _DOTS and len(given) == 2:
        return _product(made, given[0], given[1], shape, at)
    axis = plain(named.get("axis", given[1] if len(given) == 2 else None))
    if name in ("sum", "mean", "nansum", "nanmean") and type(axis) is int and is_array(plain(given[0])):
        return _along(made, name.removeprefix("nan"), plain(given[0]), axis, array, at)
    if name in ("column_stack", "vstack", "stack", "hstack", "concatenate"):
        return _stacked(name, plain(given[0]), axis, shape, at)
    return None


def _true(mask: Any, shape: tuple[int, ...], at: int) -> bool:
    item = piece(mask, shape, at)
    return bool(item.value if isinstance(item, Origin) else item)


def _selected(
    made: Origin, given: list[Any], named: dict[str, Any], shape: tuple[int, ...], value: Any, at: int
) -> Origin:
    """`np.select(conditions, choices, default)`."""
    for mask, choice in zip(plain(given[0]), plain(given[1]), strict=False):
        if _true(mask, shape, at):
            chosen = _as_origin(piece(choice, shape, at), made.node)
            return Origin("if", value, made.node, (chosen, as_test(piece(mask, shape, at))), made.guard)
    return _as_origin(named.get("default", given[2] if len(given) > 2 else value), made.node)


def _stacked(name: str, things: Any, axis: Any, shape: tuple[int, ...], at: int) -> Origin | None:
    """Arrays or lists put together to columns or rows."""
    index = [int(number) for number in np.unravel_index(at, shape)]
    if len(index) != 2 or any(len(np.shape(thing)) != 1 for thing in things):
        return None
    columns = name == "column_stack" or (name == "stack" and axis in (1, -1))
    item = _list_item(things[index[columns]], [index[not columns]])
    return item if isinstance(item, Origin) else None


def _text_test(
    made: Origin, receiver: Any, name: str, things: list[Any], named: dict[str, Any], value: Any, at: int
) -> Origin | None:
    """A method of `series.str` that finds something, as the test of the one text that it is."""
    text = receiver._orig.iloc[at]
    wanted = things[0] if things else named.get("pat")
    if type(value) is not bool or type(text) is not str or type(wanted) not in (str, tuple):
        return None
    inner: Any
    find: Any = text.find
    if name in ("startswith", "endswith"):
        inner = Origin("call", value, made.node, (getattr(text, name), (wanted,), {}))
    elif name == "contains" and plain(named.get("regex", True)) is False:
        inner = Origin("call", find(wanted), made.node, (find, (wanted,), {}))
    elif name in ("contains", "match", "fullmatch"):
        flags = plain(named.get("flags", 0)) | (0 if plain(named.get("case", True)) else re.IGNORECASE)
        inner = getattr(re, "search" if name == "contains" else name)(wanted, text, flags)
    else:
        return None
    return Origin("test", value, made.node, (inner,), made.guard)


def _was_changed(array: Any) -> bool:
    known = STATE.changed.get(id(array))
    made = STATE.identified(array)
    return (known is not None and known[0] is array) or (
        made is not None and made.op in ("bin", "put", "lost")
    )


def _given(made: Origin, array: Any, value: Any, at: int) -> Origin | None:
    """A column or array whose numbers were noted one by one."""
    origin = made.parts[0][at]
    return origin if isinstance(origin, Origin) else None


def _through(made: Origin, array: Any, value: Any, at: int) -> Origin | None:
    """An array that a function returned, or that was chosen."""
    inner = made.parts[0]
    return _made(inner, array, value, at) if isinstance(inner, Origin) else None


_BY_OP: dict[str, Callable[..., Origin | None]] = {
    "bin": _bin, "cmp": _cmp, "unary": _unary, "sub": _sub, "view": _view, "put": _put, "call": _call,
    "given": _given, "ret": _through, "use": _through, "if": _through,
}  # fmt: skip
