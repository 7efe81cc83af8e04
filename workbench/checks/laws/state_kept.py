"""RW203: an earlier call changes the scores of a later one."""

from __future__ import annotations

from workbench.checks.finding import Cost
from workbench.checks.laws.unsteady import Unsteady
from workbench.checks.steadiness import Steadiness
from workbench.checks.subject import RewardSubject


class StateKept(Unsteady):
    """The reward keeps something between calls that changes later scores.

    A running mean, a list of answers already seen, a counter, a cache whose key leaves out the completion: the
    score then says when a completion came, not how good it is. With several processes each has a state of its
    own, and a resumed run starts with none. A cache of a pure function is fine and is not reported.

    Example:
        _seen = {"n": 0, "sum": 0.0}
        out.append(hit - _seen["sum"] / max(1, _seen["n"]))      # the same call gives less the second time

    Remedy:
        Compute the score from the row alone. TRL already subtracts the group's mean; what must vary during training can
        read `trainer_state.global_step`.
    """

    code = "RW203"
    name = "state-kept"
    severity = "error"
    summary = "an earlier call changes the scores of a later one"
    cost = Cost.TEACHES_WRONG
    causes = ("state", "memory")
    advice = (
        "Compute the score from the row alone, without module variables; the key of a cache must hold everything "
        "the score depends on, the completion included."
    )

    def sentence(self, subject: RewardSubject, found: Steadiness, first: str, then: str) -> str:
        """The two scores of one row."""
        if found.cause == "memory":
            return (
                f"{subject.name} gives a completion the score of an earlier one: {first} after another completion "
                f"of the same prompt, {then} when it is scored first (state is kept between rows or calls)."
            )
        return (
            f"{subject.name} keeps state between calls: the same call gives the same completion {first} at first and "
            f"{then} later ({found.moved} of {found.tried} rows moved)."
        )
