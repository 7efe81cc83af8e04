"""From where a score came from to the credits that make it up.

A score is split at sums, and only where its parts mean something by themselves: constants given under a
condition, conditions counted as 1 and 0, named credits. A formula over measured numbers (a ratio, a length) is
one credit. Scaling by a fixed factor scales the credits; a limit, or a factor that depends on the completion,
is a credit of its own for what it added or took away. Whatever does not add up is one credit, as it is.
"""

from __future__ import annotations

import ast
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from rewards.tracing.arrays import items_of
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


_split_before: dict[int, list[Part]] = {}
"""The parts of every value met while one score is split; a value may be part of others many times."""


def _site(part: Part) -> Origin:
    return part.called_at if part.called_at is not None else part.site


def parts_of(origin: Origin) -> list[Part]:
    """The parts a value is the sum of; one part for the whole where it cannot be split."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION))  # our own recursion, of at most `_DEEPEST` levels
    try:
        parts = _split(origin, 0)
    finally:
        sys.setrecursionlimit(limit)
        _split_before.clear()
    return merged([part for part in parts if part.points or part.kind != "const" or part.test])


def _split(origin: Origin, depth: int) -> list[Part]:
    """Split a value, and check that the parts add up to it."""
    known = _split_before.get(id(origin))
    if known is not None:
        return known
    if origin.op == "lost":
        STATE.lost = True
    method = _SPLITTERS.get(origin.op)
    if method is None or depth > _DEEPEST or not _finite(origin.value):
        return [_lump(origin)]
    parts = method(origin, depth + 1)
    total = math.fsum(part.points for part in parts)
    if abs(total - float(origin.value)) > _ROUNDING * max(1.0, abs(total)) or len(parts) > _TOO_MANY:
        parts = [_lump(origin)]
    _split_before[id(origin)] = parts
    return parts


def _finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def _value(origin: Any) -> float:
    value = origin.value if isinstance(origin, Origin) else origin
    return float(value) if _finite(value) else math.nan


def _lump(origin: Origin) -> Part:
    value = origin.value
    points = float(value) if _finite(value) else math.nan
    kind = "const" if origin.op in ("const", "load") else "lump"
    return Part(points, kind, origin, origin.guard, _bound(origin), (origin,))


def _bound(origin: Origin) -> float | None:
    """The most a formula can give where the code says so: a constant, or a limit from above."""
    if origin.op == "const":
        return float(origin.value) if origin.guard is not None and origin.value else None
    if origin.op in ("use", "ret", "if") and isinstance(origin.parts[0], Origin):
        return _bound(origin.parts[0])
    if origin.op == "bin":
        return _bound_of_operation(origin)
    if origin.op == "pick" and origin.parts[1] == "min":
        fixed = [float(part.value) for _, part in origin.parts[0] if _is_fixed(part)]
        return min(fixed) if fixed else None
    if origin.op == "pick":
        inner = [
            _bound(part) for _, part in origin.parts[0] if isinstance(part, Origin) and not _is_fixed(part)
        ]
        return inner[0] if len(inner) == 1 else None
    return None


def _bound_of_operation(origin: Origin) -> float | None:
    left, right = origin.parts
    if not (isinstance(left, Origin) and isinstance(right, Origin)):
        return None
    operation = _operation(origin)
    if operation is ast.Sub and _is_fixed(left) and _never_negative(right):
        return float(left.value)
    if operation is ast.Mult:
        for factor, rest in ((left, right), (right, left)):
            bound = _bound(rest) if _is_fixed(factor) and factor.value >= 0 else None
            if bound is not None:
                return float(factor.value) * bound
    if operation is ast.Div and _is_fixed(right) and right.value > 0:
        bound = _bound(left)
        return None if bound is None else bound / float(right.value)
    return None


def _operation(origin: Origin) -> type:
    extra = origin.place.extra
    return extra[0] if isinstance(extra, tuple) else extra  # type: ignore[no-any-return]


def _never_negative(origin: Any) -> bool:
    """True for what cannot be below 0 whatever the completion: absolute values, lengths, their ratios."""
    if not isinstance(origin, Origin):
        return False
    if origin.op in ("use", "ret"):
        return _never_negative(origin.parts[0])
    if origin.op == "call":
        return getattr(origin.parts[0], "__name__", "") in ("abs", "len", "count")
    if origin.op == "bin":
        return _operation(origin) in (ast.Add, ast.Mult, ast.Div) and all(map(_never_negative, origin.parts))
    if origin.op == "pick":
        inside = [_is_setting(part) and part.value >= 0 for _, part in origin.parts[0]]
        return (
            any(inside)
            if origin.parts[1] == "max"
            else all(map(_never_negative, (p for _, p in origin.parts[0])))
        )
    return _is_setting(origin) and _finite(origin.value) and origin.value >= 0


def _is_fixed(origin: Any) -> bool:
    """True for a number that stands in the code."""
    if not isinstance(origin, Origin):
        return False
    if origin.op == "use":
        return _is_fixed(origin.parts[0])
    return origin.op == "const"


def _is_setting(origin: Any) -> bool:
    """True for a number that does not come from the completion: a constant, a parameter, an entry of a table."""
    if not isinstance(origin, Origin):
        return False
    if origin.op in ("use", "ret", "unary"):
        return _is_setting(origin.parts[0])
    if origin.op == "bin":
        return all(_is_setting(part) for part in origin.parts)
    if origin.op == "call":
        return getattr(origin.parts[0], "__name__", "") == "len" and _is_given(origin.parts[1][0])
    if origin.op == "sub":
        return _is_given(origin.parts[0])
    return origin.op in ("const", "load")


def _is_given(container: Any) -> bool:
    """True for a table or list that the code did not make from the completion."""
    if type(container) is str or id(container) in STATE.items:
        return False
    return STATE.identified(container) is None


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
    return part.kind == "const" and part.test is not None and id(part.test) not in set(_chain(at.guard))


# ------------------------------------------------------------------------------------------ by kind


def _on_leaf(origin: Origin, depth: int) -> list[Part]:
    return [_lump(origin)]


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
    parts = _split(inner, depth)
    if len(parts) == 1 and parts[0].kind == "const" and parts[0].name is None:
        known = set(_chain(origin.guard))
        if parts[0].test is None or id(parts[0].test) in known:
            of = parts[0].points if origin.guard is not None else None
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
    parts = _split(inner, depth)
    if len(parts) == 1 and parts[0].kind in ("const", "lump") and test is not None:
        part = parts[0]
        own = part.test if part.test is not None and id(test) in set(_chain(part.test)) else test
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
    if not (isinstance(left, Origin) and isinstance(right, Origin)):
        return [_lump(origin)]
    operation = _operation(origin)
    if _is_addition(origin):
        return _added_up(origin, depth)
    if not (_finite(left.value) and _finite(right.value)):
        return [_lump(origin)]
    if operation is ast.Add or operation is ast.Sub:
        return _sum_of(origin, left, right, -1.0 if operation is ast.Sub else 1.0, depth)
    if operation is ast.Div and right.value:
        return _scaled(origin, left, right, 1.0 / float(right.value), depth)
    if operation is ast.Mult:
        return _product(origin, left, right, depth)
    return [_lump(origin)]


def _is_addition(origin: Any) -> bool:
    """True for a statement that adds to a variable or item, or takes from it."""
    if not isinstance(origin, Origin) or origin.op != "bin" or origin.place.kind not in ("aug", "augslot"):
        return False
    numbers = all(isinstance(part, Origin) and _finite(part.value) for part in origin.parts)
    return numbers and _operation(origin) in (ast.Add, ast.Sub) and _finite(origin.value)


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
        sign = -1.0 if _operation(addition) is ast.Sub else 1.0
        if abs(float(before.value) + sign * float(added.value) - float(addition.value)) > _ROUNDING * max(
            1.0, abs(float(addition.value))
        ):
            parts = [_lump(addition)]
            continue
        more = [part.times(sign) for part in _of_its_own(_term(added, depth), added)]
        if len(more) == 1 and more[0].kind == "lump" and more[0].site.op != "ret":
            site = _at(addition, more[0].site)
            more = [replace(more[0], site=site, test=more[0].test or addition.guard)]
        if len(parts) + len(more) > _TOO_MANY:
            parts = [_lump(addition)]
        else:
            parts += more
    return parts


def _sum_of(origin: Origin, left: Origin, right: Origin, sign: float, depth: int) -> list[Part]:
    first = _term(left, depth)
    second = [part.times(sign) for part in _term(right, depth)]
    # `1.0 - gap / target` is one formula, not a gift of 1 and a penalty
    if not _decided_somewhere([*first, *second], origin) and not (_is_formula(left) and _is_formula(right)):
        return [_lump(origin)]
    literal = _is_fixed(left) or _is_fixed(right)
    if literal and not _structured(second if _is_fixed(left) else first, origin):
        return [_lump(origin)]
    return [*first, *second]


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
    if _operation(inside) is ast.Mult and all(isinstance(part, Origin) for part in inside.parts):
        for base, factor, kid in ((*inside.parts, 0), (*reversed(inside.parts), 1)):
            named = NODES[inside.place.kids[kid]].kind in ("name", "sub", "attribute")
            own = _split(base, depth) if named and _is_setting(factor) else []
            if len(own) == 1 and own[0].kind == "lump" and own[0].site.place.assigned:
                return [own[0].times(float(factor.value))]
    return parts


def _scaled(origin: Origin, base: Origin, factor: Origin, by: float, depth: int) -> list[Part]:
    parts = _split(base, depth)
    if not _structured(parts, origin):
        return [_lump(origin)]
    dividing = _operation(origin) is ast.Div
    statement = origin.place.kind == "aug"
    factors = _split(factor, depth)
    gate = len(factors) == 1 and _decided(factors[0], origin)
    if gate and by == 1.0:
        return parts
    if len(parts) == 1 and parts[0].kind in ("test", "const") and not statement:
        own = parts[0].times(by)
        if gate and factors[0].kind == "const" and not _is_setting(factor):
            return [own]
        return [replace(own, of=own.of if _is_setting(factor) else None, sources=(*own.sources, factor))]
    fixed = dividing or _is_setting(factor)
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
        if not _finite(value):
            return [_lump(origin)]
        if isinstance(item, Origin) and item.op != "load":
            parts += _term(item, depth)
        else:
            unknown.append(float(value))
    if unknown:
        parts.append(Part(math.fsum(unknown), "lump", origin, origin.guard))
    if isinstance(start, Origin):
        parts += _split(start, depth)
    return parts if _structured(parts, origin) else [_lump(origin)]


def _on_mean(origin: Origin, depth: int) -> list[Part]:
    parts = _on_sum(Origin("sum", origin.value, origin.node, origin.parts, origin.guard), depth)
    count = len(origin.parts[0])
    return (
        [part.times(1.0 / count) for part in parts] if count and parts[0].kind != "lump" else [_lump(origin)]
    )


def _on_pick(origin: Origin, depth: int) -> list[Part]:
    options = [part for _, part in origin.parts[0]]
    origins = [part for part in options if isinstance(part, Origin)]
    if len(origins) != len(options) or not all(_finite(part.value) for part in origins):
        return [_lump(origin)]
    inner = [part for part in origins if not _is_fixed(part)]
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
    name = getattr(function, "__name__", "")
    if name in ("sum", "mean") and not arguments:  # of an array
        items = items_of(getattr(function, "__self__", None))
        if items:
            by_name = _on_sum if name == "sum" else _on_mean
            return by_name(Origin(name, origin.value, origin.node, (items, None), origin.guard), depth)
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
        Part(float(origin.value), "named", origin, None, float(of) if _finite(of) else None, (), str(name))
    ]


_SPLITTERS = {
    "const": _on_leaf, "load": _on_leaf, "sub": _on_leaf, "use": _on_use, "ret": _on_ret, "if": _on_if,
    "bin": _on_bin, "unary": _on_unary, "cmp": _on_test, "chain": _on_test, "not": _on_test, "test": _on_test,
    "any": _on_test, "all": _on_test, "bool": _on_bool, "operand": _on_through, "sum": _on_sum,
    "mean": _on_mean, "pick": _on_pick, "call": _on_call, "named": _on_named,
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
