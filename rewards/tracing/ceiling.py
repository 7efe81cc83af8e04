"""The most a reward function can give, where its text alone says so.

The function is gone through without running it, with a range for every number: both branches of every test, every
way out of a loop. A number that comes from the completion may be anything; what is done to it may bound it again
(`min`, a comparison, a length). Branches that exclude each other are not added up, and a limit around a sum holds.
What is not understood may be anything too, so that an answer is right or there is none.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rewards.tracing.nodes import SourceFile
from rewards.tracing.possible import Expressions, Frame, GiveUpError, defaults_of, either
from rewards.tracing.ranges import (
    ANYTHING,
    NOTHING,
    Items,
    Own,
    Range,
    Row,
    Table,
    Text,
    combined,
    each_of,
    join,
    known,
    listed,
    widened,
)
from rewards.tracing.scopes import own_nodes, parameters

_DEEPEST = 6
_MOST_ROUNDS = 40
_MOST_FORKS = 4
_KEEPING = frozenset(["reward", "lru_cache", "cache"])
"""Decorators that leave what a function gives as it is."""


def most_of(
    file: SourceFile, name: str, line: int, params: Mapping[str, Any], columns: Iterable[str] = ()
) -> float | None:
    """The most that the function `name` of a file can give for a row; None where its text does not say.

    Args:
        file: the file.
        name: a function at the file's own level.
        line: the first line of its definition.
        params: what is passed to it beside the columns.
        columns: the names of the columns, which may take the place of defaults.
    """
    key = (name, line, *sorted((name, repr(value)) for name, value in params.items()), *sorted(columns))
    if key not in file.ceilings:
        file.ceilings[key] = _most(file, name, line, params, frozenset(columns))
    return file.ceilings[key]


def _most(
    file: SourceFile, name: str, line: int, params: Mapping[str, Any], columns: frozenset[str]
) -> float | None:
    try:
        module = ast.parse("\n".join(file.lines))
        functions = [
            node for node in module.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]
        found = [node for node in functions if node.name == name]
        lines = [one.lineno for node in found for one in (node, *node.decorator_list)]
        if (
            len(found) != 1
            or line not in lines
            or any(isinstance(node, ast.Nonlocal) for node in ast.walk(module))
        ):
            return None
        reader = _Reader(_world(module, file.settings))
        given = reader.given(found[0], params, columns)
        result = reader.call(Own(found[0], None), given)
    except (GiveUpError, RecursionError, SyntaxError):
        return None
    score = each_of(result)
    return score.high if isinstance(score, Range) and math.isfinite(score.high) else None


def _world(module: ast.Module, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The file's own functions and numbers, each name that is stored only once."""
    stored: list[str] = []
    world: dict[str, Any] = {name: known(value) for name, value in settings.items()}
    for node in module.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            stored.append(node.name)
            world[node.name] = Own(node, None)
        else:
            stored += [
                one.id
                for one in own_nodes([node])
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            ]
    return {name: value for name, value in world.items() if stored.count(name) == 1}


