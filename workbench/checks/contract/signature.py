"""RW101: the trainer's call itself fails."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Evidence, Finding
from workbench.checks.subject import RewardSubject


class CallRefused(RewardCheck):
    """The function cannot be called the way TRL calls it.

    TRL passes everything by keyword: `prompts`, `completions`, `completion_ids`, `trainer_state`,
    `log_extra`, `log_metric` and every other column of the data set. A function without `**kwargs` raises
    `TypeError` at the first step, after the model was loaded.

    Example:
        def brief(completions):          # TypeError: unexpected keyword argument 'prompts'
            return [1.0 for _ in completions]

    Remedy:
        Name what you read and let the rest pass: `def brief(completions, **kwargs):`.
    """

    code = "RW101"
    name = "call-refused"
    severity = "error"
    summary = "the function cannot be called with the trainer's keywords"
    cost = Cost.STOPS
    needs = "nothing"

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding where the signature refuses the keywords."""
        described = subject.description
        problem = described.signature.problem
        if problem is None:
            return
        yield self.finding(
            f"{subject.name}{described.signature.text} cannot be called as TRL calls it: {problem}.",
            advice="Add **kwargs to the parameters, so that what the reward does not use passes by.",
            cause="signature",
            reward=subject.name,
            evidence=Evidence(got=described.signature.text, expected="(completions, ..., **kwargs)"),
            line=described.line,
        )
