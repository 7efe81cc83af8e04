"""The part of a file that a function depends on, read from its code without running it.

Left out are definitions the function does not use: functions, classes and plain assignments that have no effect
besides binding their name. Everything else at module level runs when the file is loaded and may matter, so it
stays. An edit to another reward of the same file then leaves a function's slice as it was.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def words(text: str) -> frozenset[str]:
    """The words of a text, for tables of names."""
    return frozenset(text.split())


HARMLESS_CALLS = words(
    "compile frozenset set dict list tuple sorted len range str int float bool Fraction Decimal namedtuple "
    "TypeVar min max sum abs round field join split strip lower upper format escape"
)
"""Calls that only make a value; named by the last part of what is called."""

_DECORATORS = frozenset(
    ["reward", "dataclass", "cache", "lru_cache", "wraps", "staticmethod", "classmethod", "property"]
)


@dataclass(frozen=True)
class Imported:
    """A name bound by an import: `import a.b` gives module "a.b", `from a import b` module "a" and attribute "b"."""

    module: str
    attribute: str | None
    level: int = 0


@dataclass(frozen=True)
class CodeSlice:
    """What a function depends on in its file.

    `statements` are the module-level statements it needs (the docstring where it reads `__doc__`), `imports` the names
    they use that an import binds, `modules` every import whether used or not, `bound` the names that module-level code
    binds.
    """

    statements: tuple[ast.stmt, ...]
    imports: dict[str, Imported]
    modules: tuple[Imported, ...]
    bound: frozenset[str]

    def text(self) -> str:
        """The slice as text that is equal for equal code, whatever its layout and comments."""
        return "\n".join(ast.dump(statement, include_attributes=False) for statement in self.statements)


def code_slice(tree: ast.Module, names: Iterable[str] | None) -> CodeSlice:
    """The part of a file that these functions need.

    Args:
        tree: the file.
        names: module-level names; None: all of it.
    """
    droppable: dict[str, list[ast.stmt]] = {}
    kept: list[ast.stmt] = []
    imported: dict[str, Imported] = {}
    modules: list[Imported] = []
    own = {statement.name for statement in tree.body if isinstance(statement, Definition)}
    told = docstring(tree)
    if told is not None:
        droppable["__doc__"] = [told]
    for statement in _module_level(tree.body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for name, what in imports_of(statement):
                imported[name] = what
                modules.append(what)
            continue
        bound = _binds_only(statement, own)
        if bound is None or names is None:
            kept.append(statement)
        for name in bound or ():
            droppable.setdefault(name, []).append(statement)
    used = {name for statement in kept for name in names_in(statement)}
    pending = list(used | set(names or ()))
    needed = {id(statement) for statement in kept}
    while pending:
        for statement in droppable.get(pending.pop(), ()):
            if id(statement) not in needed:
                needed.add(id(statement))
                more = names_in(statement) - used
                used |= more
                pending += more
    wanted = used | set(names or ())
    return CodeSlice(
        statements=tuple(
            s for s in (*([told] if told is not None else []), *_module_level(tree.body)) if id(s) in needed
        ),
        imports={name: what for name, what in imported.items() if name in wanted},
        modules=tuple(modules),
        bound=frozenset(droppable) | {name for statement in kept for name in _stored(statement)},
    )


def docstring(tree: ast.Module) -> ast.stmt | None:
    """The statement that is a file's docstring, None where it has none."""
    first = tree.body[0] if tree.body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return first
    return None


def _module_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Module-level statements that run when the file is loaded, without docstrings and the `__main__` block."""
    for statement in body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if isinstance(statement, ast.If) and _asks_for_main(statement.test):
            yield from _module_level(statement.orelse)
            continue
        if isinstance(statement, ast.If) and _is_type_checking(statement.test):
            yield from _module_level(statement.orelse)
            continue
        yield statement


def _asks_for_main(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and len(test.ops) == 1
        and isinstance(test.ops[0], ast.Eq)
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value == "__main__"
    )


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def imports_of(statement: ast.Import | ast.ImportFrom) -> list[tuple[str, Imported]]:
    """The names an import binds, with what they stand for."""
    if isinstance(statement, ast.Import):
        return [
            (alias.asname or alias.name.partition(".")[0], Imported(alias.name, None))
            for alias in statement.names
        ]
    module = statement.module or ""
    return [
        (alias.asname or alias.name, Imported(module, alias.name, statement.level))
        for alias in statement.names
    ]


def names_in(tree: ast.AST) -> set[str]:
    """Every name that is read anywhere in it."""
    return {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _stored(statement: ast.stmt) -> set[str]:
    stored = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del))
    }
    return stored | {node.name for node in ast.walk(statement) if isinstance(node, Definition)}


def _binds_only(statement: ast.stmt, own: set[str]) -> set[str] | None:
    """The names a statement binds where it does nothing else; None for any other statement.

    `own` are the functions of the file, whose calls are never taken for harmless.
    """
    if isinstance(statement, _FUNCTIONS):
        return {statement.name} if _is_plain_function(statement, own) else None
    if isinstance(statement, ast.ClassDef):
        return {statement.name} if _is_plain_class(statement, own) else None
    if isinstance(statement, ast.Assign):
        targets, value = statement.targets, statement.value
    elif isinstance(statement, ast.AnnAssign):
        targets, value = [statement.target], statement.value or ast.Constant(None)
    else:
        return set() if isinstance(statement, ast.Pass) else None
    names: set[str] = set()
    for target in targets:
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        if not all(isinstance(part, ast.Name) for part in parts):
            return None
        names |= {part.id for part in parts if isinstance(part, ast.Name)}
    return names if _makes_a_value(value, own) else None


def _is_plain_function(tree: ast.FunctionDef | ast.AsyncFunctionDef, own: set[str]) -> bool:
    defaults = [*tree.args.defaults, *(default for default in tree.args.kw_defaults if default is not None)]
    return all(map(_is_plain_decorator, tree.decorator_list)) and all(
        _makes_a_value(value, own) for value in defaults
    )


def _is_plain_class(tree: ast.ClassDef, own: set[str]) -> bool:
    if not all(map(_is_plain_decorator, tree.decorator_list)) or tree.keywords:
        return False
    for item in tree.body:
        if isinstance(item, _FUNCTIONS):
            if not _is_plain_function(item, own):
                return False
        elif isinstance(item, (ast.Assign, ast.AnnAssign)):
            if item.value is not None and not _makes_a_value(item.value, own):
                return False
        elif not (
            isinstance(item, ast.Pass)
            or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
        ):
            return False
    return True


def _is_plain_decorator(tree: ast.expr) -> bool:
    called = tree.func if isinstance(tree, ast.Call) else tree
    return last_name(called) in _DECORATORS


def _makes_a_value(tree: ast.expr, own: set[str]) -> bool:
    """Whether evaluating it has no effect besides its value, as far as its form says."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            return False
        if isinstance(node, ast.Call):
            own_function = isinstance(node.func, ast.Name) and node.func.id in own
            if own_function or last_name(node.func) not in HARMLESS_CALLS:
                return False
    return True


def last_name(tree: ast.expr) -> str:
    """`c` of `a.b.c`; "" for anything else than names with dots."""
    if isinstance(tree, ast.Attribute):
        return tree.attr
    return tree.id if isinstance(tree, ast.Name) else ""


def is_builtin(name: str) -> bool:
    """Whether Python itself knows the name."""
    return hasattr(builtins, name)
