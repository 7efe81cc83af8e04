"""RW104: another number of scores than completions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rewards.contract import Status
from workbench.checks.check import RewardCheck
from workbench.checks.contract.several_turns import with_tool
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject


class WrongLength(RewardCheck):
    """The function does not return one score for each completion.

    TRL raises `ValueError` on the first batch where the counts differ, and older versions spread a single
    value over all rows. The usual cause is a `continue` for a row that cannot be parsed, so the counts agree
    until the policy writes the first such completion. Tried with batches of 1, 2 and all rows, with odd rows between
    sound ones, and with a completion of several messages, which must not get a score for each.

    Example:
        for text in completions:
            if not has_answer(text):
                continue                 # this row gets no score at all
            scores.append(...)

    Remedy:
        Append a score for every completion: 0.0 where the answer is missing, None where the reward has no opinion.
    """

    code = "RW104"
    name = "wrong-length"
    severity = "error"
    summary = "the number of scores differs from the number of completions"
    cost = Cost.STOPS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the smallest batch that shows it."""
        assert subject.batch is not None
        failed = [
            row
            for row, state in zip(subject.rows, subject.base.status, strict=True)
            if state == Status.WRONG_COUNT
        ]
        if failed:
            yield self._explain(subject, failed)
            return
        rows = subject.few(8)
        if not rows:
            return
        for size in (1, 2):
            finding = self._try(subject, rows[:size], [subject.batch.completions[row] for row in rows[:size]])
            if finding is not None:
                yield finding
                return
        yield from list(self._odd(subject, rows[0])) or self._several(subject, rows[0])

    def _several(self, subject: RewardSubject, row: int) -> Iterable[Finding]:
        """A completion with a tool call in it, as tools make them: one score all the same."""
        if not subject.chat or subject.description.entry.cost == "paid":  # no such answer is recorded
            return
        finding = self._try(subject, [row], [with_tool(subject.text(row), "")])
        if finding is not None:
            yield finding

    def _odd(self, subject: RewardSubject, row: int) -> Iterable[Finding]:
        """Where a batch with odd rows gave a wrong count: the odd row that does so beside a sound one."""
        assert subject.batch is not None
        sound, result = subject.batch.completions[row], subject.odd.result
        if result is None or not (result.status == Status.WRONG_COUNT).all():
            return
        for item in subject.odd.items[1:]:
            finding = self._try(subject, [row, row], [sound, subject.shaped(item.text)])
            if finding is not None:
                yield finding
                return
        yield self._say(subject, row, None, result.errors[0], 1)

    def _explain(self, subject: RewardSubject, failed: Sequence[int]) -> Finding:
        """The smallest call that gives a wrong count: one row, a row beside a sound one, or only the whole batch."""
        assert subject.batch is not None
        candidates = sorted(failed, key=lambda row: len(subject.text(row)))[:24]
        for row in candidates:
            finding = self._try(subject, [row], [subject.batch.completions[row]])
            if finding is not None:
                return finding
        first = candidates[-1]
        for row in candidates:
            for other in (first, candidates[0], subject.rows[0]):
                if other != row:
                    pair = [subject.batch.completions[other], subject.batch.completions[row]]
                    finding = self._try(subject, [other, row], pair)
                    if finding is not None:
                        return finding
        why = subject.base.errors.get(subject.rows.index(failed[0]), "")
        return self._say(subject, failed[0], None, why, len(failed))

    def _counts(self, subject: RewardSubject, rows: Sequence[int], completions: Sequence[Any]) -> str | None:
        """What was wrong with the count of one call; None where it was right."""
        result = subject.call(rows, completions)
        if len(result.status) and (result.status == Status.WRONG_COUNT).all():
            return result.errors[0]
        return None

    def _try(self, subject: RewardSubject, rows: Sequence[int], completions: Sequence[Any]) -> Finding | None:
        why = self._counts(subject, rows, completions)
        if why is None:
            return None
        return self._say(subject, rows[-1], completions[-1], why, 1)

    def _say(self, subject: RewardSubject, row: int, completion: Any, why: str, count: int) -> Finding:
        got, wanted = _figures(why)
        beside = " (this one after a sound one)" if wanted == 2 else ""
        return self.finding(
            f"{subject.name} {why or 'returned a wrong number of scores'}{beside}.",
            advice="Append one value for every completion: 0.0 where it is judged bad, None where there is no opinion.",
            cause="count",
            reward=subject.name,
            evidence=subject.evidence(row, completion=completion, got=got, expected=wanted),
            line=subject.description.line,
            count=count,
        )


def _figures(why: str) -> tuple[int | None, int | None]:
    numbers = [int(word) for word in why.split() if word.isdigit()]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (None, None)
