"""RW908: the first of several answers is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code
from workbench.checks.subject import RewardSubject

_FIRST = frozenset([".find", ".index", ".partition"])


class FirstMatch(Lead):
    """The first answer in a completion is read, where the last one counts.

    `re.search`, `findall(...)[0]`, `split(tag)[1]` and `str.find` take the first place. A model that reconsiders
    writes its final answer behind the first one, and one that cheats the other way round. Told with a finding that
    shows a completion judged by the wrong one.

    Example:
        answer = re.search(r"<answer>(.*?)</answer>", text).group(1)

    Remedy:
        `re.findall(...)[-1]`, `text.rpartition("<answer>")`.
    """

    code = "RW908"
    name = "first-match"
    summary = "the first of several answers is read"
    advice = "Read the last one: findall(...)[-1], or rpartition."
    proved_by = ("RW310", "RW406")
    alone = False

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """Expressions that take the first place."""
        for node in code.nodes(ast.Subscript):
            if isinstance(node.slice, ast.Constant) and isinstance(node.value, ast.Call):
                name = code.called(node.value).rpartition(".")[2]
                if (name == "findall" and node.slice.value == 0) or (
                    name == "split" and node.slice.value == 1
                ):
                    yield Spot(node.lineno, f"takes the first of several places ({name})", "first")
        for call in code.nodes(ast.Call):
            name = code.called(call)
            if name in ("re.search", "regex.search") or (name == ".search" and call.args):
                yield Spot(call.lineno, "takes the first of several places (search)", "first")
            elif name in _FIRST and call.args and _is_mark(call.args[0]):
                yield Spot(call.lineno, f"takes the first of several places ({name[1:]})", "first")


def _is_mark(node: ast.expr) -> bool:
    """A written mark of an answer: a tag, a box, ####, a label."""
    text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
    return text.startswith(("<", "\\boxed", "####", "```")) or text.rstrip().endswith(":")
