"""What an expression may be, with the ranges of the variables it stands among."""

from __future__ import annotations

import ast
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from rewards.tracing.ranges import (
    ALL,
    ANYTHING,
    BUILT_IN,
    COUNT,
    TRUTH,
    Items,
    Own,
    Range,
    Row,
    Some,
    Table,
    Text,
    combined,
    each_of,
    join,
    known,
    listed,
    mean_of,
    number_of,
)
from rewards.tracing.scopes import own_nodes, parameters

_MOST_STEPS = 20_000

_READING = frozenset(["mean", "fmean", "append", "fsum", "gather", "join", "index", "count", "get"])
"""Methods and functions of modules that change nothing they are given."""


class GiveUpError(Exception):
    """The function is too large to be gone through."""


class Frame:
    """A function that is being gone through: its variables, and what it returned so far."""

    def __init__(self, variables: dict[str, Any], around: Any) -> None:
        self.variables: dict[str, Any] | None = variables  # None: nothing runs on from here
        self.around = around
        self.returned: Any = None
        self.left: list[dict[str, Any]] = []  # `continue`
        self.broken: list[dict[str, Any]] = []
        self.tried: list[dict[str, Any]] = []  # every value that variables had inside a `try`

    def put(self, name: str, value: Any) -> None:
        """A variable gets a value."""
        if self.variables is not None:
            self.variables[name] = value
        for seen in self.tried:
            seen[name] = join(seen.get(name), value)


