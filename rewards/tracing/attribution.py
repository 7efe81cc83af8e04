"""From where a score came from to the credits that make it up.

A score is split at sums, and only where its parts mean something by themselves: constants given under a
condition, conditions counted as 1 and 0, named credits. A formula over measured numbers (a ratio, a length) is
one credit. Scaling by a fixed factor scales the credits; a limit, or a factor that depends on the completion,
is a credit of its own for what it added or took away. Whatever does not add up is one credit, as it is.
"""

from __future__ import annotations

import ast
import math
import operator
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from rewards.tracing.bounds import (
    bound,
    finite,
    held_by_choice,
    held_in_a_variable,
    is_bound,
    is_fixed,
    is_setting,
    operation_of,
)
from rewards.tracing.elements import items_of, one_answer, product
from rewards.tracing.looking import look
from rewards.tracing.nodes import NODES
from rewards.tracing.provenance import Origin, hard_test
from rewards.tracing.state import STATE

_MOST_PARTS = 24
"""Credits of one line under one condition that are still shown one by one."""

_ROUNDING = 1e-9
_DEEPEST = 400
_TOO_MANY = 20_000
_RECURSION = 10_000


@dataclass(frozen=True)
class Part:
    """One amount: how much, where, under which test, and what it was computed of.

    `kind`: const, test (a condition counted as a number), lump (a formula), change (a limit or factor),
    named. `test`: the origin whose truth decided it. `called_at`: for an amount given in another file, the
    call in the reward's own file that brought it.
    """

    points: float
    kind: str
    site: Origin
    test: Origin | None
    of: float | None = None
    sources: tuple[Any, ...] = ()
    name: str | None = None
    count: int = 1
    called_at: Origin | None = None

    def times(self, factor: float) -> Part:
        """The same part of a scaled score."""
        return replace(
            self, points=self.points * factor, of=self.of * factor if self.of is not None else None
        )

    @property
    def conditional(self) -> bool:
        """True for an amount that hangs on something."""
        return self.kind in ("test", "named", "change") or self.test is not None


_split_before: dict[int, tuple[Origin, list[Part]]] = {}
"""The parts of every value met while one score is split; a value may be part of others many times."""


def _site(part: Part) -> Origin:
    return part.called_at if part.called_at is not None else part.site


