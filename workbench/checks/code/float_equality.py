"""RW910: sums of floats compared with ==."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code
from workbench.checks.subject import RewardSubject


class FloatEquality(Lead):
    """The result of arithmetic with fractions is compared with `==`.

    0.1 + 0.2 is not 0.3 to a computer. A sum of partial credits compared with the full mark, or a quotient with a
    number, fails now and then for no reason a reader can see. Comparing two numbers as they were read (`float(a) ==
    float(b)`) is exact and not reported.

    Example:
        if 0.1 + 0.2 * found == 0.7:
            score = 1.0

    Remedy:
        `math.isclose(a, b)`, or count in whole numbers.
    """

    code = "RW910"
    name = "float-equality"
    summary = "a result of arithmetic with fractions is compared with =="
    advice = "Use math.isclose, or count in whole numbers and divide at the end."
    proved_by = ("RW402", "RW401", "RW703")

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """Comparisons in which one side is computed with fractions."""
        for node in code.nodes(ast.Compare):
            sides = [node.left, *node.comparators]
            equal = any(isinstance(op, (ast.Eq, ast.NotEq)) for op in node.ops) and any(
                map(_is_computed, sides)
            )
            if equal and not any(isinstance(side, ast.Constant) and side.value in (0, 1) for side in sides):
                yield Spot(
                    node.lineno, f"compares a computed fraction with == ({ast.unparse(node)})", "equality"
                )


def _is_computed(node: ast.expr) -> bool:
    """A sum, difference, product or quotient in which a fraction stands."""
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        return any(isinstance(part, ast.Constant) and isinstance(part.value, float) and not part.value.is_integer()
                   for part in ast.walk(node))  # fmt: skip
    return isinstance(node.op, ast.Div)
