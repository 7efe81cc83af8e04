"""RW204: a row's score depends on the other rows of the call."""

from __future__ import annotations

from workbench.checks.finding import Cost, Severity
from workbench.checks.laws.unsteady import Unsteady
from workbench.checks.steadiness import Steadiness
from workbench.checks.subject import RewardSubject


class BatchDependent(Unsteady):
    """A row gets another score when other rows stand beside it.

    The trainer decides which rows share a call: it depends on the batch size, on the number of processes, on
    the order of the data. A reward that divides by the best row of the batch, ranks, or counts duplicates across
    prompts pays the same completion differently for reasons outside it. Comparing the completions of one prompt
    can be meant; a reward that says so with `scope = "group"` is only held to not looking at other prompts. One that
    does not say so is tried with a row beside rows of other prompts alone: what moves then is no comparison in a group.

    Example:
        top = max(raw)
        return [value / top for value in raw]       # 0.13 beside a good row, 1.0 alone

    Remedy:
        Score each row from its own columns. TRL already compares within the group; a reward that is meant to do it
        itself declares scope = "group".
    """

    code = "RW204"
    name = "batch-dependent"
    severity = "error"
    summary = "a row's score depends on the other rows of the call"
    cost = Cost.TEACHES_WRONG
    version = 2
    causes = ("company", "group")
    advice = (
        'Score each row from its own text and columns, or declare scope = "group" if completions of one prompt are '
        "meant to be compared."
    )
    expected = "the same score with other neighbours"

    def level(self, found: Steadiness) -> Severity:
        """Comparing the completions of one prompt, without a word about it, may be meant."""
        return "info" if found.cause == "group" else "error"

    def sentence(self, subject: RewardSubject, found: Steadiness, first: str, then: str) -> str:
        """The score in the batch and apart from it."""
        if found.cause == "group":
            return (
                f"{subject.name} compares completions of one prompt: a row gets {first} beside some and {then} "
                'beside others, and scope = "group" is not declared.'
            )
        whole = "its own group" if subject.description.entry.scope == "group" else "fewer rows"
        return (
            f"{subject.name} scores a row by its neighbours: the same completion gets {first} in one call "
            f"with the other samples and {then} in a call with {whole}."
        )
