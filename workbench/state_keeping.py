"""Signs that code keeps something from one call to the next: changed module-level values, attributes, defaults."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from rewards.code_slices import CodeSlice, last_name
from workbench.shared_objects import CHANGES, DEEP, Ways, depths_of, names_of, root

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


@dataclass(frozen=True)
class _Module:
    """What functions of a file share: every name, the depth of each object, and the file's own functions."""

    names: frozenset[str]
    depths: Mapping[str, float]
    functions: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef]
    imports: frozenset[str]
    methods: frozenset[str] = frozenset()

    def ways(self, own: set[str], body: list[Any], outlives: str | None = None) -> Ways:
        """What the body of a function with these names of its own reaches of them, and of its `self`."""
        depths = {name: depth for name, depth in self.depths.items() if name.partition(".")[0] not in own}
        found = Ways(
            depths | ({outlives: DEEP} if outlives else {}),
            {name: tree for name, tree in self.functions.items() if name not in own},
            self.imports,
            methods=self.methods,
        )
        found.follow(body)
        return found


def kept_state(part: CodeSlice, imported: Mapping[str, float] | None = None) -> State | None:
    """The first sign of state in a slice of code; None where there is none.

    Args:
        part: the code.
        imported: the depth (`workbench.shared_objects`) of what it imports from local files, by its name here.
    """
    module = _Module(
        frozenset(part.bound) | frozenset(part.imports),
        {**(imported or {}), **depths_of(part.statements)},
        {
            one.name: one
            for one in part.statements
            if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))
        },
        frozenset(part.imports),
        frozenset(
            item.name
            for one in part.statements
            if isinstance(one, ast.ClassDef)
            for item in one.body
            if isinstance(item, ast.FunctionDef)
        ),
    )
    for statement in part.statements:
        found = _module_level(statement) or _inside(statement, module)
        if found is not None:
            return found
    return None


def changed_names(tree: ast.Module) -> dict[str, int]:
    """The module-level and imported names that functions of a file change while they run, with a line of each."""
    found: dict[str, int] = {}
    bound = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for function in ast.walk(tree):
        if not isinstance(function, _FUNCTIONS):
            continue
        body = function.body if isinstance(function.body, list) else [function.body]
        own = names_of(function)
        declared = {
            name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names
        }
        for node in (node for statement in body for node in ast.walk(statement)):
            if isinstance(node, ast.Global):
                found.update(dict.fromkeys(node.names, node.lineno))
            for changed in _changed_by(node):
                if changed and (changed not in own or changed in declared):
                    found.setdefault(changed, getattr(node, "lineno", 0))
        aliases = {
            target.id: node.value.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Name)
            and node.value.id in bound - own
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for name in set(aliases) & set(found):
            found.setdefault(aliases[name], found[name])
    return found


def _changed_by(node: ast.AST) -> list[str]:
    """The names that what a node changes begins with."""
    targets: list[ast.expr] = []
    if isinstance(node, (ast.Assign, ast.Delete)):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        targets = [node.target]
    found = [root(target) for target in targets if not isinstance(target, ast.Name)]
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr", "vars") and node.args:
            found.append(root(node.args[0]))
        if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
            found.append(root(node.func.value))
    return found


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


def _inside(tree: ast.AST, module: _Module, *, method: bool = False) -> State | None:
    """Look at every function in a tree, each with the names that are not its own."""
    for node in ast.iter_child_nodes(tree) if not isinstance(tree, _FUNCTIONS) else [tree]:
        if isinstance(node, _FUNCTIONS):
            found = _function(node, module, method=isinstance(tree, ast.ClassDef) or method)
        else:
            found = _inside(node, module, method=isinstance(node, ast.ClassDef))
        if found is not None:
            return found
    return None


def _function(
    tree: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, module: _Module, *, method: bool
) -> State | None:
    default = _changing_default(tree)
    if default is not None:
        return default
    parameters = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
    own = {parameter.arg for parameter in parameters} | names_of(tree)
    outer = set(module.names - own)
    outlives = None
    if method and parameters and getattr(tree, "name", "") not in ("__init__", "__post_init__", "__new__"):
        outlives = parameters[0].arg  # `self`
        outer = outer | {outlives}
    body = tree.body if isinstance(tree.body, list) else [tree.body]
    ways = module.ways(own, body, outlives)
    for statement in body:
        for node in ast.walk(statement):
            why = _change(node, outer) or ways.change(node)
            if why is not None:
                return State(getattr(node, "lineno", tree.lineno), why)
    return _returned_functions(body, replace(module, names=module.names | own))


def _returned_functions(body: list[Any], module: _Module) -> State | None:
    """Functions that a function gives back: what they share with it outlives their calls."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    returned = {
        node.value.id for node in nodes if isinstance(node, ast.Return) and isinstance(node.value, ast.Name)
    }
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in returned:
            found = _function(node, module, method=False)
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


def _change(node: ast.AST, outer: set[str]) -> str | None:
    """Why a node changes something that outlives the call."""
    targets: list[ast.expr] = []
    if isinstance(node, (ast.Assign, ast.Delete)):
        targets = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        targets = [node.target]
    for target in targets:
        base = root(target)
        if base in outer and not isinstance(target, ast.Name):
            return f"it changes {base}, which outlives the call"
    if isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr in CHANGES and root(called.value) in outer:
            return f"it changes {root(called.value)}, which outlives the call"
        if isinstance(called, ast.Name) and called.id == "next" and node.args and root(node.args[0]) in outer:
            return f"it uses up {root(node.args[0])}"
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in outer:
        changed = {target.id for target in node.targets if isinstance(target, ast.Name)}
        return f"it gives {node.value.id} another name ({', '.join(sorted(changed))})" if changed else None
    return None
