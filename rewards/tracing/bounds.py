"""What the code alone says of a number: the most it can be, and whether a completion decides it."""

from __future__ import annotations

import ast
import math
from typing import Any

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
        fixed = [float(part.value) for _, part in origin.parts[0] if is_fixed(part)]
        return min(fixed) if fixed else None
    if origin.op == "pick":
        inner = [
            bound(part) for _, part in origin.parts[0] if isinstance(part, Origin) and not is_fixed(part)
        ]
        return inner[0] if len(inner) == 1 else None
    return None


def _bound_of_operation(origin: Origin) -> float | None:
    left, right = origin.parts
    if not (isinstance(left, Origin) and isinstance(right, Origin)):
        return None
    operation = operation_of(origin)
    if operation is ast.Sub and is_fixed(left) and _never_negative(right):
        return float(left.value)
    if operation is ast.Mult:
        for factor, rest in ((left, right), (right, left)):
            most = bound(rest) if is_fixed(factor) and factor.value >= 0 else None
            if most is not None:
                return float(factor.value) * most
    if operation is ast.Div and is_fixed(right) and right.value > 0:
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
        return getattr(origin.parts[0], "__name__", "") in ("abs", "len", "count")
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


def is_fixed(origin: Any) -> bool:
    """True for a number that stands in the code."""
    if not isinstance(origin, Origin):
        return False
    if origin.op == "use":
        return is_fixed(origin.parts[0])
    return origin.op == "const"


def is_setting(origin: Any) -> bool:
    """True for a number that does not come from the completion: a constant, a parameter, an entry of a table."""
    if not isinstance(origin, Origin):
        return False
    if origin.op in ("use", "ret", "unary"):
        return is_setting(origin.parts[0])
    if origin.op == "bin":
        return all(is_setting(part) for part in origin.parts)
    if origin.op == "call":
        return getattr(origin.parts[0], "__name__", "") == "len" and _is_given(origin.parts[1][0])
    if origin.op == "sub":
        return _is_given(origin.parts[0])
    return origin.op in ("const", "load")


def _is_given(container: Any) -> bool:
    """True for a table or list that the code did not make from the completion."""
    if type(container) is str or id(container) in STATE.items:
        return False
    made = STATE.identified(container)
    return made is None or made.op == "load"
