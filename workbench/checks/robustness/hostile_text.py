"""RW501: hostile text on which a reward raises, hangs or dies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rewards.contract import Batch, CallResult, Status
from rewards.errors import WorkerDied, WorkerTimeout
from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Finding, Severity
from workbench.checks.robustness.hostile import Write, hostile_texts, large_texts, odd_messages
from workbench.checks.robustness.slow_rows import row_seconds
from workbench.checks.subject import RewardSubject, reason_of

PATIENCE_S = 2.0
"""Seconds a reward may take for one of these texts, by the clock at first; then once more, by the processor."""
ENDLESS_S = 8.0
"""Processor seconds from which it hangs; one that comes back before has a limit of its own (mathematics: 5 s)."""
SECOND_LOOK_S = 30.0
MOST_LOOKS = 3
LARGE_PACE_S = 0.005
"""Slower rewards are not tried with large texts."""


@dataclass(frozen=True)
class _Tried:
    """One completion and what came of it."""

    completion: Any
    text: str | None
    what: str
    likely: bool
    status: Status
    error: str


class HostileText(RewardCheck):
    """The reward raises, hangs or ends its process on text that no sample holds, but a policy may write.

    In a long run a policy writes everything: control characters, three thousand opened braces (a loop), numbers with
    thousands of digits, 200,000 characters. One exception ends the run. Each text is tried in a process that can be
    ended. What a model can really write is an error (a note where it is slow and comes back), with the shortest
    part of the text that still shows it; what it cannot (content None, no message at all, two megabytes) is one note,
    because logs and other tools do hold such rows.

    Example:
        value = json.loads(text)        # RecursionError on 3,000 opened brackets, which `except ValueError` lets pass

    Remedy:
        Treat the case: `except (ValueError, RecursionError)` around a parser, a limit on the length before costly
        work, `content or ""` for messages.
    """

    code = "RW501"
    name = "hostile-text"
    severity = "error"
    summary = "an exception or a hang on text that breaks careless code"
    cost = Cost.STOPS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each exception and place; one for a hang, one for a death."""
        row = subject.odd.row
        if row is None or (subject.base.status == Status.TIMEOUT).any():
            return
        seen: set[str] = set()
        looks = 0  # a second look takes its time
        unlikely: list[tuple[_Tried, str]] = []
        for tried in self._all(subject, row):
            cause = _cause(subject, tried)
            if cause is None or cause in seen:
                continue
            level: Severity = "error" if tried.likely else "info"
            if tried.status == Status.TIMEOUT:
                if looks == MOST_LOOKS:
                    continue
                looks += 1
                seconds = _processor_seconds(subject, row, tried)
                if seconds < 0.95 * min(PATIENCE_S, subject.patience_s):
                    continue  # a busy machine, no hang
                level = "info" if seconds < longest(subject) else level
            if tried.likely:
                seen.add(cause)
                yield self._tell(subject, row, tried, cause, level)
            else:
                unlikely.append((tried, cause))
        if unlikely:
            tried = unlikely[0][0]
            others = list(dict.fromkeys(item.what for item, _ in unlikely[1:]))
            yield self._tell(subject, row, tried, "unlikely", "info", others)

    def _all(self, subject: RewardSubject, row: int) -> Iterable[_Tried]:
        """What was tried, likely texts first and shorter ones first."""
        sample = subject.text(row)
        items = hostile_texts(sample, subject.task.tags, writer(subject, row))
        items = items[: max(3, subject.affordable(0.4))]
        if row_seconds(subject) < LARGE_PACE_S and not subject.options.quick:
            items += large_texts(sample)
        result = call(subject, row, [subject.shaped(item.text) for item in items])
        tried = [
            _Tried(subject.shaped(item.text), item.text, item.what, item.likely, *_outcome(result, place))
            for place, item in enumerate(items)
        ]
        if subject.chat and row_seconds(subject) < LARGE_PACE_S:
            odd = odd_messages()
            result = call(subject, row, [completion for completion, _ in odd])
            tried += [
                _Tried(completion, None, what, False, *_outcome(result, place))
                for place, (completion, what) in enumerate(odd)
            ]
        return sorted(tried, key=lambda item: (not item.likely, len(item.text or "")))

    def _tell(
        self,
        subject: RewardSubject,
        row: int,
        tried: _Tried,
        cause: str,
        level: Severity,
        others: Sequence[str] = (),
    ) -> Finding:
        completion, error = tried.completion, tried.error
        if tried.status == Status.RAISED and tried.text:
            small = subject.probe(
                "workbench.checks.shrinking:shrink_error", 20, row=row, text=tried.text, chat=subject.chat
            )
            if small is not None and small["error"] and len(small["text"]) < len(tried.text):
                completion, error = subject.shaped(small["text"]), small["error"]
        line = subject.source.line_of(error)
        unlikely = "" if tried.likely else ", which no model writes, but logs hold"
        unlikely += f"; so it does on {' and on '.join(others)}" if others else ""
        return self.finding(
            f"{subject.name} {_verb(subject, tried, error)} on {tried.what}{unlikely}.",
            advice="Treat the case and score it: a wider except around a parser (RecursionError, OverflowError), a "
            "limit on the length before costly work.",
            cause=cause,
            reward=subject.name,
            severity=level,
            evidence=subject.evidence(
                row,
                completion=completion,
                got=f"nothing after {PATIENCE_S:g} s" if tried.status == Status.TIMEOUT else error,
                expected="a number",
            ),
            line=line or subject.description.line,
            shared=tried.likely and tried.status == Status.RAISED,
        )


