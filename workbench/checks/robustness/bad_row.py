"""RW506: one bad row that takes its neighbours along."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rewards.contract import Status
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.robustness.hostile import strange_texts
from workbench.checks.robustness.slow_rows import row_seconds
from workbench.checks.steadiness import differ, plain_scores
from workbench.checks.subject import RewardSubject

QUICK_PACE_S = 0.002
"""Slower rewards are tried with odd texts only, which cost what samples cost."""
BESIDE = 6
"""Samples that stand beside the bad row."""


class BadRow(RewardCheck):
    """One bad completion changes the scores of the completions beside it.

    A batch holds completions of every quality. Where a reward parses or compares them all inside one `try`, a single
    one that cannot be read gives all of them the score of a failure, and the model learns from rows that did nothing
    wrong. Bad rows of many kinds are put between samples, one kind at a time; the samples must keep their scores.
    (An exception that leaves the reward is told by RW110 and RW501.)

    Example:
        try:
            return [score(parse(text)) for text in completions]
        except ValueError:
            return [0.0] * len(completions)       # one unreadable row, and nobody is paid

    Remedy:
        Put the `try` inside the loop, around one row.
    """

    code = "RW506"
    name = "bad-row"
    severity = "error"
    summary = "one bad completion changes the scores of its neighbours"
    cost = Cost.RUINS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the shortest bad row that does it."""
        row = subject.odd.row
        if row is None or subject.compares or not subject.steadiness.reliable:
            return
        beside = [r for r in subject.few(BESIDE) if r in subject.scores]
        if len({subject.scores[r] for r in beside}) < 2:
            beside = list(dict.fromkeys([*beside, *(r for r in subject.scores if subject.scores[r])]))[
                : BESIDE + 2
            ]
        texts = list(dict.fromkeys(self._texts(subject, row)))
        if not beside or not texts or not self._moved(subject, beside, row, texts):
            return
        found = self._smallest(subject, beside, row, texts)
        if found is not None:
            yield self._tell(subject, row, *found)

    def _texts(self, subject: RewardSubject, row: int) -> list[str]:
        """Bad rows on which the reward does not raise by itself."""
        plain = [
            item.text
            for item, _, state in subject.odd.shortest_first()
            if item.what != "a sample" and state not in (Status.RAISED, Status.TIMEOUT, Status.DIED)
        ]
        hostile = []
        if row_seconds(subject) < QUICK_PACE_S:
            hostile = [
                item.text for item in strange_texts(subject.text(row), subject.task.tags) if item.likely
            ]
        return [*plain, *hostile][: subject.affordable(0.5)]

    def _moved(
        self, subject: RewardSubject, beside: Sequence[int], row: int, texts: Sequence[str]
    ) -> tuple[int, float] | None:
        """A sample whose score another one with these bad rows in its call is, and that score."""
        half = len(beside) // 2
        rows = [*beside[:half], *[row] * len(texts), *beside[half:]]
        shaped = [subject.shaped(text) for text in texts]
        assert subject.batch is not None
        own = [subject.batch.completions[r] for r in beside]
        result = subject.call(rows, [*own[:half], *shaped, *own[half:]])
        if any(
            Status(int(state)).failed
            for state in result.status[[*range(half), *range(half + len(texts), len(rows))]]
        ):
            return None
        scores = plain_scores(result)
        places = [*range(half), *range(half + len(texts), len(rows))]
        for place, sample in zip(places, beside, strict=True):
            if differ(float(scores[place]), subject.scores[sample]):
                return sample, float(scores[place])
        return None

    def _smallest(
        self, subject: RewardSubject, beside: Sequence[int], row: int, texts: list[str]
    ) -> tuple[str, int, float] | None:
        """The shortest text that moves a sample by itself, with the sample and its score beside it."""
        for text in sorted(texts, key=len)[:40]:
            moved = self._moved(subject, beside, row, [text])
            if moved is not None:
                return text, *moved
        return None

    def _tell(self, subject: RewardSubject, row: int, text: str, sample: int, score: float) -> Finding:
        shown = "no score" if math.isnan(score) else number(score)
        return self.finding(
            f"{subject.name}: beside one bad completion, a sample that earns {number(subject.scores[sample])} earns "
            f"{shown}.",
            advice="Put the try inside the loop over the completions, around one row.",
            cause="neighbours",
            reward=subject.name,
            evidence=subject.evidence(
                row, completion=subject.shaped(text), got=shown, expected=number(subject.scores[sample])
            ),
            line=subject.description.line,
        )


__all__ = ["BadRow"]
