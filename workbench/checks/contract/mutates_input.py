"""RW121: the lists handed over are changed."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import RewardCheck, difference
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject


class MutatesInput(RewardCheck):
    """The reward changes the prompts, completions or columns it was given.

    TRL hands the same lists to every reward and to the log. What one reward strips, sorts or appends in place
    is what the next reward judges and what is written down, and which reward comes first decides the scores.

    Example:
        for message in completion:
            message["content"] = message["content"].strip()

    Remedy:
        Work on a copy: `text = message["content"].strip()`, `sorted(values)` instead of `values.sort()`.
    """

    code = "RW121"
    name = "mutates-input"
    severity = "error"
    summary = "prompts, completions or columns are changed in place"
    cost = Cost.RUINS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each list that was changed."""
        seen = subject.observation
        rows = subject.few()
        for change in seen["mutated"] if seen else []:
            row = rows[change["row"]] if change["row"] is not None else rows[0]
            before, after = difference(change["before"], change["after"])
            yield self.finding(
                f"{subject.name} changes {change['what']} in place: {before} became {after}.",
                advice="Work on a copy; the next reward and the log see the changed lists.",
                cause=change["what"],
                reward=subject.name,
                evidence=subject.evidence(row, got=change["after"], expected=change["before"]),
                line=subject.description.line,
                count=max(1, change["rows"]),
            )
