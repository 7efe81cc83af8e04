"""RW909: the ground truth is looked for somewhere in the text."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code
from workbench.checks.subject import RewardSubject


class SubstringTest(Lead):
    """The ground truth is looked for with `in`, anywhere in a text.

    "4" stands in "42", in "the year 1994", in a list of all candidates and in "it is not 4". Reported where a column
    of the samples itself is looked for; a finding that shows a completion paid for it takes the note in.

    Example:
        scores.append(1.0 if str(answer) in text else 0.0)

    Remedy:
        Read the answer from its place and compare it whole.
    """

    code = "RW909"
    name = "substring-test"
    summary = "the ground truth is looked for anywhere in the text"
    advice = "Read the answer from its place in the completion and compare it whole."
    proved_by = ("RW403", "RW308", "RW309", "RW310", "RW305", "RW301")

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """`gold in text`, where `gold` is a value of a column and `text` no list of words."""
        columns = set(subject.reads)
        if not columns or code.reward is None or subject.task.programs:
            return
        golds = gold_names(code.reward, columns)
        for node in code.nodes(ast.Compare):
            if len(node.ops) == 1 and isinstance(node.ops[0], ast.In):
                name = _name_of(node.left)
                if name in golds and _is_text(node.comparators[0]):
                    yield Spot(node.lineno, f"looks for '{name}' anywhere in the text", f"in {name}")


def gold_names(function: ast.AST, columns: set[str]) -> set[str]:
    """Names that loop over a column: `for c, a in zip(completions, answer)` gives a."""
    found: set[str] = set()
    for node in ast.walk(function):
        if not isinstance(node, (ast.For, ast.comprehension)):
            continue
        target, source = node.target, node.iter
        if isinstance(source, ast.Name) and source.id in columns and isinstance(target, ast.Name):
            found.add(target.id)
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "zip":
            names = target.elts if isinstance(target, ast.Tuple) else []
            for part, value in zip(names, source.args, strict=False):
                if isinstance(value, ast.Name) and value.id in columns and isinstance(part, ast.Name):
                    found.add(part.id)
    return found


def _name_of(node: ast.expr) -> str:
    """`a` of a, str(a), a.lower(), a.strip().lower(); "" for anything else."""
    while isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and not node.args:
            node = node.func.value
        elif isinstance(node.func, ast.Name) and node.func.id == "str" and len(node.args) == 1:
            node = node.args[0]
        else:
            return ""
    return node.id if isinstance(node, ast.Name) else ""


def _is_text(node: ast.expr) -> bool:
    """Whether it may be a text: no list, set, dictionary, and nothing split into words."""
    if isinstance(
        node, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.GeneratorExp)
    ):
        return False
    name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    return name not in ("split", "splitlines", "findall", "keys", "values", "items")
