"""Amounts as the code writes them: which numbers a block of statements gives to what, without running it."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rewards.tracing.scopes import own_nodes

_OPERATIONS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}

_MOST_WAYS = 16

_READING = frozenset(["get", "items", "keys", "values", "copy"])
"""Methods of a table that leave it as it is."""


def leaves(body: Sequence[ast.stmt]) -> bool:
    """True where a block never runs into what stands behind it."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return leaves(last.body) and leaves(last.orelse)
    if isinstance(last, (ast.With, ast.AsyncWith)):
        return leaves(last.body)
    return isinstance(last, (ast.Return, ast.Raise, ast.Continue, ast.Break))


def settings_of(tree: ast.Module) -> dict[str, Any]:
    """The numbers and tables of numbers that a file assigns exactly once, at its own level, by name."""
    found: dict[str, Any] = {}
    stored = [
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    ]
    for statement in tree.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(statement, ast.AnnAssign):
            target = statement.target
        if isinstance(target, ast.Name) and stored.count(target.id) == 1:
            value = _literal(statement.value)  # type: ignore[attr-defined]
            if value is not None:
                found[target.id] = value
    changed: set[str] = set()
    for node in ast.walk(tree):
        stored_into = isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)
        called = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr not in _READING
        )
        within = node.value if stored_into else node.func.value if called else None  # type: ignore[attr-defined]
        if isinstance(within, ast.Name):
            changed.add(within.id)
    return {name: value for name, value in found.items() if name not in changed}


def _literal(tree: ast.expr | None) -> Any:
    if isinstance(tree, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in tree.keys]
        values = [_literal(value) for value in tree.values]
        return None if None in keys or None in values else dict(zip(keys, values, strict=True))
    ways = ways_of(tree, {}) if tree is not None else []
    return ways[0] if len(ways) == 1 else None


def amount_names(statements: Sequence[ast.stmt]) -> set[str]:
    """The variables that blocks assign to, and those that stand in what they assign, append or return."""
    found: set[str] = set()
    for node in own_nodes(statements):
        if isinstance(node, ast.AugAssign):
            found |= _names(node.target) | _names(node.value)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                found |= _names(target)
            found |= _names(node.value)
        elif appended(node) is not None:
            found |= _names(appended(node))
        elif isinstance(node, ast.Return) and node.value is not None:
            found |= _names(node.value)
    return found


def _names(tree: Any) -> set[str]:
    """The names an amount is written with; none of a long formula, which is no amount that is known beforehand."""
    nodes = list(ast.walk(tree))
    return {node.id for node in nodes if isinstance(node, ast.Name)} if len(nodes) < 24 else set()


def appended(node: Any) -> ast.expr | None:
    """What a statement appends to a list."""
    call = node.value if isinstance(node, ast.Expr) else None
    if (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "append"
        and len(call.args) == 1
        and not call.keywords
    ):
        return call.args[0]
    return None


def choices_of(
    tree: ast.expr, known: Mapping[str, Any]
) -> list[tuple[float, tuple[tuple[ast.expr, bool], ...]]]:
    """The numbers that an amount may be, each with its own tests and whether these have to hold for it."""
    if not isinstance(tree, ast.IfExp):
        return [(value, ()) for value in ways_of(tree, known)]
    both = [choices_of(tree.body, known), choices_of(tree.orelse, known)]
    if not all(both):
        return []
    return [
        (value, ((tree.test, holds), *tests))
        for choices, holds in zip(both, (True, False), strict=True)
        for value, tests in choices
    ]


def ways_of(tree: ast.expr, known: Mapping[str, Any]) -> list[float]:
    """The numbers that an amount may be, one for each way its own `if`s may go; none where one is not known.

    Args:
        tree: the amount.
        known: numbers and tables by name.
    """
    if isinstance(tree, ast.Constant):
        return _number(tree.value)
    if isinstance(tree, ast.Name):
        return _number(known.get(tree.id))
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, (ast.USub, ast.UAdd)):
        sign = -1.0 if isinstance(tree.op, ast.USub) else 1.0
        return [sign * value for value in ways_of(tree.operand, known)]
    if isinstance(tree, ast.IfExp):
        both = [ways_of(tree.body, known), ways_of(tree.orelse, known)]
        return [*both[0], *both[1]][:_MOST_WAYS] if all(both) else []
    if (
        isinstance(tree, ast.Subscript)
        and isinstance(tree.value, ast.Name)
        and isinstance(tree.slice, ast.Constant)
    ):
        table = known.get(tree.value.id)
        return _number(table.get(tree.slice.value)) if isinstance(table, dict) else []
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "float":
        return ways_of(tree.args[0], known) if len(tree.args) == 1 and not tree.keywords else []
    if isinstance(tree, ast.BinOp):
        return _of_operation(tree, known)
    return []


def _number(value: Any) -> list[float]:
    return [float(value)] if type(value) in (int, float) and math.isfinite(value) else []


def _of_operation(tree: ast.BinOp, known: Mapping[str, Any]) -> list[float]:
    operation = _OPERATIONS.get(type(tree.op))
    left, right = ways_of(tree.left, known), ways_of(tree.right, known)
    if operation is None or (operation is operator.truediv and 0.0 in right):
        return []
    return [operation(one, other) for one in left for other in right][:_MOST_WAYS]
