"""Rewriting of files: every function of a file gets a record and tells the recorder what it does.

`instrument` is the `transform` of `rewards.loading.load_file`. Code at module and class level stays as it is,
except for lambdas; so do decorators, defaults and annotations. Functions that list their own variables
(`locals()`), or that a compiler takes over (`njit`), are left alone.
"""

from __future__ import annotations

import ast
import copy
import tokenize
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rewards.tracing.amounts import amount_names, leaves, settings_of
from rewards.tracing.expressions import (
    HITS,
    HOOKS,
    MODULE_RECORD,
    ExpressionRewriter,
    Place,
    hook,
    loaded,
    located,
    name,
    targets_of,
)
from rewards.tracing.nodes import FILES, NODES, Branches, Node, add_file, add_node
from rewards.tracing.scopes import Scope, function_scope, module_scope, parameters

_LEFT_ALONE = frozenset(["locals", "vars", "dir"])
_COMPILERS = frozenset(["jit", "njit", "vectorize", "guvectorize", "cfunc", "compile", "script"])
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def instrument(tree: ast.Module, path: Path) -> ast.Module:
    """The module with every function watched; it behaves the same, and its lines are where they were.

    Args:
        tree: the parsed file; it is not changed.
        path: the file itself, read for the words of its conditions.
    """
    with tokenize.open(path) as file:
        number = add_file(path, file.read())
    return _FileRewriter(number, tree).module(tree)


