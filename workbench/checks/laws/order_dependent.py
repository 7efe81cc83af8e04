"""RW205: a row's score depends on its place in the batch."""

from __future__ import annotations

from workbench.checks.finding import Cost
from workbench.checks.laws.unsteady import Unsteady
from workbench.checks.steadiness import Steadiness
from workbench.checks.subject import RewardSubject


class OrderDependent(Unsteady):
    """The same rows in another order get other scores.

    Typical are a column read at the wrong place (`answer[0]` for every row, an index that runs apart from the
    completions), a comparison with the row before, or results sorted on the way. Each row has to be scored with
    its own columns, wherever it stands in the call.

    Example:
        return [float(text == answer[0]) for text in texts]       # the first row's ground truth for all

    Remedy:
        Walk over completions and columns together: `for completion, gold in zip(completions, answer)`.
    """

    code = "RW205"
    name = "order-dependent"
    severity = "error"
    summary = "a row's score depends on its place in the batch"
    cost = Cost.TEACHES_WRONG
    version = 2
    causes = ("order",)
    advice = "Walk over completions and columns together with zip, and use nothing of other rows."
    expected = "the same score in any order"

    def sentence(self, subject: RewardSubject, found: Steadiness, first: str, then: str) -> str:
        """The scores in both orders."""
        return (
            f"{subject.name} scores a row by its place in the batch or by its neighbours: the same completion gets "
            f"{first}, and {then} with the rows in another order ({found.moved} of {found.tried} rows moved)."
        )
