"""The hooks that instrumented code calls.

Outside a recording they are the plain operations. Inside one they keep origins; one recording runs at a time
in a process. Code that computes scores in several threads at once may lose origins, never get wrong ones.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CoroutineType, GeneratorType, SimpleNamespace
from typing import Any

from rewards.credits import observe
from rewards.tracing import iterating, storing
from rewards.tracing.arrays import after_change, before_change, frozen, give_up, is_array, settled, written_to
from rewards.tracing.assigning import read_item
from rewards.tracing.expressions import ARRAY_VIEWS
from rewards.tracing.looking import look
from rewards.tracing.nodes import FILES, NODES
from rewards.tracing.performing import performed
from rewards.tracing.provenance import NUMBERS, Entry, Origin, Record, shared
from rewards.tracing.state import IN_PLACE, OPERATORS, STATE, fresh, guard_of, held, operand, owner, register
from rewards.tracing.tables import is_of_pandas, row_by_row, settle

HOOKS = SimpleNamespace()
"""What an instrumented file imports; its attributes are replaced when a recording starts and ends."""

_NOBODY = Record()

_BEGUN_LATER = (CoroutineType, GeneratorType)

_DEEPER = 4
"""The frames that following a recursion may take for each of its own."""

_ROW_BY_ROW = frozenset(["apply", "map", "transform"])

STEPS = 150_000
"""Loop rounds and calls after which a recording gives up following values."""


# ------------------------------------------------------------------------------------ always the same


def _hits(number: int) -> list[int]:
    return FILES[number].hits


def _module_record(number: int) -> Record:
    return STATE.module_records.setdefault(number, Record())


# ------------------------------------------------------------------------------------ nobody records


def _plain_enter(number: int, up: Record, /, *values: Any) -> Record:
    return _NOBODY


def _plain_value(record: Record, number: int, value: Any, /) -> Any:
    return value


def _plain_constant(record: Record, number: int, /) -> Any:
    return NODES[number].extra


def _plain_call(record: Record, number: int, function: Any, /, *values: Any, **named: Any) -> Any:
    return function(*values, **named)


def _plain_argument(record: Record, number: int, kid: int, name: str | None, value: Any, /) -> Any:
    return value


def _plain_bin(record: Record, number: int, left: Any, right: Any, /) -> Any:
    return OPERATORS[NODES[number].extra](left, right)


def _plain_cmp(record: Record, number: int, left: Any, right: Any, /) -> Any:
    return OPERATORS[NODES[number].extra](left, right)


def _plain_aug(record: Record, number: int, old: Any, value: Any, /) -> Any:
    return IN_PLACE[_operation(number)](old, value)


def _plain_unary(record: Record, number: int, value: Any, /) -> Any:
    return OPERATORS[type(NODES[number].extra)](value)


def _plain_sub(record: Record, number: int, container: Any, key: Any, /) -> Any:
    return container[key]


def _plain_attr(record: Record, number: int, value: Any, /) -> Any:
    return getattr(value, NODES[number].extra)


def _plain_true(record: Record, number: int, /, *values: Any) -> bool:
    return True


def _operation(number: int) -> type:
    extra = NODES[number].extra
    return extra[0] if isinstance(extra, tuple) else extra  # type: ignore[no-any-return]


# ----------------------------------------------------------------------------------- functions


def _enter(number: int, up: Record, /, *values: Any) -> Record:
    _step()
    node = NODES[number]
    entry = STATE.pending
    if node.extra["later"]:
        entry = STATE.later.pop(id(sys._getframe(1)), None)
    STATE.pending = STATE.returned = None
    record = Record(number, up, entry.guard if entry is not None else None)
    for position, (name, value) in enumerate(zip(node.extra["parameters"], values, strict=True)):
        if type(value) in NUMBERS:
            found = _argument(entry, position, name, value) or STATE.identified(value)
            record[name] = found or STATE.loaded(value, number)
        elif shared(value) and (found := _argument(entry, position, name, value)) is not None:
            record[name] = found
    return record


def _argument(entry: Entry | None, position: int, name: str, value: Any) -> Origin | None:
    if entry is None:
        return None
    shift = 1 if look(entry.function, "__self__", None) is not None else 0
    candidates = [entry.names.get(name), *entry.arguments[position - shift : position - shift + 1]]
    candidates += entry.arguments
    for candidate in candidates:
        if isinstance(candidate, Origin) and candidate.value is value:
            return candidate
    return None


def _lam(record: Record, number: int, /, *values: Any) -> None:
    _step()
    STATE.pending = STATE.returned = None
    for (_, key), value in zip(NODES[number].extra, values, strict=True):
        record.pop(key[0], None)
        if type(value) in NUMBERS:
            record[key[0]] = STATE.identified(value) or STATE.loaded(value, number)


def _ret(record: Record, number: int, value: Any, /) -> Any:
    origin = operand(record, NODES[number].kids[0], value, number)
    STATE.returned = origin if isinstance(origin, Origin) else None
    STATE.pending = None
    STATE.left_at = number
    if STATE.applying:
        STATE.applying[-1].given_back.append((number, value, origin))
    return value


def _f(record: Record, number: int, function: Any, /) -> Any:
    entry = Entry(function, guard_of(record, number))
    record[-number] = STATE.pending = entry
    STATE.returned = None
    if look(function, "__name__", "") in _ROW_BY_ROW and is_of_pandas(look(function, "__self__", None)):
        entry.given_back = []
        STATE.applying.append(entry)
    return function


def _a(record: Record, number: int, kid: int, name: str | None, value: Any, /) -> Any:
    entry = record.get(-number)
    if entry is None:
        return value
    origin = operand(record, kid, value, number)
    if name is None:
        entry.arguments.append(origin)
    else:
        entry.names[name] = origin
    STATE.pending = entry
    STATE.returned = None
    return value


def _r(record: Record, number: int, value: Any, /) -> Any:
    returned, STATE.returned, STATE.pending = STATE.returned, None, None
    entry = record.pop(-number, None)
    if returned is not None and returned.value is value:
        origin = Origin("ret", value, number, (returned,), guard_of(record, number))
    elif entry is None:
        return value
    else:
        if type(value) in _BEGUN_LATER:
            frame = value.cr_frame if type(value) is CoroutineType else value.gi_frame
            STATE.later[id(frame)] = entry
        guard = guard_of(record, number)
        made = row_by_row(entry, value) if entry.given_back is not None else None
        if made is not None:
            origin = Origin("given", value, number, (made,), guard)
        else:
            parts = settled(value, entry.function, tuple(entry.arguments), entry.names, number)
            for array in written_to(entry.function, entry.arguments, entry.names):
                give_up(array)
            origin = Origin("call", value, number, parts, guard)
    record[number] = origin
    register(value, origin)
    settle(value)
    return value


def _awaited(record: Record, number: int, value: Any, /) -> Any:
    returned, STATE.returned = STATE.returned, None
    if returned is not None and returned.value is value:
        record[number] = Origin("ret", value, number, (returned,), guard_of(record, number))
    return value


def _call(record: Record, number: int, function: Any, /, *values: Any, **named: Any) -> Any:
    kids = NODES[number].kids
    STATE.returned = None
    if len(kids) == len(values):
        parts = tuple(operand(record, kid, value, number) for kid, value in zip(kids, values, strict=True))
    else:
        parts = values
    return performed(record, number, function, values, parts, named)


# ---------------------------------------------------------------------------------- operations


def _k(record: Record, number: int, /) -> Any:
    value = fresh(NODES[number].extra)
    origin = Origin("const", value, number, (), guard_of(record, number))
    record[number] = origin
    STATE.by_identity[id(value)] = origin
    return value


def _bin(record: Record, number: int, left: Any, right: Any, /) -> Any:
    node = NODES[number]
    operation = node.extra
    value = OPERATORS[operation](left, right)
    parts = (
        operand(record, node.kids[0], left, number, False),
        operand(record, node.kids[1], right, number, node.kind == "aug"),
    )
    origin = Origin("bin", value, number, parts, guard_of(record, number))
    record[number] = origin
    register(value, origin)
    if type(value) is list:
        STATE.joined(value, left, right)
    return value


def _aug(record: Record, number: int, old: Any, value: Any, /) -> Any:
    node = NODES[number]
    operation, name, key = node.extra
    before = operand(record, node.kids[0], old, number, False)
    array = is_array(old)
    if array:
        before = before_change(old, before)
    length = len(old) if type(old) is list else 0
    new = IN_PLACE[operation](old, value)
    origin = Origin(
        "bin", new, number, (before, operand(record, node.kids[1], value, number)), guard_of(record, number)
    )
    if new is not old:
        register(new, origin)
    elif array:
        after_change(new, origin)
    elif type(new) is list:
        STATE.extended(new, length, value)
    if key is not None:
        home = owner(record, key)
        if type(new) in NUMBERS:
            home[key[0]] = origin
        else:
            home.pop(key[0], None)
    STATE.note(node, name, new)
    return new


def _unary(record: Record, number: int, value: Any, /) -> Any:
    node = NODES[number]
    new = OPERATORS[type(node.extra)](value)
    part = operand(record, node.kids[0], value, number, False)
    origin = Origin("unary", new, number, (part,), guard_of(record, number))
    record[number] = origin
    register(new, origin)
    return new


def _cmp(record: Record, number: int, left: Any, right: Any, /) -> Any:
    node = NODES[number]
    value = OPERATORS[node.extra](left, right)
    parts = (
        operand(record, node.kids[0], left, number, False),
        operand(record, node.kids[1], right, number, False),
    )
    record[number] = origin = Origin("cmp", value, number, parts, guard_of(record, number))
    if type(value) is not bool:  # an array of them
        register(value, origin)
    return value


def _part(record: Record, number: int, value: Any, /) -> Any:
    record.setdefault(("parts", number), []).append(value)
    return value


def _chain(record: Record, number: int, value: Any, /) -> Any:
    seen = record.pop(("parts", number), [])
    kids = NODES[number].kids[: len(seen)]
    parts = tuple(operand(record, kid, part, number, False) for kid, part in zip(kids, seen, strict=True))
    record[number] = Origin("chain", value, number, parts, guard_of(record, number))
    return value


def _seen(record: Record, number: int, value: Any, /) -> Any:
    record["not", number] = value
    return value


def _not(record: Record, number: int, value: Any, /) -> Any:
    part = operand(record, NODES[number].kids[0], record.pop(("not", number), None), number, False)
    record[number] = Origin("not", value, number, (part,), guard_of(record, number))
    return value


def _operand(record: Record, number: int, value: Any, /) -> Any:
    node = NODES[number]
    part = operand(record, node.kids[0], value, number, False)
    record[number] = Origin("operand", value, number, (part,), guard_of(record, number))
    whole = node.extra
    kids = NODES[whole].kids
    if number == kids[0]:
        record["operands", whole] = []
    record.setdefault(("operands", whole), []).append(record[number])
    return value


def _bool(record: Record, number: int, value: Any, /) -> Any:
    parts = tuple(record.pop(("operands", number), ()))
    record[number] = Origin("bool", value, number, parts, guard_of(record, number))
    return value


def _test(record: Record, number: int, value: Any, /) -> bool:
    _step()
    truth = bool(value)
    part = operand(record, NODES[number].kids[0], value, number, False)
    origin = Origin("test", truth, number, (part,), guard_of(record, number))
    record[number] = origin
    STATE.tests.append(origin)
    branches = NODES[number].extra
    if branches is not None:
        STATE.before.append((origin, {name: owner(record, key).get(key[0]) for name, key in branches.names}))
    return truth


def _if(record: Record, number: int, value: Any, /) -> Any:
    node = NODES[number]
    test = record.get(node.extra)
    kid = node.kids[0 if test is not None and test.value else 1]
    origin = Origin(
        "if", value, number, (operand(record, kid, value, number), test), guard_of(record, number)
    )
    record[number] = origin
    if type(value) is float:
        register(value, origin)
    return value


def _sub(record: Record, number: int, container: Any, key: Any, /) -> Any:
    value = container[key]
    found = STATE.item(container, key, value)
    if found is not None:
        record[number] = found
        return value
    origin = read_item(container, key, value, number)
    if origin is None:
        parts = (
            (held(container, number), frozen(key))
            if is_array(value) and is_array(container)
            else (container, key)
        )
        origin = Origin("sub", value, number, parts, guard_of(record, number))
        if type(value) in NUMBERS:
            STATE.given[id(value)] = value
    record[number] = origin
    if value is not container:
        register(value, origin)
        settle(value)
    return value


def _attr(record: Record, number: int, value: Any, /) -> Any:
    name = NODES[number].extra
    found = getattr(value, name)
    if name in ARRAY_VIEWS and is_array(value) and is_array(found):
        record[number] = view = Origin("view", found, number, (held(value, number), name))
        register(found, view)
        return found
    origin = STATE.slots.get((id(value), name))
    if origin is not None and origin[1].value == found and type(origin[1].value) is type(found):
        record[number] = Origin("use", found, number, (origin[1],), origin[1].guard)
    else:
        record.pop(number, None)
    return found


# -------------------------------------------------------------------------------------- places


def _loop(record: Record, number: int, value: Any, /) -> bool:
    _step()
    iterating.advanced(record, number, value)
    return True


def _caught(record: Record, number: int, /) -> None:
    error = sys.exc_info()[1]
    value: Any = True if NODES[number].kind == "case" else f"{type(error).__name__}: {error}"
    record[number] = Origin("except", value, number, (), guard_of(record, number))


# ------------------------------------------------------------------------------------- recording

_PLAIN: dict[str, Callable[..., Any]] = {
    "enter": _plain_enter, "lam": lambda *values: None, "ret": _plain_value, "k": _plain_constant,
    "f": _plain_value, "a": _plain_argument, "r": _plain_value, "awaited": _plain_value, "call": _plain_call,
    "bin": _plain_bin, "aug": _plain_aug, "unary": _plain_unary, "cmp": _plain_cmp, "part": _plain_value,
    "chain": _plain_value, "seen": _plain_value, "not_": _plain_value, "operand": _plain_value,
    "bool_": _plain_value, "test": _plain_value, "if_": _plain_value, "sub": _plain_sub, "attr": _plain_attr,
    "let": _plain_value, "into": _plain_value, "key": _plain_value, "inc": _plain_value,
    "display": _plain_value, "dict_": _plain_value, "start": _plain_value, "elt": _plain_value,
    "comp": _plain_value, "each": _plain_value, "loop": _plain_true, "caught": lambda *values: None,
}  # fmt: skip

_RECORDING: dict[str, Callable[..., Any]] = {
    "enter": _enter, "lam": _lam, "ret": _ret, "k": _k, "f": _f, "a": _a, "r": _r, "awaited": _awaited,
    "call": _call, "bin": _bin, "aug": _aug, "unary": _unary, "cmp": _cmp, "part": _part, "chain": _chain,
    "seen": _seen, "not_": _not, "operand": _operand, "bool_": _bool, "test": _test, "if_": _if, "sub": _sub,
    "attr": _attr, "let": storing.let, "into": storing.into, "key": storing.key, "inc": storing.inc,
    "display": storing.display, "dict_": storing.dict_, "start": iterating.start, "elt": iterating.elt,
    "comp": iterating.comp, "each": iterating.each, "loop": _loop, "caught": _caught,
}  # fmt: skip

HOOKS.__dict__.update(_PLAIN)
HOOKS.hits = _hits
HOOKS.module_record = _module_record
HOOKS.slice = slice


def _step() -> None:
    STATE.steps += 1
    if STATE.steps > STEPS:
        STATE.gave_up = True
        HOOKS.__dict__.update(_PLAIN)


def _named(name: str, points: Any, of: float | None, span: Any, note: str | None) -> None:
    """A `credit(...)` call: the value it is about to return is that credit."""
    origin = Origin("named", points, 0, (name, of, span, note))
    STATE.returned = origin
    if type(points) not in NUMBERS:
        register(points, origin)


@contextmanager
def recording() -> Iterator[None]:
    """Follow values until the end of the block; what was found stands in `STATE` afterwards."""
    STATE.reset()
    _NOBODY.clear()
    for file in FILES:
        file.hits[:] = [0] * len(file.hits)
    observe(_named)
    collecting, deepest = gc.isenabled(), sys.getrecursionlimit()
    sys.setrecursionlimit(deepest * _DEEPER)
    gc.disable()  # a recording only grows: looking for garbage in it would take most of the time
    HOOKS.__dict__.update(_RECORDING)
    STATE.began = time.perf_counter()
    try:
        yield
    finally:
        HOOKS.__dict__.update(_PLAIN)
        observe(None)
        if sys.getrecursionlimit() == deepest * _DEEPER:
            sys.setrecursionlimit(deepest)
        if collecting:
            gc.enable()