def parts_of(origin: Origin) -> list[Part]:
    """The parts a value is the sum of; one part for the whole where it cannot be split."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION))  # our own recursion, of at most `_DEEPEST` levels
    try:
        with one_answer():
            parts = _split(origin, 0)
    finally:
        sys.setrecursionlimit(limit)
        _split_before.clear()
    return merged([part for part in parts if part.points or part.kind != "const" or part.test])


def _split(origin: Origin, depth: int) -> list[Part]:
    """Split a value, and check that the parts add up to it."""
    known = _split_before.get(id(origin))
    if known is not None:
        return known[1]
    if origin.op == "lost":
        STATE.lost = True
    method = _SPLITTERS.get(origin.op)
    if method is None or depth > _DEEPEST or not finite(origin.value):
        return [_lump(origin)]
    parts = method(origin, depth + 1)
    total = math.fsum(part.points for part in parts)
    if abs(total - float(origin.value)) > _ROUNDING * max(1.0, abs(total)) or len(parts) > _TOO_MANY:
        parts = [_lump(origin)]
    _split_before[id(origin)] = (origin, parts)
    return parts


def _value(origin: Any) -> float:
    value = origin.value if isinstance(origin, Origin) else origin
    return float(value) if finite(value) else math.nan


def _lump(origin: Origin) -> Part:
    value = origin.value
    points = float(value) if finite(value) else math.nan
    kind = "const" if origin.op in ("const", "load") else "lump"
    return Part(points, kind, origin, origin.guard, bound(origin), (origin,))


def _chain(test: Origin | None) -> Iterator[int]:
    while test is not None:
        yield id(test)
        test = test.guard


def formula_test(part: Part) -> Origin | None:
    """The test a formula stands under; that something before it did not leave early says nothing about it."""
    return hard_test(part.site) if part.test is not None else None


def _only_sometimes(origin: Origin, parts: list[Part]) -> bool:
    """True where a change is made under a test that its parts were not made under."""
    test = hard_test(origin)
    return test is not None and not all(id(test) in set(_chain(part.test)) for part in parts if part.points)


def _structured(parts: list[Part], at: Origin) -> bool:
    """True where parts are worth telling apart: several, or one that hangs on a test of its own."""
    worth = [part for part in parts if part.points or part.conditional]
    return len(worth) > 1 or any(_decided(part, at) for part in worth)


def _decided(part: Part, at: Origin) -> bool:
    """True for an amount that was decided by another test than the one around the place it is used at."""
    if part.kind in ("test", "named", "change"):
        return True
    given = part.kind == "const" or (
        part.kind == "lump" and is_setting(part.site)
    )  # a number, or a table's entry
    return given and _tested(part, at)


def _tested(part: Part, at: Origin) -> bool:
    """True for an amount under another test than the place it is used at."""
    return part.test is not None and id(part.test) not in set(_chain(at.guard))


# ------------------------------------------------------------------------------------------ by kind


def _on_leaf(origin: Origin, depth: int) -> list[Part]:
    held = held_in_a_variable(origin)
    return _limited(origin, held, depth) if held is not None else [_lump(origin)]


def _on_test(origin: Origin, depth: int) -> list[Part]:
    if type(origin.value) is not bool:
        return [_lump(origin)]
    return [Part(float(origin.value), "test", origin, origin, 1.0, (origin,))]


def _on_through(origin: Origin, depth: int) -> list[Part]:
    inner = origin.parts[0]
    return _split(inner, depth) if isinstance(inner, Origin) else [_lump(origin)]


def _on_use(origin: Origin, depth: int) -> list[Part]:
    """A number used under another test than the one it was made under: where it is used decides."""
    inner = origin.parts[0]
    held = held_in_a_variable(origin)
    if held is not None and (limited := _limited(origin, held, depth))[0].site is not origin:
        return limited
    parts = _split(inner, depth)
    put = origin.guard is not None and origin.guard.op == "let"
    if (
        len(parts) == 1
        and parts[0].kind in (("const", "lump") if put else ("const",))
        and parts[0].name is None
    ):
        known = set(_chain(origin.guard))
        if parts[0].test is None or id(parts[0].test) in known:
            of = parts[0].points if origin.guard is not None else None
            of = of if parts[0].kind == "const" else parts[0].of
            return [replace(parts[0], site=origin, test=origin.guard, of=of)]
    return parts


def _on_ret(origin: Origin, depth: int) -> list[Part]:
    """What a function returned; a number it returned in any case is given by the call."""
    parts = _on_through(origin, depth)
    if len(parts) == 1 and parts[0].kind in ("const", "lump") and parts[0].test is None and origin.guard:
        parts = [replace(parts[0], test=origin.guard)]
    elif len(parts) == 1 and parts[0].kind == "named" and parts[0].called_at is None:
        parts = [replace(parts[0], test=hard_test(origin))]
    here = origin.place.file
    return [part if _site(part).place.file is here else replace(part, called_at=origin) for part in parts]


def _on_if(origin: Origin, depth: int) -> list[Part]:
    inner, test = origin.parts
    if not isinstance(inner, Origin):
        return [_lump(origin)]
    held = held_by_choice(origin)
    if held is not None and (limited := _limited(origin, held, depth))[0].site is not origin:
        return limited
    parts = _split(inner, depth)
    if len(parts) == 1 and parts[0].kind in ("const", "lump") and test is not None:
        part = parts[0]
        before = part.test is not None and (id(test) in set(_chain(part.test)) or _decided(part, origin))
        own = part.test if before else test
        fixed = [NODES[kid].extra for kid in origin.place.kids if NODES[kid].kind == "const"]
        known = part.kind == "const" and len(fixed) == 2
        return [replace(part, test=own, of=_most(fixed) if known else part.of)]
    return parts


def _most(values: list[Any]) -> float | None:
    """The most one of several constants gives; the largest penalty where none gives anything."""
    if not any(values):
        return None
    top = max(values)
    return float(top if top > 0 else min(values))


def _on_bool(origin: Origin, depth: int) -> list[Part]:
    if type(origin.value) is bool:
        return [Part(float(origin.value), "test", origin, origin, 1.0, (origin,))]
    last = origin.parts[-1].parts[0] if origin.parts else None
    return _split(last, depth) if isinstance(last, Origin) else [_lump(origin)]


def _on_bin(origin: Origin, depth: int) -> list[Part]:
    left, right = origin.parts
    operation = operation_of(origin)
    if operation is ast.MatMult:
        return _of_product(origin, depth)
    if not (isinstance(left, Origin) and isinstance(right, Origin)):
        return [_lump(origin)]
    if _is_addition(origin):
        return _added_up(origin, depth)
    if not (finite(left.value) and finite(right.value)):
        return [_lump(origin)]
    if operation is ast.Add or operation is ast.Sub:
        return _sum_of(origin, left, right, -1.0 if operation is ast.Sub else 1.0, depth)
    if operation is ast.Div and right.value:
        return _scaled(origin, left, right, 1.0 / float(right.value), depth)
    if operation is ast.Mult:
        return _product(origin, left, right, depth)
    return [_lump(origin)]


def _of_product(origin: Origin, depth: int) -> list[Part]:
    """`weights @ features`, as the sum that it is."""
    added = product(origin)
    return _split(added, depth) if added is not None else [_lump(origin)]


def _on_times(origin: Origin, depth: int) -> list[Part]:
    """One feature times its weight; what is measured stands where it was measured."""
    left, right = origin.parts
    parts = _product(origin, left, right, depth)
    if len(parts) == 1 and parts[0].site is origin:
        for base, factor in ((left, right), (right, left)):
            own = _split(base, depth)
            if base.op != "load" and len(own) == 1 and own[0].kind == "lump":
                return [own[0].times(_value(factor))]
    return parts


def _is_addition(origin: Any) -> bool:
    """True for a statement that adds to a variable or item, or takes from it."""
    if not isinstance(origin, Origin) or origin.op != "bin" or origin.place.kind not in ("aug", "augslot"):
        return False
    numbers = all(isinstance(part, Origin) and finite(part.value) for part in origin.parts)
    return numbers and operation_of(origin) in (ast.Add, ast.Sub) and finite(origin.value)


def _added_up(origin: Origin, depth: int) -> list[Part]:
    """The parts of a variable that statement after statement added to; a loop, because there may be thousands."""
    additions: list[Origin] = []
    start: Origin = origin
    while _is_addition(start):
        additions.append(start)
        start = start.parts[0]
        if start.op == "use" and _is_addition(start.parts[0]):
            start = start.parts[0]
    parts = list(_split(start, depth))
    for addition in reversed(additions):
        before, added = addition.parts
        sign = -1.0 if operation_of(addition) is ast.Sub else 1.0
        if abs(float(before.value) + sign * float(added.value) - float(addition.value)) > _ROUNDING * max(
            1.0, abs(float(addition.value))
        ):
            parts = [_lump(addition)]
            continue
        more = [part.times(sign) for part in _of_its_own(_term(added, depth), added)]
        if sign < 0 and _statistic(added, parts, more):
            more = [_taken(added)]
        if len(more) == 1 and more[0].kind == "lump" and more[0].site.op != "ret":
            site = _at(addition, more[0].site)
            more = [replace(more[0], site=site, test=more[0].test or addition.guard)]
        if len(parts) + len(more) > _TOO_MANY:
            parts = [_lump(addition)]
        else:
            parts += more
    return parts


def _sum_of(origin: Origin, left: Origin, right: Origin, sign: float, depth: int) -> list[Part]:
    for nothing, other, by in ((left, right, sign), (right, left, 1.0)):
        if nothing.op in ("const", "load") and nothing.value == 0:  # the start of a sum
            parts = [part.times(by) for part in _split(other, depth)]
            return parts if any(_tested(part, origin) for part in parts) else [_lump(origin)]
    first = _term(left, depth)
    second = [part.times(sign) for part in _term(right, depth)]
    if sign < 0 and _statistic(right, first, second):
        return [*first, _taken(right)]
    # `1.0 - gap / target` is one formula, not a gift of 1 and a penalty
    if not _decided_somewhere([*first, *second], origin) and not (_is_formula(left) and _is_formula(right)):
        return [_lump(origin)]
    literal = is_fixed(left, origin) or is_fixed(right, origin)
    if literal and not _structured(second if is_fixed(left, origin) else first, origin):
        return [_lump(origin)]
    return [*first, *second]


def _statistic(origin: Origin, parts: list[Part], taken: list[Part]) -> bool:
    """True where what is taken off a score was made of that score and of others: the mean of its group."""
    tests = {id(part.test) for part in parts if part.test is not None}
    return len(taken) > 1 and any(id(part.test) in tests for part in taken) and _gathers(origin)


def _gathers(origin: Any) -> bool:
    """True for a sum or mean, and for what is computed of one."""
    if not isinstance(origin, Origin):
        return False
    if origin.op == "call":
        return look(origin.parts[0], "__name__", "") in ("sum", "mean", "median", "fmean")
    through = origin.op in ("bin", "use", "ret", "unary", "if")
    return origin.op in ("sum", "mean") or (through and any(map(_gathers, origin.parts)))


def _taken(origin: Origin) -> Part:
    """What a group's mean takes off, as one credit: the others' credits are not this row's."""
    return Part(-_value(origin), "change", origin, None, None, ())


