"""RW125: a data column with a name TRL uses itself."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import SetCheck
from workbench.checks.finding import Cost, Evidence, Finding
from workbench.checks.subject import SetSubject

CRASHING = ("prompts", "completions")
OVERWRITTEN = ("trainer_state", "log_extra", "log_metric")
DROPPED = ("completion_ids",)


class ReservedColumn(SetCheck):
    """A column of the data has a name that TRL's call uses for something else.

    A column `prompts` or `completions` ends the run at the first call ("got multiple values for keyword
    argument"), one called `trainer_state`, `log_extra` or `log_metric` is silently replaced by TRL's own, and
    `completion_ids` never arrives.

    Example:
        {"prompt": "...", "completions": ["a", "b"], "answer": "42"}

    Remedy:
        Rename the column in the data, or map it: `[data] columns = { completions = "candidates" }`.
    """

    code = "RW125"
    name = "reserved-column"
    severity = "error"
    summary = "a column of the samples has a name that TRL's call uses itself"
    cost = Cost.STOPS

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding for each such column."""
        assert subject.batch is not None
        for name in subject.batch.columns:
            if name in CRASHING:
                what, severity = (
                    "TRL passes a keyword of that name itself, so the first call raises TypeError",
                    "error",
                )
            elif name in OVERWRITTEN:
                what, severity = "TRL replaces it by its own argument of that name", "warning"
            elif name in DROPPED:
                what, severity = "TRL drops it before the rewards are called", "warning"
            else:
                continue
            yield self.finding(
                f"The samples have a column '{name}': {what}.",
                advice=f'Rename it in the data, or map it: [data] columns = {{ {name} = "another_name" }}.',
                cause=name,
                severity="error" if severity == "error" else "warning",
                evidence=Evidence(got=name),
            )
