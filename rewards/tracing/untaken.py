"""Blocks that did not run, read as text: what they would have given to variables, items and lists.

Amounts are constants and settings; whatever else a block stores is noted as not known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rewards.tracing.amounts import appended, choices_of
from rewards.tracing.scopes import own_nodes

_MOST_WAYS = 48

APPENDED = "append to "
"""What the key of a list begins with; those of variables, items and attributes are as they are written."""


@dataclass
class Way:
    """One way through a block that did not run: what it does to variables, and under which further tests."""

    known: dict[str, Any]
    values: dict[str, float | None] = field(default_factory=dict)
    added: dict[str, bool] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    tests: tuple[tuple[ast.expr, bool], ...] = ()
    left: bool = False
    returned: ast.expr | None = None

    def copy(self) -> Way:
        """The same so far."""
        return replace(
            self,
            known=dict(self.known),
            values=dict(self.values),
            added=dict(self.added),
            lines=dict(self.lines),
        )

    def give(self, key: str, value: float | None, line: int, added: bool) -> None:
        """A variable gets a value; None where it is not known."""
        self.values[key] = value
        self.added[key] = added and self.added.get(key, True)
        self.lines.setdefault(key, line)
        self.known.pop(key, None)
        if value is not None:
            self.known[key] = value


def ways_through(block: Sequence[ast.stmt], ways: list[Way]) -> list[Way]:
    """Every way through a block, from the ways that lead to it."""
    for statement in block:
        going = [way for way in ways if not way.left]
        done = [way for way in ways if way.left]
        made: list[Way] = []
        for way in going:
            made += _step(statement, way)
        ways = (made + done)[:_MOST_WAYS]
    return ways


def _step(statement: ast.stmt, way: Way) -> list[Way]:
    """The ways on through one statement."""
    if isinstance(statement, ast.If):
        return _through_if(statement, way)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return ways_through(statement.body, [way])
    if isinstance(statement, ast.Try):
        return ways_through([*statement.body, *statement.orelse, *statement.finalbody], [way])
    if isinstance(statement, (ast.Continue, ast.Break, ast.Raise, ast.Return)):
        made = way.copy()
        made.left = not (isinstance(statement, ast.Return) and isinstance(statement.value, ast.Name))
        made.returned = statement.value if isinstance(statement, ast.Return) else None
        if isinstance(statement, ast.Return) and made.left:
            return []
        return [made] if not isinstance(statement, ast.Raise) else []
    return _given(statement, way)


def _through_if(statement: ast.If, way: Way) -> list[Way]:
    """Past an `if` in a block that did not run: each of its branches, or none."""
    around = way.copy()
    if not statement.orelse:
        past = [around]
    else:
        around.tests = (*way.tests, (statement.test, False))
        past = ways_through(statement.orelse, [around])
    inside = way.copy()
    inside.tests = (*way.tests, (statement.test, True))
    return [*past, *ways_through(statement.body, [inside])][:_MOST_WAYS]


def _given(statement: ast.stmt, way: Way) -> list[Way]:
    """A statement that gives a variable, an item or a list an amount; anything else makes what it stores unknown."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, (ast.Add, ast.Sub)):
        sign = -1.0 if isinstance(statement.op, ast.Sub) else 1.0
        return _adding(statement.target, statement.value, sign, statement.lineno, way)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
        again = isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub))
        if again and ast.unparse(value.left) == ast.unparse(target):  # type: ignore[attr-defined]
            sign = -1.0 if isinstance(value.op, ast.Sub) else 1.0  # type: ignore[attr-defined]
            return _adding(target, value.right, sign, statement.lineno, way)  # type: ignore[attr-defined]
        if isinstance(target, ast.Name):
            return _setting(target.id, value, statement.lineno, way)
    amount = appended(statement)
    if amount is not None:
        key = list_of(statement)
        return _setting(key, amount if key not in way.values else None, statement.lineno, way)
    made = way.copy()
    for key in _stored(statement):
        made.give(key, None, statement.lineno, False)
    return [made]


def _stored(statement: ast.stmt) -> Iterator[str]:
    for node in own_nodes([statement]):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            yield ast.unparse(node)
        elif appended(node) is not None:
            yield list_of(node)


def _adding(target: ast.expr, amount: ast.expr, sign: float, line: int, way: Way) -> list[Way]:
    key = ast.unparse(target)
    known = key not in way.values or way.values[key] is not None
    made = []
    for one, tests in choices_of(amount, way.known) if known else ():
        new = way.copy()
        new.tests = (*way.tests, *tests)
        new.give(key, (way.values.get(key) or 0.0) + sign * one, line, True)
        made.append(new)
    return made or _setting(key, None, line, way)


def _setting(key: str, amount: ast.expr | None, line: int, way: Way) -> list[Way]:
    made = []
    for one, tests in choices_of(amount, way.known) if amount is not None else ():
        new = way.copy()
        new.tests = (*way.tests, *tests)
        new.give(key, one, line, False)
        made.append(new)
    if not made:
        made = [way.copy()]
        made[0].give(key, None, line, False)
    return made


def list_of(statement: Any) -> str:
    """The key of the list that a statement appends to."""
    return APPENDED + ast.unparse(statement.value.func.value)
