"""pandas: columns of a table that are made, read, added to and changed under masks.

A table has no numbers of its own here: for each column that is known there is an array of what stands in it, with an
origin like any other array. Only tables whose rows are numbered from 0 on are followed, and only whole columns, and
rows chosen by a mask or a number; anything else gives the table up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rewards.tracing.arrays import frozen, is_array, numpy_key
from rewards.tracing.looking import has, look
from rewards.tracing.nodes import NODES
from rewards.tracing.provenance import Entry, Origin, plain
from rewards.tracing.state import OPERATORS, STATE

_TABLES = (("pandas.core.frame", "DataFrame"), ("pandas", "DataFrame"))
_LARGEST = 20_000


def is_table(thing: Any) -> bool:
    """True for a DataFrame."""
    kind = type(thing)
    return (kind.__module__, kind.__name__) in _TABLES


def is_of_pandas(thing: Any) -> bool:
    """True for a Series or a table."""
    return is_table(thing) or (is_array(thing) and type(thing).__name__ == "Series")


def row_by_row(entry: Entry, value: Any) -> list[Any] | None:
    """The origins of a Series that a function of the reward's gave number by number; None if it was made otherwise."""
    if entry in STATE.applying:  # with what an exception left behind it
        del STATE.applying[STATE.applying.index(entry) :]
    given = entry.given_back or []
    if not given or not is_of_pandas(value) or is_table(value):
        return None
    last = _function_of(given[-1][0])
    own = [(one, origin) for number, one, origin in given if _function_of(number) == last]
    if len(own) != len(value) or not all(isinstance(origin, Origin) for _, origin in own):
        return None
    if any(one != held for (one, _), held in zip(own, value.tolist(), strict=True)):
        return None
    return [origin for _, origin in own]


def _function_of(number: int) -> tuple[bool, int]:
    """The function or the lambda that a return belongs to."""
    node = NODES[number]
    return (True, number) if node.extra == "lambda" else (False, node.function)


def labelled(container: Any, key: Any) -> Any:
    """The array or Series that a key of it, of its `loc` or of its `iloc` changes; None where it is not followed."""
    kind = type(container).__name__
    series = container.obj if "Indexer" in kind else container
    if not is_array(series):
        return None
    if type(series).__name__ == "ndarray":
        return series
    return series if _numbered(series) and _rows(key, series.index) else None


def _numbered(thing: Any) -> bool:
    """True where labels are positions."""
    index = thing.index
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _rows(key: Any, index: Any) -> bool:
    """True for a mask over all rows, or the number of one."""
    if type(key) is int:
        return 0 <= key < len(index)
    if type(key) is list:
        return len(key) == len(index) and all(type(one) is bool for one in key)
    if not is_array(key) or key.dtype != bool or len(key) != len(index):
        return False
    return type(key).__name__ == "ndarray" or bool(key.index.equals(index))


# ------------------------------------------------------------------------------------------- columns


def _known(table: Any) -> dict[Any, Any]:
    known = STATE.tables.get(id(table))
    if known is None or known[0] is not table:
        known = STATE.tables[id(table)] = (table, {})
    return known[1]


def column(table: Any, name: Any) -> Any:
    """The array of what stands in a column, with all that is known of it."""
    known = _known(table)
    if name not in known:
        known[name] = _first(table, name)
    return known[name]


def settle(table: Any) -> None:
    """A table was just made of another, or of columns: what it holds is worked out before those are changed."""
    if is_table(table) and _numbered(table) and table.size <= _LARGEST and table.columns.is_unique:
        for name in table.columns:
            column(table, name)


def _first(table: Any, name: Any) -> Any:
    """A column as the table was made with it."""
    made = STATE.identified(table)
    values = np.array(table[name].to_numpy()) if name in table.columns else None
    if made is None or values is None or not _numbered(table):
        return values
    if made.op == "sub" and is_table(made.parts[0]):
        return _noted(values, Origin("view", values, made.node, (column(made.parts[0], name), "values")))
    if made.op != "call":
        return values
    function, arguments, named = made.parts
    source = plain(arguments[0] if arguments else named.get("data"))
    if look(function, "__name__", "") == "copy" and is_table(look(function, "__self__", None)):
        return _noted(values, Origin("view", values, made.node, (column(function.__self__, name), "values")))
    if look(function, "__name__", "") != "DataFrame":
        return values
    if type(source) is dict and name in source:
        made_of = _column_of(source[name], len(table), made.node, STATE.item(source, name, source[name]))
        return values if made_of is None else made_of
    if type(source) is list and all(type(row) is dict for row in source):
        origins = [STATE.item(row, name, row.get(name)) for row in source]
        return _noted(values, Origin("given", values, made.node, (origins,)))
    return values


