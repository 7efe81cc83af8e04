"""What is known of an expression before it runs: where it stands, and which tests decide whether it runs.

The rewriter gives every expression it watches a number; the running code hands that number to the recorder,
and everything that follows from the text alone is looked up here.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class SourceFile:
    """One instrumented file: its lines, and how often each statement ran."""

    path: Path
    lines: list[str]
    hits: list[int] = field(default_factory=list)
    statements: list[int] = field(default_factory=list)  # the line of each counter in `hits`
    settings: dict[str, Any] = field(
        default_factory=dict
    )  # numbers and tables the file assigns once, by name
    ceilings: dict[Any, float | None] = field(default_factory=dict)  # the most its functions can give

    def segment(self, node: ast.AST) -> str:
        """The text of a node on one line, as it was written."""
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", None) or 0
        if not 0 < first <= last <= len(self.lines):
            return ast.unparse(node)
        start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        rows = [line.encode() for line in self.lines[first - 1 : last]]
        if len(rows) == 1:
            rows[0] = rows[0][start:end]
        else:
            rows[0], rows[-1] = rows[0][start:], rows[-1][:end]
        return " ".join(" ".join(row.decode("utf-8", "replace").strip() for row in rows).split())


@dataclass(frozen=True)
class Branches:
    """What an `if` decides: the statement, those behind it in its block, and the variables these are about.

    `names`: each variable with its key, as the scope finds it; `settings`: names of the file's own numbers and tables.
    """

    tree: ast.If
    behind: tuple[ast.stmt, ...]
    names: tuple[tuple[str, tuple[str, int]], ...]
    settings: frozenset[str]


@dataclass
class Node:
    """One watched expression, statement or function.

    `guard`: the test that decides whether this runs (0: none inside the function); `hard`: the same, without
    tests that decide it only by leaving early; `kids`: the numbers of its operands; `extra`: what its kind
    needs; `assigned`: the variable or key its value is stored under; `of_lambda`: it is what a lambda gives back.
    """

    kind: str
    file: SourceFile
    tree: ast.AST
    guard: int = 0
    hard: int = 0
    kids: tuple[int, ...] = ()
    extra: Any = None
    function: int = 0
    assigned: str = ""
    of_lambda: bool = False
    _text: str | None = None

    @property
    def line(self) -> int:
        """The line it starts on."""
        return getattr(self.tree, "lineno", 0)

    @property
    def text(self) -> str:
        """The source of the expression on one line."""
        if self._text is None:
            self._text = self.file.segment(self.tree)
        return self._text


NODES: list[Node] = [Node("none", SourceFile(Path(), []), ast.Pass())]
"""Every watched node of every file instrumented in this process; a node's number is its place."""

FILES: list[SourceFile] = []


def add_node(node: Node) -> int:
    """Register a node and return its number."""
    NODES.append(node)
    return len(NODES) - 1


def add_file(path: Path, source: str) -> int:
    """Register a file and return its number."""
    FILES.append(SourceFile(path, source.split("\n")))  # not splitlines: a form feed ends no line of code
    return len(FILES) - 1
