"""RW207: a column that the reward has nothing to do with changes its scores."""

from __future__ import annotations

from workbench.checks.finding import Cost
from workbench.checks.laws.unsteady import Unsteady
from workbench.checks.steadiness import Steadiness
from workbench.checks.subject import RewardSubject


class UndeclaredColumn(Unsteady):
    """A column more in the data changes the scores.

    The trainer passes every column of the data set. A reward that looks at how many there are, or joins all of
    them into one text, scores differently as soon as somebody adds a column. It should name the columns it reads
    and let the others pass in the keyword rest.

    Example:
        gold = " ".join(str(values[i]) for values in kwargs.values())

    Remedy:
        Name the columns that are read as arguments, and ignore the rest of the keywords.
    """

    code = "RW207"
    name = "undeclared-column"
    severity = "warning"
    summary = "a column the reward does not name changes its scores"
    cost = Cost.HAMPERS
    causes = ("extra",)
    advice = "Name the columns that are read as arguments, and ignore the rest of the keywords."
    expected = "the same score with a column more"

    def sentence(self, subject: RewardSubject, found: Steadiness, first: str, then: str) -> str:
        """The scores without and with it."""
        return (
            f"{subject.name} scores differently when the data have a column more: {first}, and {then} with a column "
            "'data_source_note' that it does not name."
        )
