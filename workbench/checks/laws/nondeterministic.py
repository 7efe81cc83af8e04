"""RW201: the same call, another score."""

from __future__ import annotations

from workbench.checks.finding import Cost
from workbench.checks.laws.unsteady import Unsteady
from workbench.checks.steadiness import Steadiness
from workbench.checks.subject import RewardSubject


class Nondeterministic(Unsteady):
    """The same rows get other scores in a repeated call, in a fresh process, or at another time of day.

    Advantages are differences within a group. Chance in the scores is a difference that no completion earned:
    the policy is pushed about by it, and a finding or a run cannot be repeated. A reward that is meant to vary
    (a sampled judge) says so with `deterministic = false` and is left alone here.

    Example:
        return [hit + random.random() * 0.05 for hit in hits]     # "to break ties"

    Remedy:
        Take chance and clock out, or draw from a generator seeded by the text: `random.Random(zlib.crc32(...))`.
    """

    code = "RW201"
    name = "nondeterministic"
    severity = "error"
    summary = "the same rows get another score in a repeated call"
    cost = Cost.TEACHES_WRONG
    causes = ("random", "clock")
    advice = (
        "Take chance and clock out of the score, or seed a generator of its own from the text; if it is meant to vary, "
        "declare deterministic = false."
    )

    def sentence(self, subject: RewardSubject, found: Steadiness, first: str, then: str) -> str:
        """The two scores of one row."""
        when = "at another time of day" if found.cause == "clock" else "on repeated calls"
        return (
            f"{subject.name} gives the same completion different scores {when}: {first}, then {then} "
            f"({found.moved} of {found.tried} rows moved)."
        )