def call(subject: RewardSubject, row: int, completions: Sequence[Any]) -> CallResult:
    """One call with these completions under the prompt of `row`, with little patience."""
    batch: Batch = subject.variant([row] * len(completions), completions)
    return subject.bench.call(subject.name, batch, timeout_s=min(subject.patience_s, PATIENCE_S))


def _processor_seconds(subject: RewardSubject, row: int, tried: _Tried) -> float:
    """Seconds of a processor it takes, at most as many as a completion may have; infinite where it had to be killed."""
    if tried.text is None:
        return math.inf
    try:
        times: list[float] = subject.bench.probe(
            "workbench.checks.robustness.measuring:times_of",
            timeout_s=SECOND_LOOK_S,
            reward=subject.name,
            row=row,
            texts=[tried.text],
            chat=subject.chat,
            limit=longest(subject),
        )
    except (WorkerTimeout, WorkerDied):
        return math.inf
    return times[0]


def longest(subject: RewardSubject) -> float:
    """Processor seconds after which a text is taken to hang."""
    return max(subject.patience_s, ENDLESS_S)


def writer(subject: RewardSubject, row: int) -> Write | None:
    """What puts an answer into the place of the row's own; None where that place is not known."""
    slots = [case.slot for case in subject.task.cases if case.slot is not None and case.row == row]
    slots = slots or [case.slot for case in subject.task.cases if case.slot is not None]
    return slots[0].write if slots else None


def _outcome(result: CallResult, place: int) -> tuple[Status, str]:
    return Status(int(result.status[place])), result.errors.get(place, "")


def _cause(subject: RewardSubject, tried: _Tried) -> str | None:
    if tried.status == Status.RAISED:
        statement = subject.source.statement(subject.source.line_of(tried.error))
        return f"raises {reason_of(tried.error)} at {statement}"
    if tried.status == Status.TIMEOUT and not tried.error.startswith("not run"):
        return "hangs"
    return "dies" if tried.status == Status.DIED else None


def _verb(subject: RewardSubject, tried: _Tried, error: str) -> str:
    if tried.status == Status.TIMEOUT:
        return f"does not return within {PATIENCE_S:g} s"
    if tried.status == Status.DIED:
        return f"ends its process ({error})"
    return f"raises {subject.source.without_place(error)}"


__all__ = ["HostileText"]
