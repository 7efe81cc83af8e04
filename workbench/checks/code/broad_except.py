"""RW903: an except clause that turns any mistake into a score."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code
from workbench.checks.subject import RewardSubject

BROAD = frozenset(["Exception", "BaseException"])


class BroadExcept(Lead):
    """A bare `except`, or one for every exception, gives a score.

    Whatever goes wrong in the block, a misspelt name or a missing column among it, becomes "the answer is bad". The
    run then goes on and teaches nothing. Narrow clauses (`except ValueError`) and those that raise again or say what
    happened are not reported.

    Example:
        try:
            return float(parse(text) == gold)
        except:
            return 0.0

    Remedy:
        Catch what is expected: `except (ValueError, ZeroDivisionError):`.
    """

    code = "RW903"
    name = "broad-except"
    summary = "an except clause for everything gives a score"
    advice = "Catch only what is expected there, as `except ValueError:`."
    proved_by = ("RW126", "RW506")

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """Handlers that swallow everything."""
        for handler in code.nodes(ast.ExceptHandler):
            if _is_broad(handler.type) and _swallows(handler):
                what = (
                    "every exception"
                    if handler.type is not None
                    else "everything, also the end of the program,"
                )
                yield Spot(handler.lineno, f"catches {what} and goes on", "catches everything")


def _is_broad(kind: ast.expr | None) -> bool:
    names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(name is None or (isinstance(name, ast.Name) and name.id in BROAD) for name in names)


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Whether the handler neither raises, nor uses the exception, nor calls anything that could tell of it."""
    for node in [part for statement in handler.body for part in ast.walk(statement)]:
        if isinstance(node, ast.Raise):
            return False
        if isinstance(node, ast.Name) and node.id == handler.name:
            return False
        if isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Attribute) and node.func.attr == "append"
        ):
            return False
    return True
