"""Rewriting of expressions: the same values, in the same order, seen by the recorder.

Every hook is either a leaf call that gets a value and returns it, or a stand-in that performs one built-in
operation itself. Calls to the user's own functions stay calls from the user's own frame, so that the depth
of recursion, `super()`, tracebacks and warnings are as they were.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, replace
from typing import Any

from rewards.tracing.nodes import NODES, Node, SourceFile, add_node
from rewards.tracing.scopes import COMPREHENSIONS, Scope, comprehension_scope, lambda_scope, parameters

HOOKS = "_rwb"
HITS = "_rwb_h"
MODULE_RECORD = "_rwb_0"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BUILTINS = _words(
    """
    len sum max min any all float int round abs bool str list tuple set sorted reversed zip enumerate
    map filter dict next divmod pow
    """
)
"""Built-in functions performed by the recorder; every other built-in is left exactly as it is."""

METHODS = _words(
    """
    strip lstrip rstrip lower upper casefold title capitalize swapcase split rsplit splitlines partition
    rpartition replace startswith endswith find rfind index rindex count join removeprefix removesuffix
    isdigit isnumeric isdecimal isalpha isalnum isspace isupper islower translate match search fullmatch
    findall finditer sub subn group groups groupdict start end span append extend insert get items
    values keys update setdefault pop intersection union difference ratio total most_common copy
    """
)
"""Methods called through the recorder: those of text, patterns, matches and containers."""

ARRAY_VIEWS = frozenset(["T", "values"])
"""Attributes that give an array once more."""

LIBRARIES = _words(
    """
    re regex json math difflib statistics numpy rapidfuzz operator itertools textwrap unicodedata html
    Levenshtein math_verify collections string
    """
)
"""Modules whose functions are called through the recorder when called as `module.function(...)`."""


@dataclass(frozen=True)
class Place:
    """Where the rewriter is: function, the variable that holds its record, scope, and the deciding tests."""

    function: int
    record: str
    scope: Scope
    guard: int = 0
    hard: int = 0

    def under(self, test: int) -> Place:
        """Inside a branch of `test`."""
        return replace(self, guard=test, hard=test)

    def past(self, test: int) -> Place:
        """Behind a test that leaves early."""
        return replace(self, guard=test)


def name(text: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(text, ast.Load())


def hook(which: str, place: Place, number: int, *arguments: ast.expr) -> ast.Call:
    """A call to the recorder."""
    called = ast.Attribute(name(HOOKS), which, ast.Load())
    return ast.Call(called, [name(place.record), ast.Constant(number), *arguments], [])


def located(new: Any, old: ast.AST) -> Any:
    """`new` at the place of `old`."""
    return ast.copy_location(new, old)


class ExpressionRewriter:
    """Rewrites expressions of one file. `expr` gives the new expression and the number of its node."""

    file: SourceFile
    modules: dict[str, str]
    stored_attributes: set[str]

    def node(
        self, kind: str, tree: ast.AST, place: Place, kids: tuple[int, ...] = (), extra: Any = None
    ) -> int:
        """Register a node at a place."""
        return add_node(
            Node(kind, self.file, tree, place.guard, place.hard, kids, extra, function=place.function)
        )

    def expr(self, tree: ast.expr, place: Place, *, flow: bool = False) -> tuple[ast.expr, int]:
        """Rewrite an expression; `flow`: its value goes on as an object of its own, so constants are told apart."""
        method = getattr(self, "_" + type(tree).__name__, None)
        if method is None:
            return self._inside(tree, place), self.node("other", tree, place)
        new, number = method(tree, place, flow)
        return located(new, tree), number

    def _inside(self, tree: ast.expr, place: Place) -> ast.expr:
        new = copy.copy(tree)
        for key, value in ast.iter_fields(tree):
            if isinstance(value, ast.expr):
                setattr(new, key, self.expr(value, place)[0])
            elif isinstance(value, list):
                setattr(
                    new,
                    key,
                    [self.expr(item, place)[0] if isinstance(item, ast.expr) else item for item in value],
                )
        return new

    # ------------------------------------------------------------------------------------- leaves

    def _Constant(self, tree: ast.Constant, place: Place, flow: bool) -> tuple[ast.expr, int]:
        if not isinstance(tree.value, (int, float)):
            return tree, self.node("text", tree, place, extra=tree.value)
        number = self.node("const", tree, place, extra=tree.value)
        if flow and isinstance(tree.value, float):
            return hook("k", place, number), number
        return tree, number

    def _Name(self, tree: ast.Name, place: Place, flow: bool) -> tuple[ast.expr, int]:
        return tree, self.node("name", tree, place, extra=place.scope.find(tree.id))

    def _JoinedStr(self, tree: ast.JoinedStr, place: Place, flow: bool) -> tuple[ast.expr, int]:
        return tree, self.node("text", tree, place)

    def _Slice(self, tree: ast.Slice, place: Place, flow: bool) -> tuple[ast.expr, int]:
        parts = [
            self.expr(part, place)[0] if part is not None else ast.Constant(None)
            for part in (tree.lower, tree.upper, tree.step)
        ]
        made = ast.Call(ast.Attribute(name(HOOKS), "slice", ast.Load()), parts, [])
        return made, self.node("slice", tree, place)

    def _Attribute(self, tree: ast.Attribute, place: Place, flow: bool) -> tuple[ast.expr, int]:
        value, kid = self.expr(tree.value, place)
        number = self.node("attribute", tree, place, (kid,), tree.attr)
        if tree.attr in ARRAY_VIEWS or (
            tree.attr in self.stored_attributes and not tree.attr.startswith("__")
        ):
            return hook("attr", place, number, value), number
        return ast.Attribute(value, tree.attr, tree.ctx), number

    def _Subscript(self, tree: ast.Subscript, place: Place, flow: bool) -> tuple[ast.expr, int]:
        value, kid = self.expr(tree.value, place)
        key, key_kid = self.expr(tree.slice, place)
        number = self.node("sub", tree, place, (kid, key_kid))
        return hook("sub", place, number, value, key), number

    def _Starred(self, tree: ast.Starred, place: Place, flow: bool) -> tuple[ast.expr, int]:
        return ast.Starred(self.expr(tree.value, place)[0], tree.ctx), 0

    # --------------------------------------------------------------------------------- operations

    def _UnaryOp(self, tree: ast.UnaryOp, place: Place, flow: bool) -> tuple[ast.expr, int]:
        negative = isinstance(tree.op, ast.USub) and isinstance(tree.operand, ast.Constant)
        if negative and type(tree.operand.value) in (int, float):  # type: ignore[attr-defined]
            value = -tree.operand.value  # type: ignore[attr-defined]
            number = self.node("const", tree, place, extra=value)
            return (hook("k", place, number) if flow and isinstance(value, float) else tree), number
        operand, kid = self.expr(tree.operand, place)
        number = self.node("not" if isinstance(tree.op, ast.Not) else "unary", tree, place, (kid,), tree.op)
        if isinstance(tree.op, ast.Not):
            return hook(
                "not_", place, number, ast.UnaryOp(tree.op, hook("seen", place, number, operand))
            ), number
        return hook("unary", place, number, operand), number

    def _BinOp(self, tree: ast.BinOp, place: Place, flow: bool) -> tuple[ast.expr, int]:
        left, left_kid = self.expr(tree.left, place)
        right, right_kid = self.expr(tree.right, place)
        number = self.node("bin", tree, place, (left_kid, right_kid), type(tree.op))
        return hook("bin", place, number, left, right), number

    def _Compare(self, tree: ast.Compare, place: Place, flow: bool) -> tuple[ast.expr, int]:
        parts = [self.expr(part, place) for part in (tree.left, *tree.comparators)]
        kids = tuple(kid for _, kid in parts)
        if len(tree.ops) == 1:
            number = self.node("cmp", tree, place, kids, type(tree.ops[0]))
            return hook("cmp", place, number, parts[0][0], parts[1][0]), number
        number = self.node("chain", tree, place, kids)
        watched = [hook("part", place, number, new) for new, _ in parts]
        made = ast.Compare(watched[0], tree.ops, list(watched[1:]))
        return hook("chain", place, number, located(made, tree)), number

    def _BoolOp(self, tree: ast.BoolOp, place: Place, flow: bool) -> tuple[ast.expr, int]:
        number = self.node("bool", tree, place)
        operands: list[ast.expr] = []
        kids: list[int] = []
        for part in tree.values:
            new, kid = self.expr(part, place, flow=flow)
            kids.append(self.node("operand", part, place, (kid,), number))
            operands.append(located(hook("operand", place, kids[-1], new), part))
            place = place.under(kids[-1])
        NODES[number].kids = tuple(kids)
        return hook("bool_", place, number, located(ast.BoolOp(tree.op, operands), tree)), number

    def _IfExp(self, tree: ast.IfExp, place: Place, flow: bool) -> tuple[ast.expr, int]:
        test, number = self.test(tree.test, place)
        body, body_kid = self.expr(tree.body, place.under(number), flow=True)
        orelse, else_kid = self.expr(tree.orelse, place.under(number), flow=True)
        whole = self.node("if", tree, place, (body_kid, else_kid), number)
        return hook("if_", place, whole, located(ast.IfExp(test, body, orelse), tree)), whole

    def test(self, tree: ast.expr, place: Place) -> tuple[ast.expr, int]:
        """Rewrite a condition; only its truth is used, so that is all the hook gives back."""
        new, kid = self.expr(tree, place)
        number = self.node("test", tree, place, (kid,))
        return located(hook("test", place, number, new), tree), number

    def _NamedExpr(self, tree: ast.NamedExpr, place: Place, flow: bool) -> tuple[ast.expr, int]:
        value, kid = self.expr(tree.value, place, flow=True)
        target = (tree.target.id, place.scope.find(tree.target.id))
        number = self.node("let", tree, place, (kid,), [target])
        return ast.NamedExpr(tree.target, hook("let", place, number, value)), number

    def _Await(self, tree: ast.Await, place: Place, flow: bool) -> tuple[ast.expr, int]:
        value, kid = self.expr(tree.value, place)
        number = self.node("await", tree, place, (kid,))
        return hook("awaited", place, number, located(ast.Await(value), tree)), number

    def _Yield(self, tree: ast.Yield, place: Place, flow: bool) -> tuple[ast.expr, int]:
        if tree.value is None:
            return tree, 0
        value, kid = self.expr(tree.value, place, flow=True)
        number = self.node("elt", tree.value, place, (kid,))
        return ast.Yield(located(hook("elt", place, number, value), tree)), self.node("other", tree, place)

    # --------------------------------------------------------------------------------- containers

    def _display(self, tree: Any, place: Place, flow: bool) -> tuple[ast.expr, int]:
        if not isinstance(tree.ctx, ast.Load) or (_constant(tree) and not flow):
            return tree, self.node("other", tree, place)
        parts = [self.expr(part, place, flow=True) for part in tree.elts]
        number = self.node("display", tree, place, tuple(kid for _, kid in parts))
        made = type(tree)([new for new, _ in parts], tree.ctx)
        starred = any(isinstance(part, ast.Starred) for part in tree.elts)
        return (made if starred else hook("display", place, number, located(made, tree))), number

    _List = _Tuple = _display

    def _Dict(self, tree: ast.Dict, place: Place, flow: bool) -> tuple[ast.expr, int]:
        if not flow and all(isinstance(value, ast.Constant) for value in tree.values):
            return tree, self.node("other", tree, place)
        keys = [self.expr(key, place)[0] if key is not None else None for key in tree.keys]
        parts = [self.expr(value, place, flow=True) for value in tree.values]
        number = self.node("dict", tree, place, tuple(kid for _, kid in parts))
        made = located(ast.Dict(keys, [new for new, _ in parts]), tree)
        return (hook("dict_", place, number, made) if None not in tree.keys else made), number

    def _comprehension(self, tree: Any, place: Place, flow: bool) -> tuple[ast.expr, int]:
        number = self.node("comp", tree, place)
        inner = replace(place, scope=comprehension_scope(tree, place.scope))
        generators = []
        for position, part in enumerate(tree.generators):
            values, kid = self.expr(part.iter, place if position == 0 else inner)
            loop = self.node("loop", part.iter, inner, (kid,), targets_of(part.target, inner))
            which = "start" if position == 0 else "each"
            watched = located(hook(which, place, loop if position else number, values), part.iter)
            NODES[number].extra = NODES[number].extra or loop
            new = copy.copy(part)
            seen = hook("loop", inner, loop, loaded(part.target))
            new.iter, new.ifs = watched, [located(seen, part.iter)]
            inner = inner.under(loop)
            for test in part.ifs:
                made, test_number = self.test(test, inner)
                new.ifs.append(made)
                inner = inner.under(test_number)
            generators.append(new)
        made = self._elements(tree, inner, number, generators)
        return (made if isinstance(tree, ast.GeneratorExp) else hook("comp", place, number, made)), number

    _ListComp = _SetComp = _GeneratorExp = _DictComp = _comprehension

    def _elements(self, tree: Any, inner: Place, number: int, generators: list[Any]) -> ast.expr:
        element = tree.value if isinstance(tree, ast.DictComp) else tree.elt
        value, kid = self.expr(element, inner, flow=True)
        watched = located(
            hook("elt", inner, self.node("elt", element, inner, (kid,), number), value), element
        )
        if isinstance(tree, ast.DictComp):
            made: ast.expr = ast.DictComp(self.expr(tree.key, inner)[0], watched, generators)
        else:
            made = type(tree)(watched, generators)
        return located(made, tree)  # type: ignore[no-any-return]

    # -------------------------------------------------------------------------------------- calls

    def _Lambda(self, tree: ast.Lambda, place: Place, flow: bool) -> tuple[ast.expr, int]:
        inner = replace(place, scope=lambda_scope(tree, place.scope), guard=0, hard=0)
        names = parameters(tree.args)
        body, kid = self.expr(tree.body, inner, flow=True)
        entered = self.node("lambda", tree, inner, extra=[(text, inner.scope.find(text)) for text in names])
        NODES[kid].of_lambda = True
        leaving = self.node("ret", tree.body, inner, (kid,), "lambda")
        values = ast.Tuple([hook("lam", inner, entered, *map(name, names)), body], ast.Load())
        pick = located(ast.Subscript(values, ast.Constant(1), ast.Load()), tree.body)
        made = copy.copy(tree)
        made.body = located(hook("ret", inner, leaving, pick), tree.body)
        return made, self.node("other", tree, place)

    def _Call(self, tree: ast.Call, place: Place, flow: bool) -> tuple[ast.expr, int]:
        how = self._way_of(tree, place)
        arguments = [self.expr(part, place, flow=True) for part in tree.args]
        keywords = [(item, *self.expr(item.value, place, flow=True)) for item in tree.keywords]
        kids = tuple(kid for _, kid in arguments)
        names = {item.arg: kid for item, _, kid in keywords if item.arg is not None}
        receiver = tree.func.value if isinstance(tree.func, ast.Attribute) else None
        callee, receiver_kid = self._callee(tree.func, place)
        number = self.node("call", tree, place, kids, (names, receiver_kid if receiver else 0))
        plain = [located(ast.keyword(item.arg, new), item) for item, new, _ in keywords]
        if how == "leave":
            return ast.Call(callee, [new for new, _ in arguments], plain), number
        if how == "perform":
            made = hook("call", place, number, callee, *(new for new, _ in arguments))
            made.keywords = plain
            return made, number
        called = hook("f", place, number, callee)
        watched = [
            new
            if isinstance(old, ast.Starred)
            else located(hook("a", place, number, ast.Constant(kid), ast.Constant(None), new), old)
            for old, (new, kid) in zip(tree.args, arguments, strict=True)
        ]
        plain = [
            located(
                ast.keyword(
                    item.arg,
                    new
                    if item.arg is None
                    else located(
                        hook("a", place, number, ast.Constant(kid), ast.Constant(item.arg), new), item.value
                    ),
                ),
                item,
            )
            for item, new, kid in keywords
        ]
        return hook("r", place, number, located(ast.Call(called, watched, plain), tree)), number

    def _callee(self, tree: ast.expr, place: Place) -> tuple[ast.expr, int]:
        """What is called, and the node of the object it is a method of."""
        if isinstance(tree, ast.Attribute):
            value, kid = self.expr(tree.value, place)
            return located(ast.Attribute(value, tree.attr, tree.ctx), tree), kid
        return self.expr(tree, place)[0], 0

    def _way_of(self, tree: ast.Call, place: Place) -> str:
        """How a call is watched: left alone, performed by the recorder, or made by the user's own frame."""
        called = tree.func
        if isinstance(called, ast.Name):
            if place.scope.find(called.id) is not None:
                return "watch"
            return "perform" if called.id in BUILTINS else "leave"
        if isinstance(called, ast.Attribute):
            if isinstance(called.value, ast.Name):
                module = self.modules.get(called.value.id, "").split(".")[0]
                if module:
                    return "perform" if module in LIBRARIES else "watch"
            is_super = isinstance(called.value, ast.Call) and isinstance(called.value.func, ast.Name)
            if is_super and called.value.func.id == "super":  # type: ignore[attr-defined]
                return "watch"
            return "perform" if called.attr in METHODS else "watch"
        return "watch"


def _constant(tree: ast.expr) -> bool:
    """True for a tuple of constants, which Python makes once and for all."""
    return isinstance(tree, ast.Tuple) and all(
        isinstance(part, ast.Constant) or _constant(part) for part in tree.elts
    )


def targets_of(tree: ast.expr, place: Place) -> Any:
    """The variables an assignment binds, in its own shape: (name, key) pairs, lists, None for anything else."""
    if isinstance(tree, ast.Name):
        return (tree.id, place.scope.find(tree.id))
    if isinstance(tree, (ast.Tuple, ast.List)):
        return [targets_of(part, place) for part in tree.elts]
    return None


def loaded(tree: ast.expr) -> ast.expr:
    """An expression that reads back what a loop has just bound."""
    if isinstance(tree, ast.Name):
        return name(tree.id)
    if isinstance(tree, (ast.Tuple, ast.List)):
        return ast.Tuple([loaded(part) for part in tree.elts], ast.Load())
    return ast.Constant(None)


__all__ = [
    "COMPREHENSIONS",
    "HITS",
    "HOOKS",
    "MODULE_RECORD",
    "ExpressionRewriter",
    "Place",
    "hook",
    "located",
]
