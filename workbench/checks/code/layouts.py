"""Patterns over tags as the leads read them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from re import _constants, _parser  # type: ignore[attr-defined]  # no public way to a pattern's tree
from typing import Any

from workbench.checks.code.reading import Code
from workbench.checks.robustness.pumps import is_unbounded

METHODS = frozenset(["search", "match", "fullmatch", "findall", "finditer", "sub", "split"])
_TAG = re.compile(r"</?([A-Za-z][\w.-]*)>")


@dataclass(frozen=True)
class Written:
    """A pattern as it is written: its text, flags, where, and the methods it is used with."""

    pattern: str
    flags: int
    line: int
    methods: frozenset[str]

    @property
    def tree(self) -> Any:
        """Python's own tree of it; [] where Python does not accept it."""
        try:
            return _parser.parse(self.pattern, self.flags)
        except (re.error, RecursionError, OverflowError):
            return []

    @property
    def dotall(self) -> bool:
        """Whether a dot takes new lines, by a flag or inside the pattern."""
        state = getattr(self.tree, "state", None)
        return bool((self.flags | (state.flags if state is not None else 0)) & re.DOTALL)

    @property
    def tags(self) -> list[str]:
        """Names of tags written in it, in order."""
        return [match[1] for match in _TAG.finditer(self.pattern.replace("\\", ""))]

    @property
    def endless_dot(self) -> bool:
        """Whether a dot is repeated without bound, so that it stands for any content."""
        return _endless_dot(self.tree)


def _endless_dot(tree: Any) -> bool:
    for op, value in tree:
        if op in (_constants.MAX_REPEAT, _constants.MIN_REPEAT):
            inner = list(value[2])
            if is_unbounded(value[1]) and len(inner) == 1 and inner[0][0] is _constants.ANY:
                return True
            if _endless_dot(inner):
                return True
        elif (op is _constants.SUBPATTERN and _endless_dot(value[3])) or (
            op is _constants.BRANCH and any(_endless_dot(branch) for branch in value[1])
        ):
            return True
    return False


def patterns(code: Code) -> Iterator[Written]:
    """The patterns written as text on the lines that count, and how each is used."""
    used = _methods_of_names(code)
    texts = _texts_of_names(code)
    for call in code.nodes(ast.Call):
        name = code.called(call)
        if not call.args or not name.startswith(("re.", "regex.")):
            continue
        text = _text(call.args[0], texts)
        if text is None or _hidden_flags(call, name):
            continue
        method = name.rpartition(".")[2]
        if method == "compile":
            yield Written(text, _flags(call), call.lineno, frozenset(used.get(_bound_to(code, call), ())))
        elif method in METHODS:
            yield Written(text, _flags(call), call.lineno, frozenset([method]))


def _text(node: ast.expr, names: Mapping[str, str]) -> str | None:
    """A constant text, also where it is put together from constants or stands under a name."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left, names), _text(node.right, names)
        return None if left is None or right is None else left + right
    return None


def _texts_of_names(code: Code) -> dict[str, str]:
    """Names that are given one text in the whole file, and nothing else."""
    given: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(code.tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            given.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.arg):
            given.setdefault(node.arg, []).append(None)
    stored = Counter(
        node.id
        for node in ast.walk(code.tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    )
    texts: dict[str, str] = {}
    for name, values in given.items():
        if len(values) == 1 and values[0] is not None and stored[name] == 1:
            text = _text(values[0], {})
            if text is not None:
                texts[name] = text
    return texts


def _hidden_flags(call: ast.Call, name: str) -> bool:
    """Whether flags are given that are not written out here."""
    at = {"compile": 1, "sub": 4, "split": 3}.get(name.rpartition(".")[2], 2)
    given = [*call.args[at : at + 1], *(word.value for word in call.keywords if word.arg == "flags")]
    return any(isinstance(part, ast.Name) for value in given for part in _leaves(value))


def _leaves(node: ast.expr) -> list[ast.expr]:
    """The parts of flags joined by `|`."""
    return [*_leaves(node.left), *_leaves(node.right)] if isinstance(node, ast.BinOp) else [node]


def _flags(call: ast.Call) -> int:
    flags = 0
    for argument in [*call.args[1:], *(keyword.value for keyword in call.keywords)]:
        for part in ast.walk(argument):
            flag = getattr(re, part.attr, None) if isinstance(part, ast.Attribute) else None
            if isinstance(flag, re.RegexFlag):
                flags |= int(flag)
    return flags & ~int(re.DEBUG)


def _bound_to(code: Code, call: ast.Call) -> str:
    """The name a compiled pattern is given."""
    statement = code.parents.get(call)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return ""


def _methods_of_names(code: Code) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for node in code.nodes(ast.Attribute):
        if isinstance(node.value, ast.Name) and node.attr in METHODS:
            found.setdefault(node.value.id, set()).add(node.attr)
    return found


__all__ = ["Written", "patterns"]
