"""RW120: another result in a worker thread."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from rewards.contract import Status
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject, reason_of


class ThreadResult(RewardCheck):
    """The reward gives another result in a worker thread than in the main thread.

    GRPOTrainer calls sync rewards in the main thread and async ones in another; the asynchronous trainer
    calls all of them in threads of a child process. Alarm signals for time limits work in the main thread
    only. A reward that raises elsewhere is reported as information, one that silently scores otherwise as a
    warning.

    Example:
        signal.alarm(5)      # ValueError: signal only works in main thread of the main interpreter

    Remedy:
        A time limit that does not need signals: a child process, or a bounded computation.
    """

    code = "RW120"
    name = "thread-result"
    severity = "warning"
    summary = "another result in a worker thread"
    cost = Cost.HAMPERS
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for a silent difference or an exception outside the main thread."""
        rows = subject.few(16)
        here = subject.observation
        if not rows or here is None or not subject.description.entry.deterministic:
            return
        again = subject.probe("observe", len(rows), rows=rows)
        there = subject.probe("observe", len(rows), rows=rows, in_thread=True)
        if again is None or there is None:
            return
        if (there["status"] == Status.RAISED).any() and not (again["status"] == Status.RAISED).any():
            error = there["errors"].get("0", "")
            yield self.finding(
                f"{subject.name} raises {subject.source.without_place(error)} in a worker thread; in the main thread "
                "it works.",
                advice="Fine for GRPOTrainer, which calls it in the main thread; the asynchronous trainer does not.",
                cause=f"raises {reason_of(error)}",
                reward=subject.name,
                severity="info",
                evidence=subject.evidence(rows[0], got=error, expected=float(again["scores"][0])),
                line=subject.source.line_of(error) or subject.description.line,
            )
            return
        if _alike(again["scores"], there["scores"]):
            return
        subject.bench.renew()
        apart = subject.probe("observe", len(rows), rows=rows)
        if apart is not None and _alike(
            again["scores"], apart["scores"]
        ):  # else chance or state: RW2's matter
            place = int(np.nanargmax(np.abs(again["scores"] - there["scores"])))
            yield self.finding(
                f"{subject.name} scores {number(there['scores'][place])} in a worker thread what it scores "
                f"{number(again['scores'][place])} in the main thread.",
                advice="Do not rely on the main thread: no alarm signals, no thread-local settings.",
                cause="differs",
                reward=subject.name,
                evidence=subject.evidence(
                    rows[place], got=float(there["scores"][place]), expected=float(again["scores"][place])
                ),
                line=subject.description.line,
            )


def _alike(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> bool:
    return len(a) == len(b) and bool(np.allclose(a, b, equal_nan=True))