def _of_its_own(parts: list[Part], origin: Origin) -> list[Part]:
    """A number added in passing is not decided by a test that did not leave early somewhere before it."""
    if len(parts) != 1 or parts[0].kind != "const" or parts[0].site is not origin or parts[0].test is None:
        return parts
    test = hard_test(origin)
    return [replace(parts[0], test=test, of=parts[0].of if test is not None else None)]


def _decided_somewhere(parts: list[Part], at: Origin) -> bool:
    return any(_decided(part, at) for part in parts)


def _is_formula(origin: Origin) -> bool:
    """True for a computed share or ratio, as opposed to a count, a parameter or a constant."""
    if origin.op in ("use", "ret", "if"):
        return isinstance(origin.parts[0], Origin) and _is_formula(origin.parts[0])
    return type(origin.value) is not int and origin.op not in ("const", "load")


def _at(origin: Origin, site: Origin) -> Origin:
    """A lump added by a statement stands at that statement, unless a function of its own made it."""
    return origin if site.place.function == origin.place.function and site.op != "named" else site


def _product(origin: Origin, left: Origin, right: Origin, depth: int) -> list[Part]:
    first, second = _split(left, depth), _split(right, depth)
    if _structured(first, origin) and not (_structured(second, origin) and len(second) > len(first)):
        return _scaled(origin, left, right, float(right.value), depth)
    if _structured(second, origin):
        return _scaled(origin, right, left, float(left.value), depth)
    return [_lump(origin)]