class _FileRewriter(ExpressionRewriter):
    def __init__(self, number: int, tree: ast.Module) -> None:
        self.number = number
        self.file = FILES[number]
        self.modules = _imported_modules(tree)
        self.stored_attributes = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        self.break_tests: list[int] = []
        self.behind: tuple[ast.stmt, ...] = ()
        self.caught = False

    # ------------------------------------------------------------------------------------- modules

    def module(self, tree: ast.Module) -> ast.Module:
        scope = module_scope(tree)
        place = Place(0, MODULE_RECORD, scope)
        self.file.settings = settings_of(tree)
        head, rest = _after_docstring_and_future(tree.body)
        body = [self._outside(statement, place) for statement in rest]
        setup: list[ast.stmt] = [
            ast.ImportFrom("rewards.tracing.recorder", [ast.alias("HOOKS", HOOKS)], 0),
            ast.Assign([ast.Name(HITS, ast.Store())], self._setup("hits")),
            ast.Assign([ast.Name(MODULE_RECORD, ast.Store())], self._setup("module_record")),
        ]
        for statement in setup:
            located(statement, ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0))
        return ast.Module([*head, *setup, *body], tree.type_ignores)

    def _setup(self, which: str) -> ast.expr:
        return ast.Call(ast.Attribute(name(HOOKS), which, ast.Load()), [ast.Constant(self.number)], [])

    def _outside(self, tree: Any, place: Place) -> Any:
        """A statement or expression at module or class level: only functions and lambdas are rewritten."""
        if isinstance(tree, _FUNCTIONS):
            return self._function(tree, place)
        if isinstance(tree, ast.Lambda):
            return self.expr(tree, place)[0]
        if isinstance(tree, ast.ClassDef):
            inner = replace(place, scope=Scope("class", place.scope))
            new = copy.copy(tree)
            new.body = [self._outside(item, inner) for item in tree.body]
            return new
        new = copy.copy(tree)
        for key, value in ast.iter_fields(tree):
            if isinstance(value, ast.AST):
                setattr(new, key, self._outside(value, place))
            elif isinstance(value, list):
                setattr(
                    new,
                    key,
                    [self._outside(item, place) if isinstance(item, ast.AST) else item for item in value],
                )
        return new

    # ----------------------------------------------------------------------------------- functions

    def _function(self, tree: Any, place: Place) -> Any:
        if _must_stay(tree):
            return tree
        scope = function_scope(tree, place.scope)
        number = add_node(Node("function", self.file, tree))
        record = f"{HOOKS}_{number}"
        inner = Place(number, record, scope)
        args = tree.args
        named = parameters(args)[: len(args.posonlyargs) + len(args.args) + len(args.kwonlyargs)]
        node = NODES[number]
        node.function = place.function
        node.extra = {
            "name": tree.name,
            "parameters": named,
            "later": isinstance(tree, ast.AsyncFunctionDef) or _is_generator(tree),
        }
        entered = ast.Call(
            ast.Attribute(name(HOOKS), "enter", ast.Load()),
            [ast.Constant(number), name(place.record), *map(name, named)],
            [],
        )
        start = located(ast.Assign([ast.Name(record, ast.Store())], entered), tree.body[0])
        head, rest = _after_docstring_and_future(tree.body)
        new = copy.copy(tree)
        new.body = [*head, start, *self.block(rest, inner)]
        return new

    # ---------------------------------------------------------------------------------- statements

    def block(self, statements: Sequence[ast.stmt], place: Place) -> list[ast.stmt]:
        """Rewrite statements; a test that leaves early decides whether those behind it run."""
        out: list[ast.stmt] = []
        for at, statement in enumerate(statements):
            if not isinstance(statement, (ast.Global, ast.Nonlocal)):
                out.append(self._counter(statement))
            self.behind = tuple(statements[at + 1 :])
            new, place = self._statement(statement, place)
            out.extend(located(item, statement) if not hasattr(item, "lineno") else item for item in new)
        return out

    def _counter(self, statement: ast.stmt) -> ast.stmt:
        self.file.hits.append(0)
        self.file.statements.append(statement.lineno)
        target = ast.Subscript(name(HITS), ast.Constant(len(self.file.hits) - 1), ast.Store())
        return located(ast.AugAssign(target, ast.Add(), ast.Constant(1)), statement)  # type: ignore[no-any-return]

    def _statement(self, tree: ast.stmt, place: Place) -> tuple[list[ast.stmt], Place]:
        method = getattr(self, "_on_" + type(tree).__name__, None)
        if method is not None:
            made = method(tree, place)
            return made if isinstance(made, tuple) else ([made], place)
        if isinstance(tree, _FUNCTIONS):
            return [self._function(tree, place)], place
        if isinstance(tree, ast.ClassDef):
            return [self._outside(tree, place)], place
        if isinstance(tree, (ast.Expr, ast.Raise, ast.Delete)):
            return [self._with_expressions(tree, place)], place
        return [tree], place

    def _with_expressions(self, tree: Any, place: Place) -> Any:
        if isinstance(tree, ast.Delete):
            return tree
        return located(self._inside(tree, place), tree)

    def _on_Return(self, tree: ast.Return, place: Place) -> ast.stmt:
        if tree.value is None:
            return tree
        value, kid = self.expr(tree.value, place, flow=True)
        number = self.node("ret", tree, place, (kid,))
        return located(ast.Return(hook("ret", place, number, value)), tree)  # type: ignore[no-any-return]

    def _on_Assign(self, tree: ast.Assign, place: Place) -> ast.stmt:
        value, kid = self.expr(tree.value, place, flow=True)
        targets = [targets_of(target, place) for target in tree.targets]
        number = self.node("let", tree, place, (kid,), targets)
        self._mark_accumulation(tree, kid)
        self._mark_assigned(tree.targets[0], kid)
        new = ast.Assign(
            [self._target(target, place, number) for target in tree.targets],
            located(hook("let", place, number, value), tree.value),
        )
        return located(new, tree)  # type: ignore[no-any-return]

    def _on_AnnAssign(self, tree: ast.AnnAssign, place: Place) -> ast.stmt:
        if tree.value is None:
            return tree
        value, kid = self.expr(tree.value, place, flow=True)
        number = self.node("let", tree, place, (kid,), [targets_of(tree.target, place)])
        self._mark_assigned(tree.target, kid)
        new = copy.copy(tree)
        new.target = self._target(tree.target, place, number)
        new.value = located(hook("let", place, number, value), tree.value)
        return new

    def _target(self, tree: Any, place: Place, number: int) -> Any:
        """An assignment's target; what is stored into attributes and items is told to the recorder."""
        if isinstance(tree, (ast.Tuple, ast.List)):
            new = copy.copy(tree)
            new.elts = [self._target(part, place, 0) for part in tree.elts]
            return new
        if isinstance(tree, ast.Starred):
            return tree
        if isinstance(tree, (ast.Attribute, ast.Subscript)):
            return self._slot(tree, place, self.node("slot", tree, place, (number,), _slot_name(tree)))
        return tree

    def _slot(self, tree: Any, place: Place, number: int) -> Any:
        new = copy.copy(tree)
        new.value = located(hook("into", place, number, self.expr(tree.value, place)[0]), tree)
        if isinstance(tree, ast.Subscript):
            new.slice = located(hook("key", place, number, self.expr(tree.slice, place)[0]), tree)
        return new

    def _mark_accumulation(self, tree: ast.Assign, kid: int) -> None:
        """`x = x + e` is `x += e` in other words, and so is `x[k] = x.get(k, 0) + e`."""
        value, target = tree.value, tree.targets[0]
        if isinstance(value, ast.BinOp) and ast.unparse(target) == ast.unparse(_read_again(value.left)):
            NODES[kid].kind = "aug"

    def _mark_assigned(self, target: ast.expr, kid: int) -> None:
        """The name a reader would give the value: its variable, or the key it is stored under."""
        if isinstance(target, ast.Name):
            text = target.id
        elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            text = str(target.slice.value)
        elif isinstance(target, ast.Attribute):
            text = target.attr
        else:
            return
        for number in (kid, *(NODES[kid].kids if NODES[kid].kind == "if" else ())):
            NODES[number].assigned = text

    def _on_AugAssign(self, tree: ast.AugAssign, place: Place) -> ast.stmt:
        target = tree.target
        if isinstance(target, ast.Name):
            old = self.node("name", target, place, extra=place.scope.find(target.id))
            value, kid = self.expr(tree.value, place, flow=True)
            number = self.node("aug", tree, place, (old, kid), type(tree.op))
            NODES[number].extra = (type(tree.op), target.id, NODES[old].extra)
            made = hook("aug", place, number, name(target.id), value)
            return located(ast.Assign([target], located(made, tree)), tree)  # type: ignore[no-any-return]
        value, kid = self.expr(tree.value, place, flow=True)
        number = self.node("augslot", tree, place, (0, kid), (type(tree.op), _slot_name(target)))
        new = copy.copy(tree)
        new.target = self._slot(target, place, number)
        new.value = located(hook("inc", place, number, value), tree.value)
        return new

    # ---------------------------------------------------------------------------------- branches

    def _on_If(self, tree: ast.If, place: Place) -> tuple[list[ast.stmt], Place]:
        behind = self.behind
        test, number = self.test(tree.test, place)
        NODES[number].extra = self._branches(tree, behind, place)
        body = self.block(tree.body, place.under(number))
        orelse = self.block(tree.orelse, place.under(number))
        if any(isinstance(item, ast.Break) for item in tree.body):
            self.break_tests.append(number)
        ends, else_ends = leaves(tree.body), leaves(tree.orelse)
        new = located(ast.If(test, body, orelse), tree)
        return [new], place.past(number) if ends != else_ends else place

    def _branches(self, tree: ast.If, behind: tuple[ast.stmt, ...], place: Place) -> Branches:
        """What the test decides, with the variables whose values are worth keeping when it is made."""
        concerned = [*tree.body, *tree.orelse, *(behind if leaves(tree.body) else ())]
        known, settings = {}, set()
        for text in sorted(amount_names(concerned)):
            key = place.scope.find(text)
            if place.scope.is_global(text):
                settings.add(text)
            elif key is not None:
                known[text] = key
        return Branches(tree, behind, tuple(known.items()), frozenset(settings))

    def _on_While(self, tree: ast.While, place: Place) -> ast.stmt:
        test, number = self.test(tree.test, place)
        outer, self.break_tests = self.break_tests, []
        body = self.block(tree.body, place.under(number))
        behind = place.past(self.break_tests[-1]) if self.break_tests else place.past(number)
        self.break_tests = outer
        return located(ast.While(test, body, self.block(tree.orelse, behind)), tree)  # type: ignore[no-any-return]

    def _on_For(self, tree: Any, place: Place) -> ast.stmt:
        values, kid = self.expr(tree.iter, place)
        number = self.node("loop", tree.iter, place, (kid,), targets_of(tree.target, place))
        new = copy.copy(tree)
        new.iter = located(hook("each", place, number, values), tree.iter)
        seen = located(ast.Expr(hook("loop", place, number, loaded(tree.target))), tree.body[0])
        outer, self.break_tests = self.break_tests, []
        new.body = [seen, *self.block(tree.body, place.under(number))]
        behind = place.under(self.break_tests[-1]) if self.break_tests else place
        self.break_tests = outer
        new.orelse = self.block(tree.orelse, behind)
        return new  # type: ignore[no-any-return]

    _on_AsyncFor = _on_For

    def _on_With(self, tree: Any, place: Place) -> ast.stmt:
        new = copy.copy(tree)
        new.items = []
        for item in tree.items:
            made = copy.copy(item)
            made.context_expr = self.expr(item.context_expr, place)[0]
            new.items.append(made)
        new.body = self.block(tree.body, place)
        return new  # type: ignore[no-any-return]

    _on_AsyncWith = _on_With

    def _on_Try(self, tree: Any, place: Place) -> tuple[list[ast.stmt], Place]:
        new = copy.copy(tree)
        outer, self.caught = self.caught, bool(tree.handlers)
        new.body = self.block(tree.body, place)
        self.caught = outer
        new.handlers, behind = [], place
        for handler in tree.handlers:
            number = self.node("except", handler, place)
            NODES[number]._text = _handler_text(handler)
            made = copy.copy(handler)
            caught = located(ast.Expr(hook("caught", place, number)), handler.body[0])
            made.body = [caught, *self.block(handler.body, place.under(number))]
            new.handlers.append(made)
            if leaves(tree.body) and not leaves(handler.body):
                behind = place.past(number)
        new.orelse, new.finalbody = self.block(tree.orelse, place), self.block(tree.finalbody, place)
        return [new], behind

    _on_TryStar = _on_Try

    def _on_Match(self, tree: ast.Match, place: Place) -> ast.stmt:
        new = copy.copy(tree)
        new.subject = self.expr(tree.subject, place)[0]
        new.cases = []
        for case in tree.cases:
            made = copy.copy(case)
            number = self.node("case", case.pattern, place)
            NODES[number]._text = f"case {self.file.segment(case.pattern)}"
            if case.guard is not None:
                made.guard = self.test(case.guard, place)[0]
            reached = located(ast.Expr(hook("caught", place, number)), case.body[0])
            made.body = [reached, *self.block(case.body, place.under(number))]
            new.cases.append(made)
        return new

    def _on_Assert(self, tree: ast.Assert, place: Place) -> tuple[list[ast.stmt], Place]:
        """An assertion that a handler around it catches decides what stands behind it."""
        new = copy.copy(tree)
        new.test, number = self.test(tree.test, place)
        return [new], place.under(number) if self.caught else place


