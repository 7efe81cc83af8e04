"""RW103: a default that hides a missing column."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import numpy as np

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject


class UnfilledDefault(RewardCheck):
    """An argument that reads like a column keeps its default, because the data has no such column.

    `solution=None` makes the missing column invisible: nothing raises, and the reward judges without the
    ground truth. Arguments that are settings (`max_words=120`) are meant to keep their defaults; so this
    check speaks only when it can show that the reward gives every sample the same score as it is, and tells
    them apart once the likely column is passed under that name.

    Example:
        def correct(completions, solution=None, **kwargs):   # the data has `answer`
            if solution is None:
                return [0.5] * len(completions)

    Remedy:
        Name the argument as the column is named and give it no default.
    """

    code = "RW103"
    name = "unfilled-default"
    severity = "error"
    summary = "an argument with a default is meant to be a column and is never filled"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each default that a column of the samples was shown to belong to."""
        assert subject.batch is not None
        signature = subject.description.signature
        columns = subject.batch.columns
        unread = [name for name in columns if name not in (*signature.required, *signature.optional)]
        unfilled = [name for name in signature.optional if name not in columns]
        values = set(subject.scores.values())
        if not unread or not unfilled or len(values) > 1 or len(subject.usable) < 2:
            return
        for argument in unfilled:
            alike = sorted(unread, key=lambda name: -difflib.SequenceMatcher(None, argument, name).ratio())
            for column in alike[:5]:
                found = self._compare(subject, argument, column)
                if found is not None:
                    yield found
                    break

    def _compare(self, subject: RewardSubject, argument: str, column: str) -> Finding | None:
        assert subject.batch is not None
        rows = subject.few()
        filled = subject.call(
            rows,
            [subject.batch.completions[row] for row in rows],
            {argument: [subject.batch.columns[column][row] for row in rows]},
        )
        numbers = filled.scores[filled.status == 0]
        if len(numbers) < len(rows) or len(np.unique(numbers)) < 2:
            return None
        best = max(range(len(rows)), key=lambda i: (filled.scores[i], -len(subject.text(rows[i]))))
        now = subject.scores.get(rows[best])
        return self.finding(
            f"The argument '{argument}' of {subject.name} is never filled: the samples have no such column, so the "
            f"default stands in and every sample scores {'None' if now is None else number(now)}; with the column "
            f"'{column}' in its place the scores differ.",
            advice=f"Name the argument '{column}' and drop its default, or map the column: "
            f'[data] columns = {{ {column} = "{argument}" }}.',
            cause="constant",
            shared=True,
            reward=subject.name,
            evidence=subject.evidence(rows[best], got=now, expected=float(filled.scores[best])),
            line=subject.description.line,
            count=len(subject.usable),
        )