def _term(origin: Origin, depth: int) -> list[Part]:
    """The parts of a term of a sum.

    A weight times a formula that has a variable of its own, like `brief` in `0.5 * correct + 0.1 * brief`,
    stands where the formula stands, as the other terms do.
    """
    parts = _split(origin, depth)
    inside = origin.parts[0] if origin.op in ("use", "ret") and origin.parts else origin
    if len(parts) != 1 or parts[0].kind != "lump" or not isinstance(inside, Origin) or inside.op != "bin":
        return parts
    if operation_of(inside) is ast.Mult and all(isinstance(part, Origin) for part in inside.parts):
        for base, factor, kid in ((*inside.parts, 0), (*reversed(inside.parts), 1)):
            named = NODES[inside.place.kids[kid]].kind in ("name", "sub", "attribute")
            own = _split(base, depth) if named and is_setting(factor) else []
            if len(own) == 1 and own[0].kind == "lump" and own[0].site.place.assigned:
                return [own[0].times(float(factor.value))]
    return parts


def _scaled(origin: Origin, base: Origin, factor: Origin, by: float, depth: int) -> list[Part]:
    parts = _split(base, depth)
    if not _structured(parts, origin):
        return [_lump(origin)]
    dividing = operation_of(origin) is ast.Div
    statement = origin.place.kind in ("aug", "augslot")
    factors = _split(factor, depth)
    gate = len(factors) == 1 and _decided(factors[0], origin)
    if gate and by == 1.0:
        return parts
    if len(parts) == 1 and parts[0].kind in ("test", "const") and not statement:
        own = parts[0].times(by)
        if gate and factors[0].kind == "const" and not is_setting(factor):
            return [own]
        return [replace(own, of=own.of if is_setting(factor) else None, sources=(*own.sources, factor))]
    fixed = dividing or is_setting(factor)
    if fixed and not gate and not (statement and _only_sometimes(origin, parts)):
        return [part.times(by) for part in parts]
    test = factors[0].test if gate else (hard_test(origin) or origin.guard)
    change = float(origin.value) - _value(base)
    return [*parts, Part(change, "change", origin, test, None, (factor,))]


