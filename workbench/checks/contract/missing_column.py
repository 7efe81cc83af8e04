"""RW102: a required argument that no column fills."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.rewardset import missing_column
from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Evidence, Finding
from workbench.checks.subject import RewardSubject


class MissingColumn(RewardCheck):
    """The function requires a column that the samples do not have.

    An argument without a default has to be filled by a column of the data set of the same name; otherwise the
    first call raises `TypeError: missing 1 required positional argument`.

    Example:
        def correct(completions, answer, **kwargs): ...    # the data has `solution`, not `answer`

    Remedy:
        Name the argument as the column is named, or map the column in the manifest:
        `[data] columns = { solution = "answer" }`.
    """

    code = "RW102"
    name = "missing-column"
    severity = "error"
    summary = "a required argument is no column of the samples"
    cost = Cost.STOPS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each argument that nothing fills."""
        assert subject.batch is not None
        columns = subject.batch.columns
        for argument in subject.description.missing_columns(columns):
            sentence = missing_column(subject.name, argument, columns)
            yield self.finding(
                sentence[0].upper() + sentence[1:] + ".",
                advice=f"Name the argument as the column is named, add a column '{argument}' to the data, or map "
                "the column that holds it under [data] columns.",
                cause=argument,
                reward=subject.name,
                evidence=Evidence(got=sorted(columns), expected=argument),
                line=subject.description.line,
                count=len(subject.batch),
            )
