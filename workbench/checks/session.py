"""A target opened for checking: its subjects, and the checks run on them one at a time.

`run_checks` runs all checks through one; the pytest plugin runs those that were selected there. What fails on the way
(a lost worker, a fault of a check) is an answer of its own, and the others still run. The user's code only runs in
worker processes.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rewards.errors import RewardWorkbenchError
from rewards.targets import parse_target
from workbench.checks.check import Check, RewardCheck, SetCheck
from workbench.checks.dots import with_dot_advice
from workbench.checks.finding import Finding
from workbench.checks.paid import NOT_RECORDED, NotRecordedError, PaidBench, Pay
from workbench.checks.subject import Options, RewardSubject, SetSubject

if TYPE_CHECKING:
    from rewards.contract import Batch
    from rewards.rewardset import SetDescription
    from rewards.running import Runner
    from workbench.samples.records import Samples

NO_SAMPLES = "no samples: add --samples FILE"
QUICK = "left out by --quick"


@dataclass(frozen=True)
class Outcome:
    """What one check said of one reward, or of the set.

    `skipped` is why it did not run, None where it did; `held` is the kind that the reward only looks like, where that
    is the reason, and "" where its labels show none.
    """

    findings: tuple[Finding, ...] = ()
    skipped: str | None = None
    held: str | None = None
    seconds: float = 0.0


NOT_CONCERNED = "it is not about rewards of this kind"


@dataclass
class Session:
    """The rewards of a target with samples, in worker processes.

    Args:
        runner: starts the workers.
        target: see `rewards.targets`.
        samples: completions with columns and labels; None: only what needs no call is checked.
        batch: their rows, with token ids where a tokenizer is known.
        options: how thorough the checks are.
        pay: asked before calls that cost money; None: there are none, recorded answers have to do.
    """

    runner: Runner
    target: str
    samples: Samples | None
    batch: Batch | None
    options: Options = field(default_factory=Options)
    pay: Pay | None = None

    def __post_init__(self) -> None:
        self.bench = PaidBench(self.runner, self.target, self.batch, parse_target(self.target).root)
        self.description: SetDescription = self.bench.description
        alone = len(self.description.rewards) == 1
        self.subjects = [
            RewardSubject(reward, self.bench, self.samples, self.batch, self.options, alone)
            for reward in self.description.rewards
        ]
        for subject in self.subjects:
            self._ask_paid(subject)
        self.set_subject = SetSubject(
            self.description,
            [subject for subject in self.subjects if not self.why_uncallable(subject)],
            self.samples,
            self.batch,
            self.options,
        )

    def _ask_paid(self, subject: RewardSubject) -> None:
        """Have the samples judged by a reward that costs money, where that was allowed and is not yet done."""
        if (
            subject.description.entry.cost != "paid"
            or self.pay is None
            or self.why_uncallable(subject, paid=False)
        ):
            return
        rows = subject.concerned if self.samples is not None else []
        missing = self.bench.unrecorded(subject.name, rows)
        if missing and self.pay(subject.name, len(missing), len(rows) - len(missing)):
            self.bench.ask(subject.name, missing)

    def close(self) -> None:
        """End the workers."""
        self.bench.close()

    def subject(self, reward: str) -> RewardSubject:
        """The subject of a reward; TargetError where there is none of that name."""
        self.description.reward(reward)
        return next(subject for subject in self.subjects if subject.name == reward)

    def left_out(self, check: type[Check]) -> str | None:
        """Why a check runs for no reward at all; None where it may."""
        if self.samples is None and check.needs == "samples":
            return NO_SAMPLES
        if check.elsewhere is not None:
            return check.elsewhere
        if self.options.quick and not check.quick:
            return QUICK
        return None

    def of_reward(self, check: RewardCheck, reward: str) -> Outcome:
        """Run a check on one reward."""
        subject = self.subject(reward)
        uncallable = self.why_uncallable(subject)
        if uncallable and check.needs == "samples" and check.code != "RW102":
            return Outcome(skipped=uncallable)
        if subject.description.entry.cost == "paid" and check.code.startswith("RW2"):
            return Outcome(skipped=NOT_RECORDED)  # a recording is steady whatever the reward is
        if check.kinds is not None and not self._concerned(check, subject):
            held = self._suggested(check, subject)
            return Outcome(skipped=NOT_CONCERNED if held is None else why_held(held), held=held)
        return self._run(lambda: [with_dot_advice(subject, finding) for finding in check.run(subject)])

    def of_set(self, check: SetCheck) -> Outcome:
        """Run a check on the whole set."""
        if len(self.set_subject.members) < len(self.subjects) and check.needs == "samples":
            return Outcome(skipped="a reward of the set cannot be called")
        return self._run(functools.partial(check.run, self.set_subject))

    def _run(self, run: Callable[[], Iterable[Finding]]) -> Outcome:
        began = time.perf_counter()
        findings: list[Finding] = []
        skipped = None
        try:
            findings.extend(run())
        except NotRecordedError as error:
            skipped = str(error)
        except RewardWorkbenchError as error:
            skipped = f"could not be run: {error}"
        return Outcome(tuple(findings), skipped, seconds=time.perf_counter() - began)

    def _concerned(self, check: Check, subject: RewardSubject) -> bool:
        """Whether the reward is of a kind that the check is about; a task that cannot be read is of none."""
        try:
            return check.kinds is None or subject.task.kind in check.kinds
        except RewardWorkbenchError:
            return False

    def _suggested(self, check: Check, subject: RewardSubject) -> str | None:
        """The kind of a check that the reward looks like, where none is declared.

        "" where it looks like none, and labels that judge it show none.
        """
        try:
            task = subject.task
        except RewardWorkbenchError:
            return None
        if task.kind or subject.description.entry.kind:
            return None
        if task.suggested in (check.kinds or ()):
            return task.suggested
        labelled = subject.judged and subject.labelled("right") and subject.labelled("wrong", "hack")
        return "" if labelled and task.suggested is None else None

    def why_uncallable(self, subject: RewardSubject, *, paid: bool = True) -> str | None:
        """Why no call can work, so that the checks that need one would only repeat it.

        With `paid`, also where a reward that costs money has not judged all samples yet.
        """
        described = subject.description
        if described.signature.problem is not None:
            return "it cannot be called (RW101)"
        if self.samples is not None and described.missing_columns(self.samples.columns):
            return "it cannot be called without its column (RW102)"
        if self.samples is not None and not subject.concerned:
            return "its `when` holds for no sample"
        if paid and described.entry.cost == "paid" and self.samples is not None:
            missing = len(self.bench.unrecorded(subject.name, subject.concerned))
            if missing:
                return (
                    f'it is paid for (cost = "paid"), and {missing} of its answers are not recorded: '
                    "--pay asks for them"
                )
        return None


def why_held(kind: str, codes: Sequence[str] = ()) -> str:
    """The sentence for checks that are held back because a kind is inferred and not declared, or none is known ("")."""
    count = f"{len(codes)} " if codes else ""
    if not kind:
        return f'{count}held back: no kind declared, and none shown by the labels: kind = "correctness", or another'
    return f'{count}held back: looks like {kind}, not declared: kind = "{kind}", or --assume-kinds'


__all__ = ["NOT_CONCERNED", "NO_SAMPLES", "QUICK", "Outcome", "Session", "why_held"]
