"""RW504: a reward that waits row by row."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Evidence, Finding
from workbench.checks.subject import RewardSubject

WAIT_S = 0.1
"""Seconds a row may wait."""
WORK_S = 1.0
"""Seconds of work a row may take."""
BATCH = 64
PROBE = "workbench.checks.robustness.auditing:used_time"


class SlowRows(RewardCheck):
    """A row takes long, and the next one waits for it.

    TRL calls a reward once for the whole batch and waits; meanwhile the model stands still, on every device. A
    reward that waits for something outside (a service, a sleep, a lock) row after row multiplies that wait by the
    batch size. It is reported from a tenth of a second a row in which nothing works; work itself (child processes
    included) from a second a row. Rewards declared `cost = "paid"` or given a `timeout_s` say so
    themselves: for them it is a note.

    Example:
        for text in completions:
            scores.append(ask(text))          # 0.25 s each: 16 s for a batch of 64

    Remedy:
        Make the function async and gather the requests, or map over a pool of threads. For work: a pool of processes,
        or a cheaper test first.
    """

    code = "RW504"
    name = "slow-rows"
    severity = "warning"
    summary = "every row takes long, one after another"
    cost = Cost.HAMPERS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """At most one finding."""
        rows = len(subject.rows)
        usual = subject.base.seconds / max(1, rows)
        if subject.description.signature.is_async or usual < WAIT_S or not subject.usable:
            return
        few = subject.usable[:3]
        took = subject.probe(PROBE, len(few), rows=few)
        if took is None:
            return
        each = min(usual, took["wall"] / len(few))
        # a child process waits for a processor like everyone: what it takes is work, however busy the machine
        waits = each >= WAIT_S and not took["children"] and took["processor"] < 0.2 * took["wall"]
        if not waits and not each >= WORK_S:
            return
        declared = subject.description.declared
        expected = "timeout_s" in declared or subject.description.entry.cost == "paid"
        verb = "waits" if waits else "works"
        yield self.finding(
            f"{subject.name} {verb} {number(each)} s for each row, one after another: a batch of {BATCH} takes "
            f"{number(each * BATCH)} s, in which nothing is trained.",
            advice="Make it async and gather the requests, or map the rows over a pool of threads."
            if waits
            else "Do cheap tests first, or map the rows over a pool of processes.",
            cause=verb,
            reward=subject.name,
            severity="info" if expected else "warning",
            evidence=Evidence(
                completion=subject.batch.completions[few[0]] if subject.batch else None,
                got=f"{number(took['wall'])} s for {len(few)} rows",
                expected=f"less than {WAIT_S if waits else WORK_S:g} s a row",
            ),
            line=subject.description.line,
        )


def row_seconds(subject: RewardSubject) -> float:
    """Seconds an ordinary row takes, the dearer of two measures."""
    return max(subject.pace_s, subject.base.seconds / max(1, len(subject.rows)))


__all__ = ["SlowRows", "row_seconds"]
