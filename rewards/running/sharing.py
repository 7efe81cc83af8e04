"""Which rewards keep something between calls, and which keep it together.

A reward that fills a module's list, and another that reads it, give other scores in two processes than in one. So
what a reward can reach is looked at after it was loaded: the globals its code names, in its own file and in those it
imports beside it, their attributes, closures, default values. What can change counts as state, unless the code
evidently only reads it; so do random numbers that are not a reward's own. A reward with state is called in one
process, in order; rewards that reach the same state in the same one. Taking a constant for state costs time and
nothing else. Not seen: what a reward keeps outside the process (files, the network) or inside a package.
"""

from __future__ import annotations

import ast
import dis
import functools
import os
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rewards.errors import WorkerError

if TYPE_CHECKING:
    from rewards.running.child import Context
    from rewards.running.worker import Worker

_STATE = "rewards.running.sharing:state_in_worker"
_MOST = 20_000
"""Objects looked at for one reward; one that reaches more is taken to share everything."""

_EVERYTHING = "everything"
_PLAIN = (
    type(None), bool, int, float, complex, str, bytes, range, type(Ellipsis), types.BuiltinFunctionType,
    types.CodeType, types.MethodDescriptorType, types.WrapperDescriptorType, property, type, slice,
)  # fmt: skip
_HARMLESS_MODULES = {"re", "datetime", "decimal", "fractions", "pathlib", "enum", "logging", "_thread", "threading",
                     "typing", "operator", "_operator", "string", "uuid", "zoneinfo", "types", "_io"}  # fmt: skip
_CONTAINERS = (list, dict, set)


def state_of(worker: Worker) -> dict[str, frozenset[str]]:
    """The state each reward of a worker's set reaches, by name; equal marks are the same state, none is none."""
    names = worker.description.names
    try:
        found: Mapping[str, list[str]] = worker.run(_STATE, timeout_s=10.0)
        return {name: frozenset(map(str, found[name])) for name in names}
    except (WorkerError, LookupError, TypeError):  # it cannot be told: then all of them might
        if not worker.alive:
            worker.restart()
        return {name: frozenset([_EVERYTHING]) for name in names}