def _noted(values: Any, origin: Origin) -> Any:
    STATE.by_identity[id(values)] = origin
    return values


def _column_of(value: Any, length: int, node: int, origin: Any) -> Any:
    """The array of a column that a value becomes; None where it is not followed."""
    if is_array(value):
        if value.ndim != 1 or len(value) != length or (has(value, "index") and not _numbered(value)):
            return None
        values = np.array(value.to_numpy() if has(value, "to_numpy") else value)
        return _noted(values, Origin("view", values, node, (frozen(value), "values")))
    if type(value) in (list, tuple) and len(value) == length:
        values = np.array(value)
        return _noted(values, Origin("call", values, node, (np.asarray, (frozen(value),), {})))
    if type(value) in (int, float, bool):
        one = origin if isinstance(origin, Origin) else Origin("load", value, node)
        values = np.full(length, value)
        return _noted(values, Origin("given", values, node, ([one] * length,)))
    return None


def column_read(table: Any, name: Any, value: Any, number: int) -> Origin | None:
    """A column of a table is read; the origin of the Series that comes of it."""
    followed = _numbered(table) and table.size <= _LARGEST
    if type(value).__name__ != "Series" or type(name) not in (str, int) or not followed:
        return None
    values = column(table, name)
    return Origin("view", value, number, (values, "values")) if values is not None else None


# ------------------------------------------------------------------------------------------- changes


def change(container: Any, key: Any, what: Any, operation: Any, number: int, guard: Origin | None) -> bool:
    """A column is about to be made, replaced, or changed in some rows; False where that is not followed."""
    table, rows, name = _target(container, key)
    if name is None or not _numbered(table) or table.size > _LARGEST:
        return False
    rows, given = frozen(rows), frozen(plain(what))
    what = what if given is plain(what) else given
    if rows is None and operation is None:
        new = _column_of(plain(what), len(table), number, what)
    elif rows is None:
        new = _added(table, name, what, operation, number, guard)
    else:
        new = _put(table, rows, name, what, operation, number, guard)
    if new is None:
        return False
    _known(table)[name] = new
    return True


def _target(container: Any, key: Any) -> tuple[Any, Any, Any]:
    """The table, the rows (None: all) and the column that a key means."""
    if is_table(container):
        return container, None, key if type(key) in (str, int) else None
    table = container.obj
    if (
        type(container).__name__ not in ("_LocIndexer", "_AtIndexer")
        or type(key) is not tuple
        or len(key) != 2
    ):
        return table, None, None
    rows, name = key
    if type(rows) is slice and rows == slice(None):
        return table, None, name if type(name) in (str, int) else None
    return table, rows, name if type(name) in (str, int) and _rows(rows, table.index) else None


def _added(table: Any, name: Any, what: Any, operation: Any, number: int, guard: Origin | None) -> Any:
    old = column(table, name)
    value = plain(what)
    if old is None or (has(value, "index") and is_array(value) and not value.index.equals(table.index)):
        return None
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(OPERATORS[operation](old, numpy_key(value)))
    except (ArithmeticError, TypeError, ValueError):
        return None
    return _noted(values, Origin("bin", values, number, (_origin(old), what), guard))


def _put(
    table: Any, rows: Any, name: Any, what: Any, operation: Any, number: int, guard: Origin | None
) -> Any:
    old = column(table, name)
    if old is None:
        old = np.full(len(table), math.nan)
    at, value = numpy_key(rows), numpy_key(what)
    try:
        with np.errstate(all="ignore"):
            given = value if operation is None else OPERATORS[operation](old[at], value)
            values = np.array(old, dtype=np.result_type(old, np.asarray(given)))
            values[at] = given
    except (ArithmeticError, IndexError, TypeError, ValueError):
        return None
    return _noted(values, Origin("put", values, number, (old, rows, what, operation), guard))


def _origin(values: Any) -> Origin:
    """An array as a part of an origin."""
    return STATE.identified(values) or Origin("load", values, 0)
