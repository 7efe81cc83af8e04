"""Arrays and tables: what they are known by, and when they are given up.

Items that are assigned or added to are remembered by their position, and arrays that are computed from others, in
place or not, number by number (`elements`). An array that was changed in any other way (through a view, a function
that writes into its argument) is given up: its numbers are *lost*, and a score that rests on a lost number is never
called exact.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from rewards.tracing.looking import has, look
from rewards.tracing.nodes import Node
from rewards.tracing.provenance import Origin, plain
from rewards.tracing.state import MOST_COPIED, STATE, held, note_numbers

_ARRAYS = (("numpy", "ndarray"), ("pandas.core.series", "Series"), ("pandas", "Series"))


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
    return not of_python or has(container, "shape") or "Indexer" in type(container).__name__


def give_up(container: Any) -> None:
    """A container was changed in a way that is not followed."""
    inner = look(container, "obj", container) if "Indexer" in type(container).__name__ else container
    STATE.changed[id(inner)] = (inner, None)
    give_up_base(inner)


def give_up_base(array: Any) -> None:
    """What changes a view changes the array it shows."""
    base = look(array, "base", None)
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
    if at_slice and type(container) is list:
        give_up(container)


def before_change(array: Any, origin: Any) -> Any:
    """An array's origin, kept with a copy of its numbers, because the array itself is about to be changed in place."""
    if array.size > MOST_COPIED:
        give_up(array)
        return lost(array, 0)
    kept = array.copy()
    made = origin if isinstance(origin, Origin) else Origin("load", array, 0)
    made.value = kept  # what was made of the array so far was made of these numbers
    STATE.by_identity[id(kept)] = made
    STATE.handed.discard(id(array))
    known = STATE.changed.pop(id(array), None)
    if known is not None and known[0] is array:
        STATE.changed[id(kept)] = (kept, known[1])
    _noted_again(array, kept)
    return made


def before_item(array: Any) -> None:
    """One number of an array is about to be changed; what was made of the array was made of the old one."""
    made = STATE.identified(array)
    if id(array) not in STATE.handed or made is None:
        return
    STATE.handed.discard(id(array))
    if array.size > MOST_COPIED:
        give_up(array)
        return
    kept = frozen(array)
    now = STATE.by_identity[id(kept)]
    now.value, made.value = array, kept
    STATE.by_identity[id(array)], STATE.by_identity[id(kept)] = now, made


def frozen(thing: Any) -> Any:
    """An array or list, or a tuple of them, as it is now: a copy whose items are known by what they are known by now.

    Anything else is given back itself.
    """
    if type(thing) is tuple:
        parts = tuple(map(frozen, thing))
        same = all(new is old for new, old in zip(parts, thing, strict=True))
        return thing if same else parts
    if type(thing) is list:
        return _frozen_list(thing)
    if not is_array(thing) or thing.size > MOST_COPIED:
        return thing
    kept = thing.copy()
    made = STATE.identified(thing)
    if made is not None:
        STATE.by_identity[id(kept)] = Origin(made.op, kept, made.node, made.parts, made.guard)
    known = STATE.changed.get(id(thing))
    base = STATE.changed.get(id(look(thing, "base", None)))
    if known is not None and known[0] is thing:
        STATE.changed[id(kept)] = (kept, dict(known[1]) if known[1] is not None else None)
    elif base is not None and base[0] is thing.base:
        STATE.changed[id(kept)] = (kept, None)
    _noted_again(thing, kept)
    return kept


def _frozen_list(thing: list[Any]) -> list[Any]:
    kept = [frozen(item) if type(item) in (list, tuple) or is_array(item) else item for item in thing]
    origins, known = STATE.origins_of(thing), STATE.let_in.get(id(thing))
    if origins is not None:
        STATE.items[id(kept)] = (kept, list(origins))
    if known is not None and known[0] is thing:
        STATE.let_in[id(kept)] = (kept, list(known[1]))
    if is_given_up(thing):
        STATE.changed[id(kept)] = (kept, None)
    return kept


def _noted_again(array: Any, kept: Any) -> None:
    """The numbers an array had when its origin was noted are those of its copy, too."""
    first = STATE.as_made.get(id(array))
    if first is not None and first[0] is array:
        STATE.as_made[id(kept)] = (kept, first[1])


class Method:
    """A method of an array, as a part of an origin: of the array as it was when the method was called."""

    __slots__ = ("__name__", "array")

    def __init__(self, array: Origin, name: str) -> None:
        self.array = array
        self.__name__ = name

    @property
    def __self__(self) -> Any:
        return self.array.value


def settled(value: Any, function: Any, arguments: Any, named: Any, number: int) -> tuple[Any, Any, Any]:
    """The parts of a call that has just given `value`, safe from what becomes of the arrays and lists in them."""
    receiver = look(function, "__self__", None)
    if is_array(receiver):
        function = Method(held(receiver, number), look(function, "__name__", ""))
    if is_array(value):
        arguments = tuple(frozen(one) if type(one) in (list, tuple) else one for one in arguments)
        named = {name: frozen(one) if type(one) in (list, tuple) else one for name, one in named.items()}
    return function, arguments, named


_WRITERS = frozenset(["copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal"])
"""Functions of NumPy that write into their first argument."""

_METHODS = frozenset(["fill", "sort", "partition", "resize", "itemset", "put", "setfield"])
"""Methods of an array that write into it."""


def _writes(function: Any, receiver: Any, name: str) -> bool:
    """Whether a function writes into its first argument."""
    if name in ("at", "shuffle"):
        return type(receiver).__name__ in ("ufunc", "Generator", "RandomState")
    return name in _WRITERS and str(look(function, "__module__", "")).startswith("numpy")


def written_to(function: Any, values: Any, named: dict[str, Any]) -> list[Any]:
    """The arrays that a call writes into, as far as it says so."""
    out = plain(named.get("out"))
    found = list(out) if type(out) is tuple else [out]
    count = look(function, "nin", None)
    if type(count) is int:
        found += map(plain, values[count:])
    name, receiver = look(function, "__name__", ""), look(function, "__self__", None)
    if is_array(receiver) and type(receiver).__name__ == "ndarray":
        found.append(receiver if name in _METHODS else None)
    elif values and _writes(function, receiver, name):
        found.append(plain(values[0]))
    return [thing for thing in found if is_array(thing)]


def after_change(array: Any, origin: Origin) -> None:
    """An array was changed in place, by what `origin` says."""
    STATE.by_identity[id(array)] = origin
    if is_array(array) and type(array).__name__ == "ndarray":
        note_numbers(array)
        give_up_base(array)


def numpy_key(key: Any) -> Any:
    """A key as NumPy takes it: a mask that is a Series is one by position."""
    if type(key) is tuple:
        return tuple(numpy_key(part) for part in key)
    return key.to_numpy() if is_array(key) and type(key).__name__ != "ndarray" else plain(key)
