"""A reward's file as text: what line an error is of, which lines a reward can run, how a statement reads."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass
from pathlib import Path

_PLACE = re.compile(r" \((?P<file>[^()]*?):(?P<line>\d+)\)$")


@dataclass(frozen=True)
class Source:
    """A reward's file as text, for pointing at lines; empty where there is none."""

    name: str = ""
    text: str = ""

    @classmethod
    def read(cls, file: str | None) -> Source:
        """The file, or nothing where it cannot be read."""
        if file is None:
            return cls()
        path = Path(file)
        try:
            return cls(path.name, path.read_text(encoding="utf-8", errors="replace"))
        except OSError:
            return cls(path.name)

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; empty where the text is no Python."""
        try:
            return ast.parse(self.text)
        except (SyntaxError, ValueError):
            return ast.Module([], [])

    def lines_used(self, line: int | None) -> set[int]:
        """The lines a reward defined on `line` can run: its own and those of what it names in this file."""
        if line is None:
            return set(range(1, self.text.count("\n") + 2))
        named = _module_names(self.tree)
        pending = [node for node in named.values() if _first(node) <= line <= (node.end_lineno or 0)]
        used: dict[int, ast.stmt] = {}
        while pending:
            node = pending.pop()
            if node.lineno in used:
                continue
            used[node.lineno] = node
            names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            pending += [named[name] for name in names if name in named]
        return {
            number for node in used.values() for number in range(_first(node), (node.end_lineno or 0) + 1)
        }

    def line_of(self, error: str) -> int | None:
        """The line an error sentence ends with, if it is of this file."""
        found = _PLACE.search(error)
        return int(found["line"]) if found and found["file"] == self.name else None

    def without_place(self, error: str) -> str:
        """An error sentence without the place at its end."""
        return _PLACE.sub("", error)

    def statement(self, line: int | None) -> str:
        """The innermost simple statement on a line, in a form that layout and comments do not change."""
        best: ast.stmt | None = None
        for node in ast.walk(self.tree):
            around = (
                isinstance(node, ast.stmt)
                and line is not None
                and node.lineno <= line <= (node.end_lineno or 0)
            )
            if around and isinstance(node, ast.stmt) and (best is None or node.lineno >= best.lineno):
                best = node
        if best is None:
            return ""
        return ast.unparse(best).split("\n")[0]


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _module_names(tree: ast.Module) -> dict[str, ast.stmt]:
    """What is defined at the top of a file, by name."""
    named: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            named[node.name] = node
        elif isinstance(node, ast.Assign):
            named.update(
                (part.id, node)
                for target in node.targets
                for part in ast.walk(target)
                if isinstance(part, ast.Name)
            )
    return named


def reason_of(error: str) -> str:
    """The exception's class name of an error sentence."""
    return error.partition(":")[0].partition(" ")[0]


__all__ = ["Source", "reason_of"]
