"""RW107: a score outside the declared range."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rewards.contract import Status
from workbench.answer_form import gold_text, value_of
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.odd import repeated
from workbench.checks.subject import RewardSubject
from workbench.checks.trials import score_texts

SLACK = 1e-6
FAR = "100000"
TIMES_AWAY = 10


class OutOfRange(RewardCheck):
    """A score lies outside the range that the reward declares.

    Weights, success shares and the balance of a set are chosen by the declared range. A score beyond it
    usually has no upper end at all: a policy finds what adds points and repeats it. Tried on the samples, on
    odd completions, on a sample written many times over and with a number far off as the answer. On a text that hardly
    any model writes (broken emoji, a number far off) it is a warning, unless the score lies further outside than the
    range is wide: then one such text drowns its group. Where no range is declared, only a number that is far off
    is tried as the answer: it must not lie further away than ten times what all samples differ by, because in its group
    nothing else would count (a warning).

    Example:
        # range = [0, 1]
        return [0.125 * text.count("<answer>") for text in texts]    # nine tags: 1.125

    Remedy:
        Cap the score, `min(1.0, score)`, count each part once, or declare the range that is meant.
    """

    code = "RW107"
    name = "out-of-range"
    severity = "error"
    summary = "a score lies outside the declared range"
    cost = Cost.TEACHES_WRONG
    version = 2

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each end of the range, with the smallest completion that passes it."""
        if subject.declared_range is None:
            yield from self._far_off(subject)
            return
        low, high = subject.declared_range
        for end, bound, sign in (("above", high, 1.0), ("below", low, -1.0)):
            finding = self._beyond(subject, end, bound, sign)
            if finding is not None:
                yield finding

    def _far_texts(self, subject: RewardSubject) -> list[tuple[int, str]]:
        """A few right samples with a number far off as their answer; none where numbers are not what is asked for."""
        if not subject.steadiness.reliable or subject.compares:
            return []
        return [
            (case.row, case.slot.write(FAR))
            for case in subject.task.cases
            if case.slot is not None and value_of(gold_text(case.gold)) is not None
        ][:2]

    def _far_off(self, subject: RewardSubject) -> Iterable[Finding]:
        """A wrong number as the answer that costs (or earns) a multiple of all differences there are."""
        texts = self._far_texts(subject)
        if not texts:
            return
        low, high = min(subject.scores.values()), max(subject.scores.values())
        for (row, text), score in zip(texts, score_texts(subject, texts), strict=True):
            away = max(low - score, score - high)
            if high > low and math.isfinite(score) and away > TIMES_AWAY * (high - low):
                yield self.finding(
                    f"{subject.name} has no bound: a number far off ({FAR}) scores {number(score)}, and all samples "
                    f"lie between {number(low)} and {number(high)}; in its group nothing else counts.",
                    advice="Hold the score in a range, max(0.0, score) or math.exp(-error), and declare it.",
                    cause="far off",
                    reward=subject.name,
                    severity="warning",
                    evidence=subject.evidence(
                        row,
                        completion=subject.shaped(text),
                        got=score,
                        expected=f"not far from {number(low)}",
                    ),
                    line=subject.description.line,
                )
                return

    def _beyond(self, subject: RewardSubject, end: str, bound: float, sign: float) -> Finding | None:
        rows = [row for row, score in subject.scores.items() if sign * (score - bound) > SLACK]
        if rows:
            row = subject.smallest(rows)
            return self._say(subject, end, bound, row, None, subject.scores[row], "", len(rows))
        odd = subject.odd
        for item, score, state in odd.shortest_first():
            if state == Status.NUMBER and sign * (score - bound) > SLACK:
                what = f" ({item.what})"
                return self._say(subject, end, bound, odd.row, item.text, score, what, 1, far=not item.usual)
        return self._repeated(subject, end, bound, sign) or self._number(subject, end, bound, sign)

    def _number(self, subject: RewardSubject, end: str, bound: float, sign: float) -> Finding | None:
        texts = self._far_texts(subject)
        for (row, text), score in zip(texts, score_texts(subject, texts), strict=True):
            if math.isfinite(score) and sign * (score - bound) > SLACK:
                what = f" (the number {FAR} as the answer)"
                return self._say(subject, end, bound, row, text, score, what, 1, far=True)
        return None

    def _repeated(self, subject: RewardSubject, end: str, bound: float, sign: float) -> Finding | None:
        scored = sorted(subject.scores, key=lambda row: (-sign * subject.scores[row], len(subject.text(row))))
        rows = scored[: min(4, subject.affordable())]
        for times in (2, 8, 32):
            items = [repeated(subject.text(row), times) for row in rows]
            if not items:
                return None
            result = subject.call(rows, [subject.shaped(item.text) for item in items])
            for place, row in enumerate(rows):
                score = float(result.scores[place])
                if result.status[place] == Status.NUMBER and sign * (score - bound) > SLACK:
                    what = f" ({items[place].what})"
                    return self._say(subject, end, bound, row, items[place].text, score, what, 1)
        return None

    def _say(
        self,
        subject: RewardSubject,
        end: str,
        bound: float,
        row: int | None,
        text: str | None,
        score: float,
        what: str,
        count: int,
        *,
        far: bool = False,
    ) -> Finding:
        assert subject.declared_range is not None
        low, high = subject.declared_range
        harmless = far and abs(score - bound) <= high - low
        rows = "a completion" if count == 1 else f"{count} completions"
        completion = None if text is None else subject.shaped(text)
        limit = "min" if end == "above" else "max"
        return self.finding(
            f"{subject.name} scores {rows}{what} {end} its declared range [{number(low)}, {number(high)}]: "
            f"{number(score)}.",
            advice=f"Cap the score, {limit}({number(bound)}, score), or declare the range that is meant.",
            cause=end,
            reward=subject.name,
            severity="warning" if harmless else None,
            evidence=subject.evidence(
                row,
                completion=completion,
                got=score,
                expected=f"{'at most' if end == 'above' else 'at least'} {number(bound)}",
            ),
            line=subject.description.line,
            count=count,
        )