def _on_unary(origin: Origin, depth: int) -> list[Part]:
    inner = origin.parts[0]
    if not isinstance(inner, Origin) or not isinstance(origin.place.extra, ast.USub):
        return _on_through(origin, depth)
    return [part.times(-1.0) for part in _split(inner, depth)]


def _on_sum(origin: Origin, depth: int) -> list[Part]:
    seen, start = origin.parts
    parts: list[Part] = []
    unknown: list[float] = []
    for value, item in seen:
        if not finite(value):
            return [_lump(origin)]
        if isinstance(item, Origin) and (item.op != "load" or _let_in(item, origin)):
            parts += _term(item, depth)
        else:
            unknown.append(float(value))
    if unknown:
        parts.append(Part(math.fsum(unknown), "lump", origin, origin.guard))
    if isinstance(start, Origin):
        parts += _split(start, depth)
    return parts if _structured(parts, origin) else [_lump(origin)]


def _let_in(item: Origin, at: Origin) -> bool:
    """True for a number that a test of its own let into a sum."""
    return item.guard is not None and id(item.guard) not in set(_chain(at.guard))


def _on_mean(origin: Origin, depth: int) -> list[Part]:
    parts = _on_sum(Origin("sum", origin.value, origin.node, origin.parts, origin.guard), depth)
    count = len(origin.parts[0])
    return (
        [part.times(1.0 / count) for part in parts] if count and parts[0].kind != "lump" else [_lump(origin)]
    )


def _on_pick(origin: Origin, depth: int) -> list[Part]:
    options = [part for _, part in origin.parts[0]]
    origins = [part for part in options if isinstance(part, Origin)]
    if len(origins) != len(options) or not all(finite(part.value) for part in origins):
        return [_lump(origin)]
    highest = origin.parts[1] == "min"
    inner = [part for part in origins if part.op != "const" and not is_bound(part, highest=highest)]
    chosen = next((part for part in origins if part.value == origin.value), None)
    if len(inner) == 1:
        return _limited(origin, inner[0], depth)
    return _split(chosen, depth) if chosen is not None else [_lump(origin)]


def _limited(origin: Origin, inner: Origin, depth: int) -> list[Part]:
    """A limit: the parts of what is limited, and what the limit added or took."""
    parts = _split(inner, depth)
    structured = _structured(parts, origin)
    # limits within limits still belong to one formula
    if not structured or all(part.kind == "change" for part in parts):
        return [_lump(origin)]
    change = float(origin.value) - _value(inner)
    if abs(change) <= _ROUNDING:
        return parts
    return [*parts, Part(change, "change", origin, hard_test(origin), None, ())]


