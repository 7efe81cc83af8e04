"""Trying made-up completions: many at once, each beside a control that differs in the one thing that matters.

A trial is a completion that should not be paid (or should), under a prompt of the samples. Its control is the same
completion without the thing that is tried: where the control is paid too, the payment has another cause, which
another check tells. `try_out` scores all trials and controls in as few calls as the reward's speed allows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rewards.contract import Status
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Finding, Severity
from workbench.checks.steadiness import plain_scores
from workbench.checks.task import Case, Task

if TYPE_CHECKING:
    from workbench.checks.subject import RewardSubject

SECONDS = 2.0
"""Seconds that the trials of one check may take, going by the time of the base call."""
TOTAL = 4.5
"""Seconds that the trials of all checks of a reward may take, about; a slow reward is tried with fewer texts."""
QUICK_TOTAL = 0.8
MOST = 400
HANGS = 2
"""Trials that may hang before a reward is left alone."""


@dataclass(frozen=True)
class Trial:
    """A completion to try under a case's prompt: what it is in words, and its controls.

    A payment counts only where none of the controls is paid as well.
    """

    case: Case
    text: str
    what: str
    control: str | None = None
    controls: tuple[str, ...] = ()

    @property
    def all_controls(self) -> tuple[str, ...]:
        """Every control, the first one first."""
        return (*(() if self.control is None else (self.control,)), *self.controls)


@dataclass(frozen=True)
class Outcome:
    """What a trial and its controls earned; NaN where there was no number."""

    trial: Trial
    score: float
    controls: tuple[float, ...] = ()

    @property
    def control(self) -> float:
        """What the first control earned."""
        return self.controls[0] if self.controls else math.nan

    @property
    def paid(self) -> bool:
        """Whether it earned what a right sample earns, and no control did."""
        case = self.trial.case
        return case.pays(self.score) and not any(case.pays(score) for score in self.controls)

    @property
    def refused(self) -> bool:
        """Whether it earned clearly less than a right sample."""
        return self.trial.case.falls_short(self.score)


def try_out(subject: RewardSubject, trials: Sequence[Trial], *, seconds: float = SECONDS) -> list[Outcome]:
    """Score trials and their controls; those that the time allows, spread over all of them."""
    trials = _affordable(subject, trials, seconds)
    wanted = [(trial.case.row, text) for trial in trials for text in (trial.text, *trial.all_controls)]
    known = dict(zip(wanted, score_texts(subject, wanted), strict=True))
    return [
        Outcome(
            trial,
            known[(trial.case.row, trial.text)],
            tuple(known[(trial.case.row, text)] for text in trial.all_controls),
        )
        for trial in trials
    ]


def score_texts(subject: RewardSubject, texts: Sequence[tuple[int, str]]) -> list[float]:
    """The score of each (row, text); NaN where there is no number. Remembered, so that no text is scored twice."""
    memory = subject.tried
    began = time.perf_counter()
    new = [item for item in dict.fromkeys(texts) if item not in memory]
    if new and subject.hangs < HANGS:
        if subject.compares:
            scores = [_alone(subject, row, text) for row, text in new]
        else:
            rows = [row for row, _ in new]
            result = subject.call(rows, [subject.shaped(text) for _, text in new])
            subject.hangs += int((result.status == Status.TIMEOUT).sum())
            scores = plain_scores(result).tolist()
        memory.update(zip(new, scores, strict=True))
        subject.trial_seconds += time.perf_counter() - began
    return [memory.get(item, math.nan) for item in texts]


def _alone(subject: RewardSubject, row: int, text: str) -> float:
    """A reward that compares completions sees each trial by itself: it has nothing to be compared with."""
    return float(plain_scores(subject.call([row], [subject.shaped(text)]))[0])


def _affordable(subject: RewardSubject, trials: Sequence[Trial], seconds: float) -> list[Trial]:
    unique = list({(trial.case.row, trial.text): trial for trial in trials}.values())
    left = (QUICK_TOTAL if subject.options.quick else TOTAL) - subject.trial_seconds
    limit = min(MOST, max(4, subject.affordable(max(0.05, min(seconds, left / 3))) // 2))
    if len(unique) <= limit:
        return unique
    # kinds of trials in turn, so that each is tried under at least one prompt
    kinds: dict[str, list[Trial]] = {}
    for trial in unique:
        kinds.setdefault(trial.what, []).append(trial)
    turns = [trial for turn in _in_turn(list(kinds.values())) for trial in turn]
    return turns[:limit]


def _in_turn(lists: list[list[Trial]]) -> Iterable[list[Trial]]:
    for place in range(max(map(len, lists), default=0)):
        yield [items[place] for items in lists if place < len(items)]


class TrialCheck(RewardCheck):
    """Base of the checks that try completions which must not be paid."""

    advice: ClassVar[str]
    penalties: ClassVar[bool] = False
    """Whether rewards that only take away (at best 0) are looked at too."""

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the shortest completion that is paid, and how many prompts show it."""
        task = subject.task
        if not self.applies(subject, task):
            return
        trials = [trial for case in task.cases for trial in self.trials(subject, task, case)]
        paid = self.counted(subject, [outcome for outcome in try_out(subject, trials) if outcome.paid])
        if paid:
            subject.exploited = True
            yield self.tell(subject, paid)

    def applies(self, subject: RewardSubject, task: Task) -> bool:
        """Whether the reward is one that these trials can judge, and steady enough to be judged."""
        return bool(task.cases) and not (task.penalty and not self.penalties) and subject.steadiness.reliable

    def trials(self, subject: RewardSubject, task: Task, case: Case) -> Iterable[Trial]:
        """The completions to try under one prompt."""
        raise NotImplementedError

    def counted(self, subject: RewardSubject, paid: list[Outcome]) -> list[Outcome]:
        """Those of the paid outcomes that say something; all, unless a check knows better."""
        return paid

    def tell(self, subject: RewardSubject, paid: Sequence[Outcome]) -> Finding:
        """The finding made of the paid outcomes."""
        best = min(paid, key=lambda outcome: (len(outcome.trial.text), outcome.trial.case.row))
        prompts = len({outcome.trial.case.row for outcome in paid})
        return self.finding(
            self.sentence(subject, best),
            advice=self.advice,
            cause=self.cause(best),
            reward=subject.name,
            severity=self.level(subject, best),
            evidence=subject.evidence(
                best.trial.case.row,
                completion=subject.shaped(best.trial.text),
                got=best.score,
                expected=self.expected(best),
            ),
            line=subject.description.line,
            count=prompts,
        )

    def sentence(self, subject: RewardSubject, best: Outcome) -> str:
        """What is wrong, in one sentence."""
        return (
            f"{subject.name} pays {best.trial.what} {number(best.score)}: as much as a right sample of the same prompt "
            f"({number(best.trial.case.full)})."
        )

    def cause(self, best: Outcome) -> str:
        """What tells this matter apart from others of this check."""
        return "paid"

    def level(self, subject: RewardSubject, best: Outcome) -> Severity:
        """How severe it is."""
        return self.severity

    def expected(self, best: Outcome) -> str:
        """What would have been right."""
        return f"less than {number(best.trial.case.full)}"


def mean(scores: Iterable[float]) -> float:
    """The mean of the numbers among `scores`; NaN where there are none."""
    known = [score for score in scores if not math.isnan(score)]
    return float(np.mean(known)) if known else math.nan


__all__ = ["Outcome", "Trial", "TrialCheck", "mean", "score_texts", "try_out"]
