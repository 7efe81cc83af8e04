"""RW111: a call that does not come back."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.contract import Status
from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject


class Hangs(RewardCheck):
    """The reward does not return within its deadline on some completion.

    TRL has no timeout of any kind: one such completion stops the whole run, on all processes, without a
    message. The deadline is the reward's own (`timeout_s`, by default 5 seconds a completion, 60 for async
    functions).

    Example:
        re.match(r"((\\w+\\s?)+)$", text)     # exponential on a line that ends in "!"

    Remedy:
        Bound what can run away: patterns without nested repeats, a time limit for programs, retries and requests.
        A reward that really takes that long declares it: `timeout_s = 30`.
    """

    code = "RW111"
    name = "hangs"
    severity = "error"
    summary = "no answer within the deadline"
    cost = Cost.STOPS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the smallest completion on which it hung; only what had all patience is counted."""
        rows = [
            row
            for place, (row, state) in enumerate(zip(subject.rows, subject.base.status, strict=True))
            if state == Status.TIMEOUT and not subject.base.errors.get(place, "").startswith("not run")
        ]
        if rows:
            sure = subject.stuck or rows
            more = len(rows) - len(sure)
            told = f" On {more} more it does not within {subject.looked_s:g} s." if more > 0 else ""
            where = "on a sample" if len(sure) == 1 else f"on {len(sure)} samples"
            yield self._say(subject, subject.smallest(sure), None, where, len(sure), told)
            return
        for item, _, state in subject.odd.shortest_first():
            if state == Status.TIMEOUT:
                yield self._say(subject, subject.odd.row, item.text, f"on {item.what}", 1)
                return

    def _say(
        self,
        subject: RewardSubject,
        row: int | None,
        text: str | None,
        where: str,
        count: int,
        told: str = "",
    ) -> Finding:
        completion = None if text is None else subject.shaped(text)
        return self.finding(
            f"{subject.name} does not return within {subject.patience_s:g} s {where}; the trainer would wait for "
            f"ever.{told}",
            advice="Find what runs away (a pattern with nested repeats, a loop, a request without timeout) and bound "
            "it; a reward that is meant to take long declares timeout_s.",
            cause="hangs",
            reward=subject.name,
            evidence=subject.evidence(
                row, completion=completion, got=f"nothing after {subject.patience_s:g} s", expected="a score"
            ),
            line=subject.description.line,
            count=count,
        )
