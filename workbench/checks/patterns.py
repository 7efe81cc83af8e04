"""The patterns written in a reward's file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

FUNCTIONS = ("search", "match", "fullmatch", "findall", "finditer", "compile", "split", "sub")


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


__all__ = ["written_patterns"]