def _read_again(tree: ast.expr) -> ast.expr:
    """`x.get(k, 0)` as the item `x[k]`; anything else as it is."""
    if (
        isinstance(tree, ast.Call)
        and isinstance(tree.func, ast.Attribute)
        and tree.func.attr == "get"
        and tree.args
    ):
        return ast.Subscript(tree.func.value, tree.args[0], ast.Load())
    return tree


def _slot_name(tree: Any) -> str | None:
    """The attribute stored to; None for an item."""
    return tree.attr if isinstance(tree, ast.Attribute) else None


def _handler_text(handler: ast.ExceptHandler) -> str:
    return f"except {ast.unparse(handler.type)}" if handler.type is not None else "except"


def _after_docstring_and_future(body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """What has to stay in front: the docstring and `from __future__` imports."""
    cut = 0
    for statement in body:
        is_text = (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
            and isinstance(statement.value.value, str)
        )
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (is_future or (is_text and cut == 0)):
            break
        cut += 1
    return list(body[:cut]), list(body[cut:])


def _imported_modules(tree: ast.Module) -> dict[str, str]:
    """Names bound to modules by `import` anywhere in the file, with the module's full name."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = alias.name
    return found


def _must_stay(tree: Any) -> bool:
    for decorator in tree.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        last = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if last in _COMPILERS:
            return True
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in _LEFT_ALONE
        and not node.args
        for node in ast.walk(tree)
    )


def _is_generator(tree: Any) -> bool:
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            pending.extend(ast.iter_child_nodes(node))
    return False