def chains(names: Sequence[str], state: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """The names in groups that reach the same state, each in the order of `names`.

    >>> chains(["a", "b", "c", "d"], {"a": frozenset("xy"), "b": frozenset(), "c": frozenset("y"), "d": frozenset()})
    [['a', 'c'], ['b'], ['d']]
    """
    groups: list[tuple[set[str], list[str]]] = []
    for name in names:
        marks, members = set(state[name]), [name]
        for group in [group for group in groups if group[0] & marks]:
            marks |= group[0]
            members = group[1] + members
            groups.remove(group)
        groups.append((marks, members))
    order = {name: place for place, name in enumerate(names)}
    found = [sorted(members, key=order.__getitem__) for _, members in groups]
    return sorted(found, key=lambda members: order[members[0]])


def state_in_worker(context: Context) -> dict[str, list[str]]:
    """Runs in the worker: for each reward the marks of the state it reaches."""
    rewardset = context.rewardset
    reached = {}
    for name, function, entry in zip(rewardset.names, rewardset.functions, rewardset.entries, strict=True):
        reach = reached[name] = _Reach(function)
        if reach.home:  # ours change no parameter
            reach.visit(tuple(entry.params.values()))
    written = {name for reach in reached.values() for name in reach.written}
    changed = {mark for reach in reached.values() for mark in reach.marks}
    return {
        name: sorted(
            [
                *reach.marks,
                *(mark for mark in reach.read if mark in changed),
                *(f"name {one}" for one in reach.named & written),
            ]
        )
        for name, reach in reached.items()
    }


class _Reach:
    """Everything one reward can reach.

    `marks` names the objects that it can change; `read` those that it only reads, though another may change them;
    `named` are the globals its code uses (module and name), `written` those it assigns.
    """

    def __init__(self, reward: Any) -> None:
        self.marks: set[str] = set()
        self.read: dict[str, Any] = {}
        self.named: set[tuple[str, str]] = set()
        self.written: set[tuple[str, str]] = set()
        self._seen: dict[int, Any] = {}
        self.home = {_file(one) for one in _functions_of(reward)}
        self.visit(reward)

    def visit(self, value: Any) -> None:
        """Look at an object and at what it leads to."""
        pending = [value]
        while pending:
            one = pending.pop()
            if isinstance(one, _PLAIN) and not (isinstance(one, type) and self._is_own_class(one)):
                owner = getattr(one, "__self__", None)  # `from random import choice`
                if owner is None or isinstance(owner, (types.ModuleType, type)):
                    continue
                one = owner
            if id(one) in self._seen:
                continue
            self._seen[id(one)] = one
            if len(self._seen) > _MOST:
                self.marks.add(_EVERYTHING)
                return
            pending += self._next(one)

    def _next(self, one: Any) -> Iterable[Any]:
        if isinstance(one, functools.partial):
            return [one.func, one.args, *one.keywords.values()]
        if isinstance(one, types.FunctionType):
            return self._function(one)
        if isinstance(one, types.MethodType):
            return [one.__func__, one.__self__]
        if isinstance(one, (staticmethod, classmethod)) or hasattr(one, "cache_info"):
            return [one.__wrapped__]  # what a function cached is what it would give again
        if isinstance(one, (tuple, frozenset)):
            return one
        if isinstance(one, types.ModuleType):
            return []
        if isinstance(one, type):
            return [value for key, value in vars(one).items() if key not in ("__dict__", "__weakref__")]
        return self._object(one)

    def _object(self, one: Any) -> Iterable[Any]:
        kind = type(one)
        if kind.__module__ in _HARMLESS_MODULES:
            return []
        if kind is types.MappingProxyType:
            return list(one.values())
        own = self._is_own_class(kind)
        held = getattr(one, "__dict__", None)
        if not own or not isinstance(held, dict) or _assigns_to_itself(kind):
            self.marks.add(f"object {id(one)}")
        if isinstance(one, (list, set)):
            return list(one)
        if isinstance(one, dict):
            return list(one.values())
        return [kind, *(held.values() if isinstance(held, dict) else ())] if own else []

    def _function(self, function: types.FunctionType) -> Iterable[Any]:
        cells = [cell.cell_contents for cell in function.__closure__ or () if not _is_empty(cell)]
        known = [*cells, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        if hasattr(function, "__wrapped__"):
            known.append(function.__wrapped__)
        if not self._is_own(_file(function)):
            return known
        space, module = function.__globals__, str(function.__globals__.get("__name__"))
        uses = _uses(_file(function))
        for name, assigned in _names(function.__code__):
            self.named.add((module, name))
            if assigned or name in uses.changed:
                self.written.add((module, name))
        names = {name for name, _ in _names(function.__code__)}
        for name in names & set(space):
            value = space[name]
            if isinstance(value, types.ModuleType):
                known += self._of_module(value, names)
            elif isinstance(value, _CONTAINERS) and name in uses.read and _is_constant(value):
                self.read[f"object {id(value)}"] = value
            else:
                known.append(value)
        return known

    def _of_module(self, module: types.ModuleType, names: set[str]) -> list[Any]:
        """What code with these names may use of a module."""
        name = module.__name__
        if name in ("random", "secrets") or (name.partition(".")[0] == "numpy" and _random(names)):
            self.marks.add(f"random numbers of {name.partition('.')[0]}")
        if name.partition(".")[0] in ("torch", "tensorflow", "jax") and _random(names):
            self.marks.add(f"random numbers of {name.partition('.')[0]}")
        if not self._is_own(getattr(module, "__file__", None) or ""):
            return []
        space = vars(module)
        self.named |= {(name, key) for key in names & set(space)}
        self.written |= {(name, key) for key in names & set(space) & _uses(module.__file__ or "").changed}
        return [space[key] for key in names & set(space)]

    def _is_own_class(self, kind: type) -> bool:
        module = sys.modules.get(kind.__module__)
        return self._is_own(getattr(module, "__file__", None) or "")

    def _is_own(self, file: str) -> bool:
        """Whether a file is the user's, and not of a package, of Python or of ours."""
        if file in self.home:
            return True
        return os.path.isabs(file) and not file.startswith(_OURS) and "site-packages" not in file


_OURS = (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    os.path.dirname(os.path.abspath(os.__file__)) + os.sep,
)


def _functions_of(reward: Any) -> Iterator[types.FunctionType]:
    """The functions under a reward's wrappers whose files count as the user's, be they in a package or not."""
    while isinstance(reward, functools.partial):
        reward = reward.func
    inner = getattr(reward, "__wrapped__", reward)
    for one in (reward, inner, getattr(inner, "__func__", None), getattr(type(inner), "__call__", None)):  # noqa: B004
        if isinstance(one, types.FunctionType) and not _file(one).startswith(_OURS[0]):
            yield one


def _file(function: types.FunctionType) -> str:
    return function.__code__.co_filename


def _random(names: set[str]) -> bool:
    return any("rand" in name or "seed" in name for name in names)


def _is_empty(cell: Any) -> bool:
    try:
        return cell.cell_contents is None
    except ValueError:
        return True


def _names(code: types.CodeType) -> Iterator[tuple[str, bool]]:
    """The names of globals and attributes that code and what is defined in it uses, and whether it assigns them."""
    pending = [code]
    while pending:
        one = pending.pop()
        yield from ((name, False) for name in one.co_names)
        for step in dis.get_instructions(one):
            if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                yield str(step.argval), True
        pending += [constant for constant in one.co_consts if isinstance(constant, types.CodeType)]


def _assigns_to_itself(kind: type) -> bool:
    """Whether a method besides `__init__` assigns to an attribute."""
    return any(
        isinstance(method, types.FunctionType)
        and name not in ("__init__", "__post_init__", "__new__")
        and any(step.opname == "STORE_ATTR" for step in dis.get_instructions(method))
        for base in kind.__mro__
        for name, method in vars(base).items()
    )


def _is_constant(container: Any) -> bool:
    """Whether a list, dict or set holds nothing that could change."""
    items = container.values() if isinstance(container, dict) else container
    return all(
        isinstance(item, _PLAIN)
        or type(item).__module__ in _HARMLESS_MODULES
        or (isinstance(item, (tuple, frozenset)) and all(isinstance(part, _PLAIN) for part in item))
        for item in items
    )


# ------------------------------------------------------------------------------------------- how names are used

_READING_METHODS = {
    "get", "items", "keys", "values", "index", "count", "copy", "union", "intersection", "difference", "issubset",
    "issuperset", "isdisjoint", "symmetric_difference", "__contains__", "__getitem__", "__len__",
}  # fmt: skip
_READING_FUNCTIONS = {
    "len", "any", "all", "sum", "min", "max", "sorted", "set", "list", "tuple", "frozenset", "dict", "enumerate",
    "zip", "map", "filter", "str", "repr", "isinstance", "bool", "reversed",
}  # fmt: skip
_TAKING_METHODS = {
    "join",
    "format",
    "startswith",
    "endswith",
    "isdisjoint",
    "issubset",
    "issuperset",
    "intersection",
}


class _Uses:
    """How the functions of a file use global names: `read` are only read, `changed` have an attribute or item set."""

    def __init__(self, tree: ast.AST) -> None:
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self.changed: set[str] = set()
        others: set[str] = set()
        seen: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and self._in_function(node):
                seen.add(node.id)
                if self._is_changed(node):
                    self.changed.add(node.id)
                if not self._is_read(node):
                    others.add(node.id)
        self.read = seen - others
        self.parents = {}

    def _in_function(self, node: ast.AST) -> bool:
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                return True
        return False

    def _is_changed(self, node: ast.AST) -> bool:
        """Whether something is set at the end of `NAME.attribute[item]...`."""
        parent = self.parents.get(node)
        while isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is node:
            if not isinstance(parent.ctx, ast.Load):
                return True
            node, parent = parent, self.parents.get(parent)
        return False

    def _is_read(self, node: ast.Name) -> bool:
        parent = self.parents.get(node)
        if not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(parent, ast.Subscript):
            return parent.value is not node or isinstance(parent.ctx, ast.Load)
        if isinstance(parent, ast.Attribute):
            call = self.parents.get(parent)
            return isinstance(call, ast.Call) and call.func is parent and parent.attr in _READING_METHODS
        if isinstance(parent, ast.Call):
            function = parent.func
            if isinstance(function, ast.Attribute):
                return function.attr in _TAKING_METHODS
            return isinstance(function, ast.Name) and function.id in _READING_FUNCTIONS
        if isinstance(parent, (ast.For, ast.comprehension)):
            return parent.iter is node
        if isinstance(parent, (ast.If, ast.While, ast.IfExp)):
            return parent.test is node
        return isinstance(parent, (ast.Compare, ast.BinOp, ast.UnaryOp, ast.Starred, ast.FormattedValue))


@functools.lru_cache(maxsize=256)
def _uses(file: str) -> _Uses:
    """How a file uses its names; where it cannot be read, nothing is known to be only read."""
    try:
        with open(file, "rb") as source:
            return _Uses(ast.parse(source.read()))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return _Uses(ast.Module([], []))