class Expressions(ABC):
    """Evaluates expressions.

    Args:
        world: the file's own names.
    """

    def __init__(self, world: Mapping[str, Any]) -> None:
        self.world = world
        self.frame = Frame({}, None)
        self.depth = 0
        self.steps = 0
        self.forks = 0

    @abstractmethod
    def call(self, function: Own, given: dict[str, Any]) -> Any:
        """What a function gives back."""

    @abstractmethod
    def assign(self, target: ast.expr, value: Any) -> None:
        """A target gets a value."""

    @abstractmethod
    def refine(self, test: ast.expr, holds: bool) -> None:
        """Narrow the range of a variable by a comparison."""

    def step(self) -> None:
        """Count a step, and give up after too many."""
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise GiveUpError

    def look_up(self, name: str) -> Any:
        """What a name stands for."""
        variables = self.frame.variables or {}
        if name in variables:
            return variables[name]
        around = self.frame.around
        while around is not None:
            if around.variables is None or name in around.variables:
                return (around.variables or {}).get(name, ANYTHING)
            around = around.around
        return self.world.get(name, ANYTHING)

    def value(self, tree: Any) -> Any:
        """What an expression may be."""
        self.step()
        method = getattr(self, "_of_" + type(tree).__name__, None)
        if method is not None:
            return method(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.NamedExpr):
                self.frame.put(node.target.id, ANYTHING)
        return ANYTHING

    def _of_Constant(self, tree: ast.Constant) -> Any:
        return known(tree.value)

    def _of_Name(self, tree: ast.Name) -> Any:
        return self.look_up(tree.id)

    def _of_NamedExpr(self, tree: ast.NamedExpr) -> Any:
        value = self.value(tree.value)
        self.frame.put(tree.target.id, join(self.look_up(tree.target.id), value))
        return value

    def _of_Await(self, tree: ast.Await) -> Any:
        return self.value(tree.value)

    def _of_Tuple(self, tree: Any) -> Any:
        if any(isinstance(part, ast.Starred) for part in tree.elts):
            return ANYTHING
        return Row(tuple(self.value(part) for part in tree.elts))

    def _of_List(self, tree: ast.List) -> Any:
        return self._of_Tuple(tree)

    def _of_Dict(self, tree: ast.Dict) -> Any:
        keys = [key.value if isinstance(key, ast.Constant) else None for key in tree.keys]
        values = [self.value(value) for value in tree.values]
        return ANYTHING if None in keys else Table(tuple(zip(keys, values, strict=True)))

    def _of_UnaryOp(self, tree: ast.UnaryOp) -> Any:
        value = self.value(tree.operand)
        if isinstance(tree.op, ast.Not):
            return TRUTH
        number = number_of(value)
        if isinstance(tree.op, ast.USub):
            return Range(-number.high, -number.low)
        return number if isinstance(tree.op, ast.UAdd) else ANYTHING

    def _of_Compare(self, tree: ast.Compare) -> Any:
        for part in (tree.left, *tree.comparators):
            self.value(part)
        return TRUTH

    def _of_BoolOp(self, tree: ast.BoolOp) -> Any:
        found: Any = None
        for part in tree.values:
            found = join(found, self.value(part))
        return found if isinstance(found, Range) else ANYTHING

    def _of_IfExp(self, tree: ast.IfExp) -> Any:
        self.value(tree.test)
        before = dict(self.frame.variables or {})
        self.refine(tree.test, True)
        first = self.value(tree.body)
        one, self.frame.variables = self.frame.variables, before
        self.refine(tree.test, False)
        second = self.value(tree.orelse)
        self.frame.variables = either(one, self.frame.variables)
        return join(first, second)

    def _of_BinOp(self, tree: ast.BinOp) -> Any:
        return combined(type(tree.op), self.value(tree.left), self.value(tree.right))

    def _of_Subscript(self, tree: ast.Subscript) -> Any:
        own = ast.unparse(tree)
        if own in (self.frame.variables or {}):
            return (self.frame.variables or {})[own]
        known, key = (
            self.value(tree.value),
            self.value(tree.slice) if not isinstance(tree.slice, ast.Slice) else None,
        )
        if isinstance(known, Table) and isinstance(key, Text):
            return dict(known.pairs).get(key.value, ANYTHING)
        if (
            isinstance(known, Row)
            and isinstance(key, Range)
            and key.low == key.high
            and abs(key.low) < len(known.items)
        ):
            return known.items[int(key.low)]
        if isinstance(known, (Items, Row)):
            return each_of(known) if key is not None else Items(each_of(known))
        return ANYTHING

    def _of_ListComp(self, tree: Any) -> Any:
        return self._comprehension(tree, tree.elt)

    _of_GeneratorExp = _of_SetComp = _of_ListComp

    def _comprehension(self, tree: Any, element: ast.expr) -> Any:
        outer = dict(self.frame.variables or {})
        generator = tree.generators[0]
        source = self.value(generator.iter)
        items = listed(source) if len(tree.generators) == 1 else None
        made: list[Any] = []
        for item in items if items is not None else [each_of(source)]:
            self.assign(generator.target, item)
            for more in tree.generators[1:]:
                self.assign(more.target, each_of(self.value(more.iter)))
            for test in [test for each in tree.generators for test in each.ifs]:
                self.value(test)
                self.refine(test, True)
            made.append(self.value(element))
        self.frame.variables = outer
        if items is None:
            return Items(made[0])
        return Some(tuple(made)) if generator.ifs else Row(tuple(made))

    def _of_Call(self, tree: ast.Call) -> Any:
        if any(isinstance(part, ast.Starred) for part in tree.args):
            return ANYTHING
        arguments = [self.value(part) for part in tree.args]
        named = {item.arg: self.value(item.value) for item in tree.keywords}
        if isinstance(tree.func, ast.Name):
            called = self.look_up(tree.func.id)
            if isinstance(called, Own):
                value = self._own(called, arguments, named)
                self._handed(tree, called)
                return value
            if tree.func.id == "map" and called == ANYTHING and not named:
                return self._mapped(arguments)
            if (
                tree.func.id in BUILT_IN
                and called == ANYTHING
                and not set(named) - {"default", "start", "key"}
            ):
                if "key" in named:
                    return ANYTHING
                return BUILT_IN[tree.func.id]([*arguments, *named.values()])
            self._handed(tree, None)
            return ANYTHING
        self._handed(tree, None)
        return self._method(tree.func, arguments) if isinstance(tree.func, ast.Attribute) else ANYTHING

    def _handed(self, tree: ast.Call, to: Own | None) -> None:
        """Lists and tables that were handed to a function that may change them."""
        if to is not None and not any(
            isinstance(node, (ast.Attribute, ast.Subscript, ast.AugAssign))
            for node in own_nodes(to.tree.body)
        ):
            return
        if isinstance(tree.func, ast.Attribute) and tree.func.attr in _READING:
            return
        for part in (*tree.args, *(item.value for item in tree.keywords)):
            if isinstance(part, ast.Name) and isinstance(self.look_up(part.id), (Items, Row, Table)):
                self.frame.put(part.id, ANYTHING)

    def _own(self, called: Own, arguments: Sequence[Any], named: Mapping[Any, Any]) -> Any:
        tree = called.tree
        names = [item.arg for item in (*tree.args.posonlyargs, *tree.args.args)]
        given = dict.fromkeys(parameters(tree.args), ANYTHING)
        given.update((name, self.value(default)) for name, default in defaults_of(tree))
        if None in named or len(arguments) > len(names):
            return ANYTHING
        given.update(zip(names, arguments, strict=False))
        given.update({name: value for name, value in named.items() if name in given})
        return self.call(called, given)

    def _mapped(self, given: Sequence[Any]) -> Any:
        if len(given) < 2 or not isinstance(given[0], Own):
            return ANYTHING
        return Items(self._own(given[0], [each_of(one) for one in given[1:]], {}))

    def _method(self, tree: ast.Attribute, arguments: Sequence[Any]) -> Any:
        owner = self.value(tree.value)
        if isinstance(owner, Table) and not arguments:
            if tree.attr == "values":
                return Row(tuple(value for _, value in owner.pairs))
            if tree.attr == "items":
                return Row(tuple(Row((known(key), value)) for key, value in owner.pairs))
        if tree.attr in ("mean", "fmean") and len(arguments) == 1:
            return mean_of(arguments[0])
        if tree.attr == "exp":
            number = number_of(arguments[0]) if arguments else ALL
            return Range(0.0, math.exp(number.high) if number.high < 700 else math.inf)
        if tree.attr in ("tanh", "cos", "sin"):
            return Range(-1.0, 1.0)
        if tree.attr in ("startswith", "endswith", "isdigit", "isalpha", "isspace", "isupper", "islower"):
            return TRUTH
        return COUNT if tree.attr == "count" and owner == ANYTHING else ANYTHING


def defaults_of(tree: Any) -> list[tuple[str, ast.expr]]:
    """The parameters of a function that have defaults."""
    names = [item.arg for item in (*tree.args.posonlyargs, *tree.args.args)]
    given = list(zip(names[len(names) - len(tree.args.defaults) :], tree.args.defaults, strict=True))
    only = zip(tree.args.kwonlyargs, tree.args.kw_defaults, strict=True)
    return [*given, *((item.arg, default) for item, default in only if default is not None)]


def either(left: dict[str, Any] | None, right: dict[str, Any] | None) -> dict[str, Any] | None:
    """The variables behind two ways, of which one is gone; a variable that one does not have has the other's value."""
    if left is None or right is None:
        return left if right is None else right
    return {name: join(left.get(name), right.get(name)) for name in {**left, **right}}
