"""RW112: a call that ends the process."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.contract import Status
from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject


class Dies(RewardCheck):
    """The reward ends the process it runs in: exit, signal, out of memory.

    In training that process is the trainer, on a machine with hours of work in memory. The usual causes are
    code of a completion run in place, `os._exit`, a C library that crashes, and memory without bound.

    Example:
        exec(code_of(completion))        # the completion says os._exit(0)

    Remedy:
        Run such work in a child process with limits on time and memory.
    """

    code = "RW112"
    name = "dies"
    severity = "error"
    summary = "the process ends during the call"
    cost = Cost.STOPS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the smallest completion on which the process ended."""
        base = subject.base
        rows = [row for row, state in zip(subject.rows, base.status, strict=True) if state == Status.DIED]
        if rows:
            row = subject.smallest(rows)
            why = base.errors.get(subject.rows.index(row), "the process ended")
            where = "on a sample" if len(rows) == 1 else f"on {len(rows)} samples"
            yield self._say(subject, row, None, where, why, len(rows))
            return
        for item, _, state in subject.odd.shortest_first():
            if state == Status.DIED:
                yield self._say(
                    subject, subject.odd.row, item.text, f"on {item.what}", subject.odd.error_of(item), 1
                )
                return

    def _say(
        self, subject: RewardSubject, row: int | None, text: str | None, where: str, why: str, count: int
    ) -> Finding:
        completion = None if text is None else subject.shaped(text)
        return self.finding(
            f"{subject.name} ends its process {where}: {why}.",
            advice="Run what can do that in a child process with limits on time and memory, and score its failure.",
            cause="dies",
            reward=subject.name,
            evidence=subject.evidence(row, completion=completion, got=why, expected="a score"),
            line=subject.description.line,
            count=count,
        )
