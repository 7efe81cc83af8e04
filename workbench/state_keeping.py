"""Signs that code keeps something from one call to the next: changed module-level values, attributes, defaults."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from rewards.code_slices import CodeSlice, last_name, words

CHANGES = words(
    "append add update setdefault pop popitem extend insert clear remove discard sort reverse appendleft popleft "
    "extendleft rotate subtract push send write writelines put"
)
"""Methods that change what they are called on."""

ITERATORS = frozenset(
    ["count", "cycle", "iter", "map", "filter", "zip", "enumerate", "reversed", "islice", "chain"]
)
"""Calls whose result is used up while it is read."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class State:
    """A place where something is kept, and what."""

    line: int
    why: str


def kept_state(part: CodeSlice) -> State | None:
    """The first sign of state in a slice of code; None where there is none."""
    names = set(part.bound) | set(part.imports)
    for statement in part.statements:
        found = _module_level(statement) or _inside(statement, names)
        if found is not None:
            return found
    return None


def _module_level(statement: ast.stmt) -> State | None:
    """Module-level values that are used up while they are read."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
        return None
    value = statement.value
    used_up = isinstance(value, ast.GeneratorExp) or (
        isinstance(value, ast.Call) and last_name(value.func) in ITERATORS
    )
    return (
        State(statement.lineno, "a module-level iterator is used up from call to call") if used_up else None
    )


def _inside(tree: ast.AST, names: set[str], *, method: bool = False) -> State | None:
    """Look at every function in a tree, each with the names that are not its own."""
    for node in ast.iter_child_nodes(tree) if not isinstance(tree, _FUNCTIONS) else [tree]:
        if isinstance(node, _FUNCTIONS):
            found = _function(node, names, method=isinstance(tree, ast.ClassDef) or method)
        else:
            found = _inside(node, names, method=isinstance(node, ast.ClassDef))
        if found is not None:
            return found
    return None


def _function(
    tree: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, names: set[str], *, method: bool
) -> State | None:
    default = _changing_default(tree)
    if default is not None:
        return default
    parameters = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
    own = {parameter.arg for parameter in parameters} | _assigned(tree)
    outer = names - own
    if method and parameters and getattr(tree, "name", "") not in ("__init__", "__post_init__", "__new__"):
        outer = outer | {parameters[0].arg}  # `self` outlives the call
    body = tree.body if isinstance(tree.body, list) else [tree.body]
    for statement in body:
        for node in ast.walk(statement):
            why = _change(node, outer)
            if why is not None:
                return State(getattr(node, "lineno", tree.lineno), why)
    return _returned_functions(body, names | own)


def _returned_functions(body: list[Any], names: set[str]) -> State | None:
    """Functions that a function gives back: what they share with it outlives their calls."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    returned = {
        node.value.id for node in nodes if isinstance(node, ast.Return) and isinstance(node.value, ast.Name)
    }
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in returned:
            found = _function(node, names, method=False)
            if found is not None:
                return found
    return None


def _changing_default(tree: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> State | None:
    for value in [
        *tree.args.defaults,
        *(default for default in tree.args.kw_defaults if default is not None),
    ]:
        if isinstance(
            value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Call)
        ):
            return State(value.lineno, "a default value is kept between calls")
    return None


def _assigned(tree: ast.AST) -> set[str]:
    """Names a function binds itself, inner functions included."""
    return {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def _change(node: ast.AST, outer: set[str]) -> str | None:
    """Why a node changes something that outlives the call."""
    targets: list[ast.expr] = []
    if isinstance(node, (ast.Assign, ast.Delete)):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        targets = [node.target]
    for target in targets:
        root = _root(target)
        if root in outer and not isinstance(target, ast.Name):
            return f"it changes {root}, which outlives the call"
    if isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr in CHANGES and _root(called.value) in outer:
            return f"it changes {_root(called.value)}, which outlives the call"
        if (
            isinstance(called, ast.Name)
            and called.id == "next"
            and node.args
            and _root(node.args[0]) in outer
        ):
            return f"it uses up {_root(node.args[0])}"
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in outer:
        changed = {target.id for target in node.targets if isinstance(target, ast.Name)}
        return f"it gives {node.value.id} another name ({', '.join(sorted(changed))})" if changed else None
    return None


def _root(tree: ast.expr) -> str:
    """The name that `name.attribute[index]` begins with; "" for anything else."""
    while isinstance(tree, (ast.Attribute, ast.Subscript, ast.Starred)):
        tree = tree.value
    return tree.id if isinstance(tree, ast.Name) else ""
