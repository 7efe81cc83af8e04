"""RW905: a default value that is changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code, Function, is_name, method_on
from workbench.checks.subject import RewardSubject
from workbench.shared_objects import CHANGES

MAKERS = frozenset(
    ["list", "dict", "set", "collections.defaultdict", "collections.Counter", "collections.deque"]
)


class MutableDefault(Lead):
    """A default value is changed by the function, so it remembers earlier calls.

    Python makes a default once, when the function is defined. What one call puts into it, the next one finds there.
    Only defaults that the function really changes are reported.

    Example:
        def reward(completions, seen=[], **kwargs):
            ...
            seen.append(text)

    Remedy:
        `seen=None`, and `seen = [] if seen is None else seen` in the body.
    """

    code = "RW905"
    name = "mutable-default"
    summary = "a default value is changed and kept between calls"
    advice = "Use None as the default and make the value inside the function."
    proved_by = ("RW203", "RW505", "RW204")

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """Parameters whose default is made once and changed in the body."""
        for function in code.functions:
            for name, default in _defaults(function):
                if _is_mutable(code, default) and _changes(function, name):
                    why = f"changes its default {name}={ast.unparse(default)}, which lives on between calls"
                    yield Spot(default.lineno, why, f"default {function.name} {name}")


def _defaults(function: Function) -> Iterator[tuple[str, ast.expr]]:
    plain = [*function.args.posonlyargs, *function.args.args]
    values = function.args.defaults
    yield from zip((argument.arg for argument in plain[len(plain) - len(values) :]), values, strict=True)
    for argument, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if value is not None:
            yield argument.arg, value


def _is_mutable(code: Code, default: ast.expr) -> bool:
    if isinstance(default, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)):
        return True
    return isinstance(default, ast.Call) and code.called(default) in MAKERS


def _changes(function: Function, name: str) -> bool:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == name for t in node.targets
        ):
            return False  # the name is given another value: what is changed may be that one
    for node in ast.walk(function):
        target: ast.AST | None = node.target if isinstance(node, ast.AugAssign) else None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
            target = node.value
        if method_on(node, name) in CHANGES or is_name(target, name):
            return True
    return False
