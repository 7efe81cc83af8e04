"""A reward's code as the leads read it: the statements it can run, with parents and names.

Only the reward's own file is read, and of it the reward, what it names in that file, and what those name. Nothing
is run.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from workbench.checks.subject import RewardSubject

Function = ast.FunctionDef | ast.AsyncFunctionDef
Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True)
class Code:
    """The part of a file that a reward can run.

    `tree` is the whole file, `lines` the lines that count, `line` where the reward is defined.
    """

    tree: ast.Module
    lines: frozenset[int]
    line: int | None

    @classmethod
    def of(cls, subject: RewardSubject) -> Code:
        """The code of a reward; empty where it has no file."""
        line = subject.description.line
        if subject.description.file is None or line is None:
            return cls(ast.Module([], []), frozenset(), None)
        return cls(subject.source.tree, frozenset(subject.source.lines_used(line)), line)

    def nodes(self, *kinds: type[Node]) -> Iterator[Node]:
        """The nodes of these kinds on the lines that count, in the order of the file."""
        found = (node for node in ast.walk(self.tree) if isinstance(node, kinds))
        yield from sorted(
            (node for node in found if getattr(node, "lineno", 0) in self.lines),
            key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)),
        )

    @property
    def functions(self) -> list[Function]:
        """Functions and methods on the lines that count."""
        return [*self.nodes(ast.FunctionDef), *self.nodes(ast.AsyncFunctionDef)]

    @functools.cached_property
    def reward(self) -> Function | None:
        """The function that is called: the one defined on the reward's line, or the `__call__` of its class."""
        for node in ast.walk(self.tree):
            first = min(
                [getattr(node, "lineno", 0), *(d.lineno for d in getattr(node, "decorator_list", []))]
            )
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            if first <= (self.line or 0) <= (node.end_lineno or 0):
                if not isinstance(node, ast.ClassDef):
                    return node
                return next((m for m in node.body if isinstance(m, Function) and m.name == "__call__"), None)
        return None

    @functools.cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node around each node."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, the nearest first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def in_function(self, node: ast.AST) -> bool:
        """Whether it runs when something is called, and not when the file is loaded."""
        return any(
            isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            for outer in self.around(node)
        )

    @functools.cached_property
    def modules(self) -> dict[str, str]:
        """What each imported name stands for, with dots: `np` is "numpy", `search` of re is "re.search"."""
        named: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                named.update(
                    (
                        alias.asname or alias.name.partition(".")[0],
                        alias.name if alias.asname else alias.name.partition(".")[0],
                    )
                    for alias in node.names
                )
            elif isinstance(node, ast.ImportFrom) and not node.level:
                named.update(
                    (alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names
                )
        return named

    def called(self, call: ast.Call) -> str:
        """The full name of what is called ("random.choice", "open", ".split"); "" where it has none.

        A method of anything that is no imported module is its name behind a dot.
        """
        return self.named(call.func)

    def named(self, node: ast.expr) -> str:
        """The full name of an expression of names and dots; see `called`."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            if node.id in self.modules:
                return ".".join([self.modules[node.id], *reversed(parts)])
            return node.id if not parts else f".{parts[0]}"
        return f".{parts[0]}" if parts else ""


def is_name(node: ast.AST | None, *names: str) -> bool:
    """Whether a node is one of these plain names."""
    return isinstance(node, ast.Name) and node.id in names


def method_on(node: ast.AST, name: str) -> str:
    """`m` where the node is the call NAME.m(...); "" otherwise."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_name(node.func.value, name):
        return node.func.attr
    return ""


__all__ = ["Code", "Function", "is_name", "method_on"]