def _on_call(origin: Origin, depth: int) -> list[Part]:
    function, arguments, _ = origin.parts
    name = look(function, "__name__", "")
    if name in ("sum", "mean") and not arguments:  # of an array
        items = items_of(look(function, "__self__", None))
        if items:
            by_name = _on_sum if name == "sum" else _on_mean
            return by_name(Origin(name, origin.value, origin.node, (items, None), origin.guard), depth)
    if name == "reduce" and arguments[0] is operator.add and type(arguments[1]) in (list, tuple):
        start = arguments[2] if len(arguments) > 2 else None
        seen = STATE.seen(arguments[1])
        return _on_sum(Origin("sum", origin.value, origin.node, (seen, start), origin.guard), depth)
    inner = arguments[0] if arguments and isinstance(arguments[0], Origin) else None
    if inner is not None and name in ("float", "int", "float64", "float32", "abs", "Decimal", "Fraction"):
        parts = _split(inner, depth)
        if inner.value == origin.value and (name != "abs" or _decided_somewhere(parts, origin)):
            return parts
    if inner is not None and name == "bool":
        return [Part(float(origin.value), "test", inner, inner, 1.0, (inner,))]
    if inner is not None and name == "round":
        return _rounded(origin, inner, depth)
    if name in ("clip", "clamp") and inner is not None:
        return _limited(origin, inner, depth)
    if name in ("dot", "matmul", "inner", "vdot"):
        return _of_product(origin, depth)
    if type(origin.value) is bool:
        return [Part(float(origin.value), "test", origin, origin, 1.0, (origin,))]
    return [_lump(origin)]


def _rounded(origin: Origin, inner: Origin, depth: int) -> list[Part]:
    parts = _split(inner, depth)
    if not _structured(parts, origin):
        return [_lump(origin)]
    change = float(origin.value) - _value(inner)
    return parts if abs(change) <= _ROUNDING else [*parts, Part(change, "change", origin, None, None, ())]


def _on_named(origin: Origin, depth: int) -> list[Part]:
    name, of, _, _ = origin.parts
    return [
        Part(float(origin.value), "named", origin, None, float(of) if finite(of) else None, (), str(name))
    ]


_SPLITTERS = {
    "const": _on_leaf, "load": _on_leaf, "sub": _on_leaf, "use": _on_use, "ret": _on_ret, "if": _on_if,
    "bin": _on_bin, "unary": _on_unary, "cmp": _on_test, "chain": _on_test, "not": _on_test, "test": _on_test,
    "any": _on_test, "all": _on_test, "bool": _on_bool, "operand": _on_through, "sum": _on_sum,
    "mean": _on_mean, "times": _on_times, "pick": _on_pick, "call": _on_call, "named": _on_named,
}  # fmt: skip


def merged(parts: list[Part]) -> list[Part]:
    """Many small parts of one line under one condition as one."""
    groups: dict[tuple[int, int], list[Part]] = {}
    for part in parts:
        key = (part.site.node, part.test.node if part.test is not None else 0)
        groups.setdefault(key, []).append(part)
    out: list[Part] = []
    for part in parts:
        key = (part.site.node, part.test.node if part.test is not None else 0)
        group = groups[key]
        if len(group) <= _MOST_PARTS or part.kind == "named":
            out.append(part)
        elif group[0] is part:
            paid = [one for one in group if one.points]
            known = [one.of for one in group if one.of is not None]
            out.append(
                replace(
                    (paid or group)[0],
                    points=math.fsum(one.points for one in group),
                    of=math.fsum(known) if len(known) == len(group) else None,
                    sources=tuple(one.test for one in paid[:_MOST_PARTS] if one.test is not None),
                    count=len(group),
                )
            )
    return out
