"""What the code alone says of a number: the most it can be, and whether a completion decides it."""

from __future__ import annotations

import ast
import math
from typing import Any

from rewards.tracing.looking import look
from rewards.tracing.nodes import NODES, Node
from rewards.tracing.provenance import Origin
from rewards.tracing.state import STATE


def finite(value: Any) -> bool:
    """True for a number that is neither infinite nor undefined."""
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return False


def bound(origin: Origin) -> float | None:
    """The most a formula can give where the code says so: a constant, or a limit from above."""
    if origin.op == "const":
        return float(origin.value) if origin.guard is not None and origin.value else None
    if origin.op in ("use", "ret", "if") and isinstance(origin.parts[0], Origin):
        return bound(origin.parts[0])
    if origin.op == "bin":
        return _bound_of_operation(origin)
    if origin.op == "pick" and origin.parts[1] == "min":
        fixed = [float(part.value) for _, part in origin.parts[0] if is_limit(part)]
        return min(fixed) if fixed else None
    if origin.op == "pick":
        inner = [
            bound(part) for _, part in origin.parts[0] if isinstance(part, Origin) and not is_limit(part)
        ]
        return inner[0] if len(inner) == 1 else None
    return None


def _bound_of_operation(origin: Origin) -> float | None:
    left, right = origin.parts
    if not (isinstance(left, Origin) and isinstance(right, Origin)):
        return None
    operation = operation_of(origin)
    if operation is ast.Sub and is_fixed(left, origin) and _never_negative(right):
        return float(left.value)
    if operation is ast.Mult:
        for factor, rest in ((left, right), (right, left)):
            most = bound(rest) if is_fixed(factor, origin) and factor.value >= 0 else None
            if most is not None:
                return float(factor.value) * most
    if operation is ast.Div and is_fixed(right, origin) and right.value > 0:
        most = bound(left)
        return None if most is None else most / float(right.value)
    return None


def operation_of(origin: Origin) -> type:
    """The operator of an operation or of a statement that adds."""
    extra = origin.place.extra
    return extra[0] if isinstance(extra, tuple) else extra  # type: ignore[no-any-return]


def _never_negative(origin: Any) -> bool:
    """True for what cannot be below 0 whatever the completion: absolute values, lengths, their ratios."""
    if not isinstance(origin, Origin):
        return False
    if origin.op in ("use", "ret"):
        return _never_negative(origin.parts[0])
    if origin.op == "call":
        return look(origin.parts[0], "__name__", "") in ("abs", "len", "count")
    if origin.op == "bin":
        return operation_of(origin) in (ast.Add, ast.Mult, ast.Div) and all(
            map(_never_negative, origin.parts)
        )
    if origin.op == "pick":
        inside = [is_setting(part) and part.value >= 0 for _, part in origin.parts[0]]
        return (
            any(inside)
            if origin.parts[1] == "max"
            else all(map(_never_negative, (p for _, p in origin.parts[0])))
        )
    return is_setting(origin) and finite(origin.value) and origin.value >= 0


def is_fixed(origin: Any, at: Origin | None = None) -> bool:
    """True for a number that stands in the code, and that no test chose before it is used (`at`)."""
    if not isinstance(origin, Origin) or chosen_before(origin, at):
        return False
    if origin.op == "use":
        return is_fixed(origin.parts[0])
    return origin.op == "const"


def is_limit(origin: Any, at: Origin | None = None) -> bool:
    """True for a setting that no test chose before it is used (`at`), against which a number may be held."""
    if not isinstance(origin, Origin) or chosen_before(origin, at):
        return False
    if origin.op in ("use", "ret", "unary", "bin"):
        return all(is_limit(part, origin) for part in origin.parts)
    return is_setting(origin)


def is_bound(origin: Origin, *, highest: bool) -> bool:
    """True for a setting that bounds what it is held against: a positive most, or a least that pays nothing.

    `max(best, points)` with points of a table is a choice among payments.
    """
    return (is_limit(origin) or is_amount(origin)) and (origin.value > 0 if highest else origin.value <= 0)


def chosen_before(origin: Origin, at: Origin | None = None) -> bool:
    """True for a number used elsewhere than under the test it was set or changed under: the test chose it."""
    inner, user = (origin.parts[0], origin) if origin.op == "use" else (origin, at)
    if (
        user is None
        or not isinstance(inner, Origin)
        or inner.op not in ("const", "bin")
        or inner.guard is None
    ):
        return False
    here = user.guard
    while here is not None and here is not inner.guard:
        here = here.guard
    return here is None


def is_setting(origin: Any) -> bool:
    """True for a number that does not come from the completion: a constant, a parameter, an entry of a table."""
    if not isinstance(origin, Origin):
        return False
    if origin.op in ("use", "ret", "unary"):
        return is_setting(origin.parts[0])
    if origin.op == "bin":
        return all(is_setting(part) for part in origin.parts)
    if origin.op == "call":
        return look(origin.parts[0], "__name__", "") == "len" and _is_given(origin.parts[1][0])
    if origin.op == "sub":
        return _is_given(origin.parts[0])
    return origin.op in ("const", "load")


def _is_given(container: Any) -> bool:
    """True for a table or list that the code did not make from the completion."""
    if type(container) is str or id(container) in STATE.items:
        return False
    made = STATE.identified(container)
    return made is None or made.op == "load"


_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _held(origin: Origin, test: Origin | None) -> tuple[Origin, Node] | None:
    """What a limit took the place of: the other side of the test that set it, and its place in the test."""
    compared = test.parts[0] if test is not None and test.op == "test" and test.parts else None
    if not isinstance(compared, Origin) or compared.op != "cmp" or compared.place.extra not in _ORDERS:
        return None
    for at, (inner, limit) in enumerate((compared.parts, compared.parts[::-1])):
        if not isinstance(inner, Origin) or is_limit(inner, compared) or is_amount(inner):
            continue
        if is_limit(limit, compared) and limit.value == origin.value and finite(inner.value):
            return inner, NODES[compared.place.kids[at]]
    return None


def held_in_a_variable(origin: Origin) -> Origin | None:
    """The score before `if score > most: score = most`."""
    found = _held(origin, origin.guard) if origin.place.assigned else None
    if found is None or found[1].kind != "name" or found[1].extra is None:
        return None
    return found[0] if found[1].extra[0] == origin.place.assigned else None


def held_by_choice(origin: Origin) -> Origin | None:
    """The score before `score if score < most else most`."""
    inner, test = origin.parts
    found = _held(origin, test) if is_limit(inner) else None
    other = NODES[origin.place.kids[1 if test is not None and test.value else 0]]
    if found is None or found[1].kind != "name" or other.kind != "name":
        return None
    return found[0] if found[1].extra == other.extra else None


def is_amount(origin: Origin) -> bool:
    """True for a number of the code, whatever chose it: among others it is one of several, not what is limited."""
    inner = origin.parts[0] if origin.op == "use" else origin
    return isinstance(inner, Origin) and inner.op == "const"
