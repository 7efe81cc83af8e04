"""What the checks of damaged right samples have in common: a part must not earn more than the whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Finding
from workbench.checks.subject import RewardSubject
from workbench.checks.task import Case, Task
from workbench.checks.trials import Outcome, Trial, try_out


class MoreThanWhole(RewardCheck):
    """Base of the checks that damage a right sample; its undamaged text is the control of each trial."""

    kinds = frozenset({"correctness", "format"})
    advice: ClassVar[str]

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the shortest damaged text that earns more."""
        task = subject.task
        if not self.applies(subject, task):
            return
        trials = [
            Trial(case, text, what, control=case.text)
            for case in task.cases
            for text, what in self.damaged(task, case)
            if text.strip() and text != case.text
        ]
        more = [outcome for outcome in try_out(subject, trials) if exceeds(outcome)]
        if more:
            yield self.tell(subject, more)

    def applies(self, subject: RewardSubject, task: Task) -> bool:
        """Whether the kind of reward is one for which a whole right sample is the best there is."""
        return bool(task.cases) and subject.steadiness.reliable

    def damaged(self, task: Task, case: Case) -> Iterable[tuple[str, str]]:
        """(text, what it is) made of a right sample."""
        raise NotImplementedError

    def tell(self, subject: RewardSubject, more: list[Outcome]) -> Finding:
        """The finding made of the outcomes that earned more than the whole."""
        best = min(more, key=lambda outcome: (len(outcome.trial.text), outcome.trial.case.row))
        return self.finding(
            f"{subject.name} pays {best.trial.what} {number(best.score)}, and the right sample itself "
            f"{number(best.control)}.",
            advice=self.advice,
            cause="more than whole",
            reward=subject.name,
            evidence=subject.evidence(
                best.trial.case.row,
                completion=subject.shaped(best.trial.text),
                got=best.score,
                expected=f"at most {number(best.control)}",
            ),
            line=subject.description.line,
            count=len({outcome.trial.case.row for outcome in more}),
        )


def exceeds(outcome: Outcome) -> bool:
    """Whether a trial earned clearly more than its control: by a fiftieth of what lies between right and wrong."""
    case = outcome.trial.case
    return outcome.score > outcome.control + max(1e-6, 0.02 * (case.full - case.floor))
