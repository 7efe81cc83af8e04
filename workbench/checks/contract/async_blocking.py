"""RW119: an async reward that keeps the event loop to itself."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject

GAP_S = 0.1
ROWS = 4, 16
"""Rows of one call: enough for most waits; as many as a process may score in a step, for short ones."""
COMPUTES = 0.5
"""Share of processor time from which on the wait is put down to computing."""


class AsyncBlocking(RewardCheck):
    """An async reward sleeps, waits or computes without awaiting, so that other async rewards stand still.

    TRL runs all async rewards together on one event loop. One that calls `time.sleep`, a blocking HTTP client
    or a long computation blocks the loop: the rewards run one after another, as if none were async. Measured
    by a timer on the same loop.

    Example:
        async def judge(completions, **kwargs):
            return [requests.post(...).json()["score"] for text in completions]     # blocks

    Remedy:
        Await: an async client, `asyncio.sleep`, or `await asyncio.to_thread(blocking_function, ...)`.
    """

    code = "RW119"
    name = "async-blocking"
    severity = "warning"
    summary = "an async reward blocks the event loop"
    cost = Cost.HAMPERS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding where the loop stood still for over 0.1 s and most of a call."""
        if not subject.description.signature.is_async:
            return
        rows, measured = _longest(subject)
        if measured is None or measured["gap"] < GAP_S:
            return
        why = "it computes" if _computes(measured) else "it sleeps or waits"
        yield self.finding(
            f"{subject.name} is async, but blocks the event loop: with {len(rows)} completions the loop stood "
            f"still for {number(measured['gap'])} s of {number(measured['seconds'])} s ({why} without awaiting).",
            advice="Await what takes time: an async client, asyncio.sleep, or await asyncio.to_thread(function, ...).",
            cause="blocks",
            reward=subject.name,
            evidence=subject.evidence(
                rows[0],
                got=f"{number(measured['gap'])} s without a turn of the loop",
                expected=f"under {GAP_S} s",
            ),
            line=subject.description.line,
            count=len(rows),
        )


def _longest(subject: RewardSubject) -> tuple[list[int], dict[str, float] | None]:
    """Rows of one call, and how long it kept the loop; None where the loop turned meanwhile."""
    rows: list[int] = []
    measured: dict[str, float] | None = None
    for limit in ROWS:
        rows = subject.few(limit)
        measured = subject.probe("loop_gaps", len(rows), rows=rows) if rows else None
        if measured is None or measured["gap"] < 0.5 * measured["seconds"]:
            return rows, None
        if measured["gap"] >= GAP_S or measured["gap"] < 0.1 * GAP_S or _computes(measured):
            break  # seen, or too short, or it computes a little, which is no wait
    return rows, measured


def _computes(measured: dict[str, float]) -> bool:
    return measured["cpu"] >= COMPUTES * measured["gap"]
