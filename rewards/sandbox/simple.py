"""Whether test code leaves nothing behind, so that one process can run it for one program after another.

Simple is what only computes: functions, loops, comparisons, calls, names of its own. It imports nothing but modules
that only compute, sets no attribute of anything, reads no private name, and calls nothing that could do these by
another way. Anything else is not simple; that costs time and nothing more.
"""

from __future__ import annotations

import ast
from functools import lru_cache

_MODULES = {
    "bisect", "cmath", "collections", "copy", "datetime", "decimal", "fractions", "functools", "heapq", "itertools",
    "math", "operator", "random", "re", "statistics", "string", "typing",
}  # fmt: skip

_FORBIDDEN_NAMES = {
    "breakpoint", "compile", "delattr", "eval", "exec", "exit", "getattr", "globals", "help", "input", "locals",
    "memoryview", "open", "quit", "setattr", "type", "vars",
}  # fmt: skip

_FORBIDDEN_ATTRIBUTES = {
    "getcontext",
    "setcontext",
    "attrgetter",
    "methodcaller",
    "singledispatch",
    "update_wrapper",
}

_FORBIDDEN = (
    ast.AsyncFunctionDef, ast.ClassDef, ast.AsyncFor, ast.AsyncWith, ast.With, ast.Await, ast.Yield, ast.YieldFrom,
    ast.Global, ast.Nonlocal, ast.Match, ast.Delete,
)  # fmt: skip


@lru_cache(maxsize=2048)
def is_simple(code: str) -> bool:
    """Whether code is simple in that sense; false where it does not parse.

    >>> is_simple("import math\\ndef check(f):\\n    assert math.isclose(f(1), 2)")
    True
    >>> is_simple("import math\\nmath.pi = 3")
    False
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(_is_simple(node) for node in ast.walk(tree))


def _is_simple(node: ast.AST) -> bool:
    if isinstance(node, _FORBIDDEN):
        return False
    if isinstance(node, ast.Import):
        return all(alias.name in _MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        names = {alias.name for alias in node.names}
        return node.module in _MODULES and not node.level and not names & (_FORBIDDEN_ATTRIBUTES | {"*"})
    if isinstance(node, ast.Name):
        return node.id not in _FORBIDDEN_NAMES and not node.id.startswith("__")
    if isinstance(node, ast.Attribute):
        private = node.attr.startswith("_") or node.attr in _FORBIDDEN_ATTRIBUTES
        return isinstance(node.ctx, ast.Load) and not private
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Load) or isinstance(node.value, ast.Name)
    if isinstance(node, ast.FunctionDef):
        return not node.decorator_list
    return True
