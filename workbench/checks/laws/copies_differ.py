"""RW206: the same completion twice in one call, with two scores."""

from __future__ import annotations

from workbench.checks.finding import Cost
from workbench.checks.laws.unsteady import Unsteady
from workbench.checks.steadiness import Steadiness
from workbench.checks.subject import RewardSubject


class CopiesDiffer(Unsteady):
    """Of two equal rows in one call, one earns more.

    A policy that has learnt its task writes the same completion several times within a group. A reward that
    gives only the first of them its due, or any of them less than it would get alone, makes an advantage out of
    the place in the batch. Where duplicates within a group are meant to earn less, the reward declares
    `scope = "group"`.

    Example:
        score = 0.0 if text in seen else judge(text)
        seen.add(text)                                  # the first copy is paid, the others are not

    Remedy:
        Score every copy alike; if diversity is meant, declare scope = "group" and treat all copies the same.
    """

    code = "RW206"
    name = "copies-differ"
    severity = "error"
    summary = "equal rows in one call get different scores"
    cost = Cost.TEACHES_WRONG
    causes = ("copies",)
    advice = 'Score every copy alike; if diversity within a group is meant, declare scope = "group".'
    expected = "the same score for equal rows"

    def sentence(self, subject: RewardSubject, found: Steadiness, first: str, then: str) -> str:
        """The scores of the two copies."""
        return f"{subject.name} gives two copies of a completion in one call different scores: {first} and {then}."
