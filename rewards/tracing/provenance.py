"""Where a value came from: the record the running code leaves behind.

An `Origin` belongs to one value at one moment: what made it, out of which other values, under which test.
Origins are found again by the place in the code that held the value (a variable, an operand, an item of a
list) and by the identity of the object; a found origin counts only if it holds that very object, so a value
that went through code nobody watched has no origin rather than a wrong one.
"""

from __future__ import annotations

from typing import Any

from rewards.tracing.nodes import NODES, Node


class Origin:
    """One value and how it came about.

    `op`: const, load, use, bin, unary, not, cmp, chain, bool, operand, if, test, call, ret, sub, sum, pick,
    named, except, let; `value`: the very object; `node`: the number of its place; `parts`: what it was made of,
    origins where they are numbers, else the objects themselves; `guard`: the test it was made under.
    """

    __slots__ = ("guard", "node", "op", "parts", "value")

    def __init__(
        self, op: str, value: Any, node: int, parts: tuple[Any, ...] = (), guard: Origin | None = None
    ) -> None:
        self.op = op
        self.value = value
        self.node = node
        self.parts = parts
        self.guard = guard

    @property
    def place(self) -> Node:
        """The node where the value was made."""
        return NODES[self.node]

    def __repr__(self) -> str:
        return f"<{self.op} {self.value!r} line {self.place.line}>"


def hard_test(origin: Origin) -> Origin | None:
    """The test around a place that does not only decide it by leaving early."""
    hard = NODES[origin.node].hard
    if not hard:
        return origin.guard if origin.guard is not None and origin.guard.op == "let" else None
    while hard:
        test = origin.guard
        while test is not None:
            if test.node == hard or test.op == "let":
                return test
            test = test.guard
        hard = (
            NODES[hard].hard if NODES[hard].kind == "loop" else 0
        )  # a loop that lets everything in is no test
    return None


def admitting(test: Origin | None) -> Origin | None:
    """The test itself, where something was let in by one: an item of a list, a row that a mask chose."""
    while test is not None and test.op == "let":
        test = test.parts[0]
    return test


class Record(dict[Any, Any]):
    """What one running function has recorded: origins by node number and by variable.

    `up`: the record of the function around it in the text; `called_under`: the test under which it was called.
    """

    __slots__ = ("called_under", "number", "up")

    def __init__(self, number: int = 0, up: Record | None = None, called_under: Origin | None = None) -> None:
        super().__init__()
        self.number = number
        self.up = up
        self.called_under = called_under

    __hash__ = None


class Entry:
    """A call that is being prepared: the function and the arguments evaluated so far.

    `given_back`: what functions returned meanwhile, where the call applies one to every row of a table.
    """

    __slots__ = ("arguments", "function", "given_back", "guard", "names")

    def __init__(self, function: Any, guard: Origin | None) -> None:
        self.function = function
        self.guard = guard
        self.arguments: list[Any] = []
        self.names: dict[str, Any] = {}
        self.given_back: list[tuple[int, Any, Any]] | None = None


NUMBERS = (int, float, bool)
"""Exact types that are followed through variables; other objects are followed by their identity."""


def plain(thing: Any) -> Any:
    """The value itself, where an origin may stand for it."""
    return thing.value if isinstance(thing, Origin) else thing


def shared(value: Any) -> bool:
    """True for a single character: the interpreter shares these, so they are followed like numbers."""
    return type(value) is str and len(value) == 1
