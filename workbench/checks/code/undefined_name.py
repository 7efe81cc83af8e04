"""RW904: a name that nothing defines."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator

from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code
from workbench.checks.subject import RewardSubject

MODULE_NAMES = frozenset(
    ["__file__", "__name__", "__doc__", "__package__", "__spec__", "__loader__", "__builtins__", "__path__",
     "__annotations__", "__debug__", "__class__", "WindowsError"]
)  # fmt: skip


class UndefinedName(Lead):
    """The code reads a name that is defined nowhere in the file.

    When that line runs it raises NameError, on the first completion that takes this way: perhaps the first right one,
    after hours. Files with `from x import *`, or that change their own names at run time, are not read.

    Example:
        if answer is None:
            return [defualt] * len(completions)      # only when a row has no answer

    Remedy:
        Correct the spelling, or import the name.
    """

    code = "RW904"
    name = "undefined-name"
    summary = "a name is read that nothing defines"
    advice = "Correct the spelling, or define or import the name: the line raises NameError when it runs."
    proved_by = ("RW110", "RW126", "RW214", "RW501")

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """The first use of each unknown name."""
        known = _module_level(code.tree)
        if known is None:
            return
        try:
            table = symtable.symtable(subject.source.text, subject.source.name or "reward", "exec")
        except (SyntaxError, ValueError):
            return
        unknown = {name for name in _globals_read(table) if name not in known}
        seen: set[str] = set()
        for node in code.nodes(ast.Name):
            new = node.id in unknown and node.id not in seen and isinstance(node.ctx, ast.Load)
            if new and not _is_tried(code, node):
                seen.add(node.id)
                yield Spot(node.lineno, f"reads {node.id}, which nothing defines", f"undefined {node.id}")


def _module_level(tree: ast.Module) -> set[str] | None:
    """Names that the module has; None where they cannot be known from the text."""
    names = {*dir(builtins), *MODULE_NAMES}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            return None
        if isinstance(node, ast.Name) and node.id in ("globals", "exec", "locals", "vars"):
            return None
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__" and node in tree.body:
            return None
        if isinstance(node, ast.Global):
            names.update(node.names)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
    table = symtable.symtable(ast.unparse(tree), "reward", "exec") if tree.body else None
    if table is not None:
        names.update(
            s.get_name()
            for s in table.get_symbols()
            if s.is_assigned() or s.is_imported() or s.is_namespace()
        )
    return names


def _globals_read(table: symtable.SymbolTable) -> Iterator[str]:
    """Names that functions of the file look up in the module."""
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module"):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _globals_read(child)


def _is_tried(code: Code, node: ast.AST) -> bool:
    """Whether a `try` around it expects the NameError."""
    return any(
        isinstance(outer, ast.Try)
        and any("NameError" in ast.unparse(handler.type) for handler in outer.handlers if handler.type)
        for outer in code.around(node)
    )
