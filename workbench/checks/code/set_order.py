"""RW911: a result that depends on the order of a set."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code, is_name
from workbench.checks.subject import RewardSubject


class SetOrder(Lead):
    """Something is taken from a set by its place.

    A set of texts has another order in every process. `list(set(words))[0]`, `next(iter(found))`, `set.pop()`,
    joining a set to a text or cutting it to the first few give another score in another process of the same training.

    Example:
        keywords = list(set(answer.split()))[:3]

    Remedy:
        `sorted(...)`, or `dict.fromkeys(...)`, which keeps the order and drops what comes twice.
    """

    code = "RW911"
    name = "set-order"
    summary = "something is taken from a set by its place"
    advice = "Sort it first, or use dict.fromkeys, which keeps the order."
    proved_by = ("RW202", "RW201")

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """Expressions on sets that depend on their order."""
        sets = _names_of_sets(code)
        places: list[ast.expr | ast.stmt] = [*code.nodes(ast.Subscript), *code.nodes(ast.Call)]
        for node in [*places, *code.nodes(ast.For)]:
            what = _ordered_use(node, sets)
            if what and not _asked_for_size(code, node):
                yield Spot(node.lineno, what, "order of a set")


def _asked_for_size(code: Code, node: ast.AST) -> bool:
    """Whether a condition around it looks at a length: the only item of a set has no order."""
    for outer in code.around(node):
        test = outer.test if isinstance(outer, (ast.If, ast.IfExp)) else None
        if test is not None and any(is_name(part, "len") for part in ast.walk(test)):
            return True
    return False


def _names_of_sets(code: Code) -> set[str]:
    """Names that are only ever given sets."""
    given: dict[str, list[bool]] = {}
    for node in code.nodes(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                given.setdefault(target.id, []).append(_is_set(node.value, set()))
    return {name for name, kinds in given.items() if all(kinds)}


def _is_set(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitOr, ast.BitAnd, ast.Sub)):
        return _is_set(node.left, names)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("set", "frozenset")
    return isinstance(node, ast.Name) and node.id in names


def _ordered_use(node: ast.expr | ast.stmt, sets: set[str]) -> str:
    if isinstance(node, ast.Subscript):
        listed = node.value
        if _first_argument(listed, "list", "tuple", sets=sets):
            return "takes items of a set by their place"
    if isinstance(node, ast.Call):
        inner = node.args[0] if node.args else None
        if is_name(node.func, "next") and _first_argument(inner, "iter", sets=sets):
            return "takes any one item of a set"
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method == "join" and inner is not None and _is_set(inner, sets):
            return "joins a set to a text"
        if (
            method == "pop"
            and not node.args
            and isinstance(node.func, ast.Attribute)
            and _is_set(node.func.value, sets)
        ):
            return "takes any one item of a set"
    if isinstance(node, ast.For) and _is_set(node.iter, sets):
        inside = (part for statement in node.body for part in ast.walk(statement))
        if any(isinstance(part, (ast.Break, ast.Return)) for part in inside) and not _same_whatever(node):
            return "stops in the middle of a set"
    return ""


def _first_argument(node: ast.AST | None, *names: str, sets: set[str]) -> bool:
    """Whether it is a call of one of these names on a set."""
    return (
        isinstance(node, ast.Call)
        and is_name(node.func, *names)
        and bool(node.args)
        and _is_set(node.args[0], sets)
    )


def _same_whatever(loop: ast.For) -> bool:
    """Whether what it returns on the way is a constant: "is there one" does not depend on the order."""
    returns = [
        part for statement in loop.body for part in ast.walk(statement) if isinstance(part, ast.Return)
    ]
    breaks = any(isinstance(part, ast.Break) for statement in loop.body for part in ast.walk(statement))
    return not breaks and all(part.value is None or isinstance(part.value, ast.Constant) for part in returns)
