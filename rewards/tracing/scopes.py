"""Which scope a name belongs to, by Python's own rules.

A record is kept for each running function; lambdas and comprehensions share the record of the function around
them and keep their own names apart by a prefix.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_prefixes = count(1)


@dataclass
class Scope:
    """The names one module, class, function, lambda or comprehension binds."""

    kind: str  # module | class | function | inner (lambda or comprehension)
    parent: Scope | None
    names: set[str] = field(default_factory=set)
    declared: dict[str, str] = field(default_factory=dict)  # name -> "global" | "nonlocal"
    prefix: str = ""

    def find(self, name: str) -> tuple[str, int] | None:
        """The key of a name and how many records up it lives; None where it is no variable of the file."""
        hops = 0
        scope: Scope | None = self
        first = True
        to_module = False
        while scope is not None:
            if scope.declared.get(name) == "global":
                to_module = True
            visible = scope.kind != "class" or first
            if name in scope.names and visible and (not to_module or scope.kind == "module"):
                return scope.prefix + name, hops
            if scope.kind == "function":
                hops += 1
            first = False
            scope = scope.parent
        return None

    def is_global(self, name: str) -> bool:
        """Whether a name is one of the file's own, as seen from here."""
        scope: Scope | None = self
        while scope is not None and scope.kind != "module":
            if scope.declared.get(name) == "global":
                return True
            if name in scope.names:
                return False
            scope = scope.parent
        return scope is not None and name in scope.names


def module_scope(tree: ast.Module) -> Scope:
    """The scope of a file."""
    names, _ = _bound(tree.body)
    return Scope("module", None, names)


def function_scope(node: ast.FunctionDef | ast.AsyncFunctionDef, parent: Scope) -> Scope:
    """The scope of a function, its parameters included."""
    names, declared = _bound(node.body)
    names |= set(parameters(node.args))
    return Scope("function", parent, names - set(declared), declared)


def class_scope(node: ast.ClassDef, parent: Scope) -> Scope:
    """The scope of a class body."""
    names, declared = _bound(node.body)
    return Scope("class", parent, names - set(declared), declared)


def lambda_scope(node: ast.Lambda, parent: Scope) -> Scope:
    """The scope of a lambda."""
    return Scope("inner", parent, set(parameters(node.args)), prefix=f"{next(_prefixes)}.")


def comprehension_scope(node: ast.expr, parent: Scope) -> Scope:
    """The scope of a comprehension: the targets of its loops."""
    names = {
        name.id
        for generator in node.generators  # type: ignore[attr-defined]
        for name in ast.walk(generator.target)
        if isinstance(name, ast.Name)
    }
    return Scope("inner", parent, names, prefix=f"{next(_prefixes)}.")


def parameters(arguments: ast.arguments) -> list[str]:
    """All parameter names, in the order of the signature."""
    rest = [item.arg for item in (arguments.vararg, arguments.kwarg) if item is not None]
    return [item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)] + rest


def _bound(statements: Sequence[ast.stmt]) -> tuple[set[str], dict[str, str]]:
    names: set[str] = set()
    declared: dict[str, str] = {}
    for node in own_nodes(statements):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            kind = "global" if isinstance(node, ast.Global) else "nonlocal"
            declared.update(dict.fromkeys(node.names, kind))
    return names, declared


def own_nodes(statements: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of a body that are not inside a function or class of its own; of comprehensions only `:=`."""
    pending: list[ast.AST] = list(statements)
    while pending:
        node = pending.pop()
        if isinstance(node, COMPREHENSIONS):
            for inner in ast.walk(node):
                if isinstance(inner, ast.NamedExpr):
                    yield inner.target
            continue
        yield node
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            pending.extend(node.decorator_list)
            continue
        if isinstance(node, ast.Lambda):
            continue
        pending.extend(ast.iter_child_nodes(node))
