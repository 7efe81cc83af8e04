"""RW103: a default that hides a missing column."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject

UNORDERED, ORDERED = 0.7, 0.95
"""Shares of pairs of right and wrong samples in order: below the one as it is, above the other with the column."""


class UnfilledDefault(RewardCheck):
    """An argument that reads like a column keeps its default, because the data has no such column.

    `solution=None` makes the missing column invisible: nothing raises, and the reward judges without the
    ground truth. Arguments that are settings (`max_words=120`) are meant to keep their defaults; so this
    check speaks only when it can show it: as it is, the reward gives every sample the same score, or does not
    score labelled right samples above wrong ones; once the likely column is passed under that name, it does.

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
        constant = len(set(subject.scores.values())) <= 1
        if not unread or not unfilled or len(subject.usable) < 2:
            return
        scored = np.array(list(subject.scores.values()))
        if not constant and not (
            subject.judged and in_order(subject, list(subject.scores), scored) < UNORDERED
        ):
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
        constant = len(set(subject.scores.values())) <= 1
        rows = subject.few() if constant else labelled_rows(subject)
        filled = subject.call(
            rows,
            [subject.batch.completions[row] for row in rows],
            {argument: [subject.batch.columns[column][row] for row in rows]},
        )
        numbers = filled.scores[filled.status == 0]
        if len(numbers) < len(rows) or len(np.unique(numbers)) < 2:
            return None
        if not constant and in_order(subject, rows, numbers) < ORDERED:
            return None
        best = _most_changed(subject, rows, filled.scores)
        now = subject.scores.get(rows[best])
        scored = "None" if now is None else number(now)
        return self.finding(
            f"The argument '{argument}' of {subject.name} is never filled: the samples have no such column, so the "
            + (
                f"default stands in and every sample scores {scored}; with the column '{column}' in its place the "
                "scores differ."
                if constant
                else f"default stands in and this sample scores {scored}; with the column '{column}' in its place it "
                f"scores {number(float(filled.scores[best]))}, and right samples score above wrong ones."
            ),
            advice=f"Name the argument '{column}' and drop its default, or map the column: "
            f'[data] columns = {{ {column} = "{argument}" }}.',
            cause="constant" if constant else f"unfilled {argument}",
            shared=constant,
            reward=subject.name,
            evidence=subject.evidence(rows[best], got=now, expected=float(filled.scores[best])),
            line=subject.description.line,
            count=len(subject.usable),
        )


def _most_changed(subject: RewardSubject, rows: Sequence[int], filled: npt.NDArray[np.float64]) -> int:
    """The place in `rows` of the shortest sample whose score the column changes most."""
    before = [subject.scores.get(row) for row in rows]
    changes = [abs(float(new) - (old or 0.0)) for new, old in zip(filled, before, strict=True)]
    most = max(changes) - 1e-9
    return min(
        (place for place, change in enumerate(changes) if change >= most),
        key=lambda place: (len(subject.text(rows[place])), rows[place]),
    )


def in_order(subject: RewardSubject, rows: Sequence[int], scores: npt.NDArray[np.float64]) -> float:
    """The share of pairs of a right and a wrong sample of one prompt in which the right one scores more.

    `scores` runs along `rows`; 1.0 where there is no such pair.
    """
    assert subject.batch is not None
    groups, by_row = subject.batch.groups, dict(zip(rows, map(float, scores), strict=True))
    right = [row for row in subject.labelled("right") if row in by_row]
    wrong = [row for row in subject.labelled("wrong", "hack") if row in by_row]
    pairs = [(one, other) for one in right for other in wrong if groups[one] == groups[other]]
    return sum(by_row[one] > by_row[other] for one, other in pairs) / len(pairs) if pairs else 1.0


def labelled_rows(subject: RewardSubject) -> list[int]:
    """Some samples labelled right or wrong, with those of a prompt together."""
    assert subject.batch is not None
    groups = subject.batch.groups
    rows = sorted(subject.labelled("right", "wrong", "hack"), key=lambda row: (groups[row], row))
    return rows[: max(4, min(64, subject.affordable()))]
