"""The patterns written in a reward's file, tried on the samples inside the worker."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from rewards.contract import completion_text, unwrap
from workbench.checks.observing import batch_of, reward_named

FUNCTIONS = ("search", "match", "fullmatch", "findall", "finditer", "compile", "split", "sub")
_ANCHORED = {"match": "match", "fullmatch": "fullmatch"}


def unmatched(context: Any, *, reward: str, rows: list[int], lines: list[int]) -> list[dict[str, Any]]:
    """The patterns given as text to functions of `re` on these lines of the reward's file, where none matches.

    [] as soon as one matches in a completion of `rows`: helpers hold patterns for forms that need not occur.
    """
    function, _ = reward_named(context, reward)
    inner = unwrap(function)
    code = getattr(inner, "__code__", None) or getattr(type(inner).__call__, "__code__", None)
    if code is None:
        return []
    texts = [completion_text(completion) for completion in batch_of(context, rows).completions]
    found = []
    for name, pattern, flags, line in written_patterns(Path(code.co_filename)):
        if line not in lines:
            continue
        try:
            compiled = re.compile(pattern, flags)
        except re.error:
            continue
        attempt = getattr(compiled, _ANCHORED.get(name, "search"))
        if any(attempt(text) for text in texts):
            return []
        found.append({"pattern": pattern, "line": line})
    return found


def written_patterns(file: Path) -> list[tuple[str, str, int, int]]:
    """(function, pattern, flags, line) of each `re.FUNCTION("...")` in a file; only names of flags are understood."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    found = []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        first = node.args[0]
        of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
        if (
            of_re
            and node.func.attr in FUNCTIONS
            and isinstance(first, ast.Constant)
            and isinstance(first.value, str)
        ):
            flags = 0
            for argument in [*node.args[1:], *(keyword.value for keyword in node.keywords)]:
                for part in ast.walk(argument):
                    if isinstance(part, ast.Attribute) and isinstance(
                        getattr(re, part.attr, None), re.RegexFlag
                    ):
                        flags |= int(getattr(re, part.attr))
            found.append((node.func.attr, first.value, flags, node.lineno))
    return found


__all__ = ["unmatched", "written_patterns"]