class _Reader(Expressions):
    """Goes through the statements of functions."""

    def given(self, tree: Any, params: Mapping[str, Any], columns: frozenset[str]) -> dict[str, Any]:
        """The arguments of the reward itself: its params and defaults; anything for columns."""
        given = dict.fromkeys(parameters(tree.args), ANYTHING)
        for name, default in defaults_of(tree):
            given[name] = ANYTHING if name in columns else self.value(default)
        return {**given, **{name: known(value) for name, value in params.items() if name in given}}

    def call(self, function: Own, given: dict[str, Any]) -> Any:
        """What a function gives back."""
        tree = function.tree
        kept = all(_last_name(decorator) in _KEEPING for decorator in tree.decorator_list)
        if self.depth >= _DEEPEST or not kept:
            return ANYTHING
        if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(tree.body)):
            return Items(ANYTHING)
        outer, self.frame = self.frame, Frame(dict(given), function.around)
        self.depth += 1
        try:
            self.block(tree.body)
            frame = self.frame
        finally:
            self.depth -= 1
            self.frame = outer
        return frame.returned if frame.variables is None else join(frame.returned, NOTHING)

    # ------------------------------------------------------------------------------------------- statements

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Go through statements."""
        for at, statement in enumerate(statements):
            if self.frame.variables is None:
                return
            if isinstance(statement, ast.If) and self._fork(statement, statements[at + 1 :]):
                return
            if isinstance(statement, ast.If):
                continue
            self.step()
            method = getattr(self, "_on_" + type(statement).__name__, None)
            if method is not None:
                method(statement)
            else:
                self._not_understood(statement)

    def _not_understood(self, statement: ast.stmt) -> None:
        for node in own_nodes([statement]):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                self.frame.put(node.id, ANYTHING)
            elif isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom, ast.Break, ast.Continue)):
                raise GiveUpError
            elif isinstance(node, ast.Name) and isinstance(self.look_up(node.id), (Items, Row, Table)):
                self.frame.put(node.id, ANYTHING)

    def _on_FunctionDef(self, tree: Any) -> None:
        self.frame.put(tree.name, Own(tree, self.frame))

    _on_AsyncFunctionDef = _on_FunctionDef

    def _on_Pass(self, tree: ast.Pass) -> None:
        pass

    _on_Assert = _on_Import = _on_ImportFrom = _on_Pass

    def _on_Return(self, tree: ast.Return) -> None:
        value = self.value(tree.value) if tree.value is not None else NOTHING
        self.frame.returned = join(self.frame.returned, value) if self.frame.returned is not None else value
        self.frame.variables = None

    def _on_Raise(self, tree: ast.Raise) -> None:
        self.frame.variables = None

    def _on_Continue(self, tree: ast.Continue) -> None:
        self.frame.left.append(self.frame.variables or {})
        self.frame.variables = None

    def _on_Break(self, tree: ast.Break) -> None:
        self.frame.broken.append(self.frame.variables or {})
        self.frame.variables = None

    def _on_Expr(self, tree: ast.Expr) -> None:
        call = tree.value
        method = call.func if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
        if (
            isinstance(method, ast.Attribute)
            and isinstance(method.value, ast.Name)
            and method.attr == "append"
        ):
            known = self.look_up(method.value.id)
            item = self.value(call.args[0]) if len(call.args) == 1 else ANYTHING  # type: ignore[attr-defined]
            if isinstance(known, Row) and len(known.items) < _MOST_ROUNDS:
                self.frame.put(method.value.id, Row((*known.items, item)))
            else:
                each = each_of(known) if isinstance(known, (Items, Row)) else ANYTHING
                self.frame.put(method.value.id, Items(join(each, item)))
            return
        self.value(call)
        owner = method.value if isinstance(method, ast.Attribute) else None
        if isinstance(owner, ast.Name) and isinstance(self.look_up(owner.id), (Items, Row, Table)):
            self.frame.put(owner.id, ANYTHING)

    def _on_Assign(self, tree: ast.Assign) -> None:
        value = self.value(tree.value)
        for target in tree.targets:
            self.assign(target, value)

    def _on_AnnAssign(self, tree: ast.AnnAssign) -> None:
        if tree.value is not None:
            self.assign(tree.target, self.value(tree.value))

    def _on_AugAssign(self, tree: ast.AugAssign) -> None:
        before = self.value(ast.copy_location(_loaded(tree.target), tree.target))
        self.assign(tree.target, combined(type(tree.op), before, self.value(tree.value)))

    def assign(self, target: ast.expr, value: Any) -> None:
        """A target gets a value."""
        if isinstance(target, ast.Name):
            self.frame.put(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = value.items if isinstance(value, Row) and len(value.items) == len(target.elts) else None
            each = each_of(value) if isinstance(value, Items) else ANYTHING
            for at, part in enumerate(target.elts):
                self.assign(
                    part.value if isinstance(part, ast.Starred) else part,
                    items[at] if items is not None else each,
                )
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self._store(target, target.value.id, value)

    def _store(self, target: ast.Subscript, name: str, value: Any) -> None:
        own = ast.unparse(target)
        if self.frame.variables is not None and own in self.frame.variables:  # the item of this round
            self.frame.put(own, value)
            return
        known, key = self.look_up(name), self.value(target.slice)
        if isinstance(known, Table) and isinstance(key, Text):
            pairs = {**dict(known.pairs), key.value: value}
            self.frame.put(name, Table(tuple(pairs.items())))
        elif isinstance(known, (Items, Row)):
            self.frame.put(name, Items(join(each_of(known), value)))
        elif known != ANYTHING:
            self.frame.put(name, ANYTHING)

    def _on_If(self, tree: ast.If) -> None:
        self.frame.variables = either(*self._branches(tree))

    def _branches(self, tree: ast.If) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """The variables behind either branch."""
        self.value(tree.test)
        before = dict(self.frame.variables or {})
        self.refine(tree.test, True)
        self.block(tree.body)
        first, self.frame.variables = self.frame.variables, before
        self.refine(tree.test, False)
        self.block(tree.orelse)
        return first, self.frame.variables

    def _fork(self, tree: ast.If, behind: Sequence[ast.stmt]) -> bool:
        """An `if`, and what is behind it for each branch, where a branch gives several numbers that belong together."""
        one, other = self._branches(tree)
        names = {**(one or {}), **(other or {})}
        apart = [name for name in names if (one or {}).get(name) != (other or {}).get(name)]
        if one is None or other is None or len(apart) < 2 or self.forks >= _MOST_FORKS:
            self.frame.variables = either(one, other)
            return False
        self.forks += 1
        self.frame.variables = one
        self.block(behind)
        first, self.frame.variables = self.frame.variables, other
        self.block(behind)
        self.forks -= 1
        self.frame.variables = either(first, self.frame.variables)
        return True

    def refine(self, test: ast.expr, holds: bool) -> None:
        """Narrow the range of a variable by a comparison."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.refine(test.operand, not holds)
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return
        less = isinstance(test.ops[0], (ast.Lt, ast.LtE))
        if not less and not isinstance(test.ops[0], (ast.Gt, ast.GtE)):
            return
        sides = (test.left, test.comparators[0])
        small, large = sides if less is holds else (sides[1], sides[0])
        low, high = self.value(small), self.value(large)
        if isinstance(small, ast.Name) and isinstance(low, Range) and isinstance(high, Range):
            self.frame.put(small.id, Range(min(low.low, high.high), min(low.high, high.high)))
        if isinstance(large, ast.Name) and isinstance(low, Range) and isinstance(high, Range):
            self.frame.put(large.id, Range(max(low.low, high.low), max(high.high, low.low)))

    def _on_Try(self, tree: ast.Try) -> None:
        seen = dict(self.frame.variables or {})
        self.frame.tried.append(seen)
        self.block(tree.body)
        self.frame.tried.pop()
        self.block(tree.orelse)
        after = self.frame.variables
        for handler in tree.handlers:
            self.frame.variables = dict(seen)
            self.block(handler.body)
            after = either(after, self.frame.variables)
        if tree.finalbody:
            self.frame.variables = after if after is not None else dict(seen)
            self.block(tree.finalbody)
            after = self.frame.variables if after is not None else None
        self.frame.variables = after

    def _on_With(self, tree: Any) -> None:
        """A block that may be left in the middle: `contextlib.suppress` goes on behind it."""
        seen = dict(self.frame.variables or {})
        for item in tree.items:
            if item.optional_vars is not None:
                self.assign(item.optional_vars, ANYTHING)
        self.frame.tried.append(seen)
        self.block(tree.body)
        self.frame.tried.pop()
        self.frame.variables = either(self.frame.variables, seen)

    _on_AsyncWith = _on_With

    def _on_Match(self, tree: ast.Match) -> None:
        before = dict(self.frame.variables or {})
        after: dict[str, Any] | None = None
        for case in tree.cases:
            self.frame.variables = dict(before)
            for node in ast.walk(case.pattern):
                bound = getattr(node, "name", None) or getattr(node, "rest", None)
                if isinstance(bound, str):
                    self.frame.put(bound, ANYTHING)
            self.block(case.body)
            after = either(after, self.frame.variables)
            if isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None:
                break
        else:
            after = either(after, before)
        self.frame.variables = after

    # ------------------------------------------------------------------------------------------------ loops

    def _on_While(self, tree: ast.While) -> None:
        self._rounds(tree, lambda: self.value(tree.test), {})

    def _on_For(self, tree: Any) -> None:
        source = self.value(tree.iter)
        items = listed(source)
        if items is not None and len(items) <= _MOST_ROUNDS:
            self._each_round(tree, items)
            return
        self._rounds(tree, lambda: self.assign(tree.target, each_of(source)), self._own_items(tree))

    _on_AsyncFor = _on_For

    def _own_items(self, tree: Any) -> dict[str, tuple[str, Any]]:
        """Items of lists that a loop goes through once by their index: in each round another one."""
        index = (
            tree.target.elts[0] if isinstance(tree.target, ast.Tuple) and tree.target.elts else tree.target
        )
        called = (
            tree.iter.func.id
            if isinstance(tree.iter, ast.Call) and isinstance(tree.iter.func, ast.Name)
            else ""
        )
        if not isinstance(index, ast.Name) or called not in ("enumerate", "range"):
            return {}
        found = {}
        for node in own_nodes(tree.body):
            if (
                isinstance(node, ast.Subscript)
                and not isinstance(node.ctx, ast.Load)
                and isinstance(node.value, ast.Name)
                and isinstance(node.slice, ast.Name)
                and node.slice.id == index.id
                and isinstance(self.look_up(node.value.id), Items)
            ):
                found[ast.unparse(node)] = (node.value.id, each_of(self.look_up(node.value.id)))
        return found

    def _one_round(self, tree: Any) -> None:
        """The body of a loop; `continue` comes out of it like its end."""
        outer, self.frame.left = self.frame.left, []
        self.block(tree.body)
        for left in self.frame.left:
            self.frame.variables = either(self.frame.variables, left)
        self.frame.left = outer

    def _each_round(self, tree: Any, items: Sequence[Any]) -> None:
        outer, self.frame.broken = self.frame.broken, []
        for item in items:
            if self.frame.variables is None:
                break
            self.assign(tree.target, item)
            self._one_round(tree)
        if self.frame.variables is not None:
            self.block(tree.orelse)
        self._out(outer)

    def _rounds(self, tree: Any, begin: Callable[[], Any], own: Mapping[str, tuple[str, Any]]) -> None:
        """Any number of rounds: until nothing more changes; what goes on growing has no bound."""
        outer, self.frame.broken = self.frame.broken, []
        state = dict(self.frame.variables or {})
        for turn in range(8):
            self.frame.variables = dict(state)
            self.frame.variables.update({key: each for key, (_, each) in own.items()})
            begin()
            self._one_round(tree)
            after = self.frame.variables
            for key, (name, each) in own.items():
                if after is not None:
                    after[name] = Items(join(each, after.pop(key)))
            new = either(state, after) or {}
            if new == state:
                break
            state = {name: widened(state.get(name), value) if turn else value for name, value in new.items()}
        else:
            raise GiveUpError
        for broken in self.frame.broken:
            for key, (name, each) in own.items():
                broken[name] = Items(join(each, broken.pop(key, ANYTHING)))
        self.frame.variables = state
        self.block(tree.orelse)
        self._out(outer)

    def _out(self, outer: list[dict[str, Any]]) -> None:
        for broken in self.frame.broken:
            self.frame.variables = either(self.frame.variables, broken)
        self.frame.broken = outer


def _last_name(tree: ast.expr) -> str:
    called = tree.func if isinstance(tree, ast.Call) else tree
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _loaded(tree: ast.expr) -> ast.expr:
    if isinstance(tree, ast.Name):
        return ast.Name(tree.id, ast.Load())
    if isinstance(tree, ast.Subscript):
        return ast.Subscript(tree.value, tree.slice, ast.Load())
    return ast.Constant(...)
