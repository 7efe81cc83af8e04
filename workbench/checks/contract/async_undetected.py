"""RW118: a coroutine that TRL never awaits."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.contract import Status
from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject


class AsyncUndetected(RewardCheck):
    """The function returns a coroutine without being a coroutine function itself.

    TRL decides by `inspect.iscoroutinefunction` (also through `functools.partial` and on `__call__`) whether
    to await. A plain function or lambda that returns a coroutine is called as if it were synchronous:
    `TypeError: 'coroutine' object is not iterable`.

    Example:
        judge = lambda completions, **kwargs: ask_all(completions)      # ask_all is async

    Remedy:
        `async def judge(completions, **kwargs): return await ask_all(completions)`.
    """

    code = "RW118"
    name = "async-undetected"
    severity = "error"
    summary = "a coroutine is returned by a function that is not async"
    cost = Cost.STOPS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding where the base call gave a coroutine."""
        rows = [
            row
            for place, (row, state) in enumerate(zip(subject.rows, subject.base.status, strict=True))
            if state == Status.WRONG_TYPE and "coroutine" in subject.base.errors.get(place, "")
        ]
        if not rows:
            return
        yield self.finding(
            f"{subject.name} returns a coroutine, but it is no async function, so TRL does not await it.",
            advice="Make the function itself async: async def, with return await inside.",
            cause="coroutine",
            reward=subject.name,
            evidence=subject.evidence(
                subject.smallest(rows), got="a coroutine", expected="a list of numbers"
            ),
            line=subject.description.line,
            count=len(rows),
        )
