"""RW408: the declared maximum is never paid."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject

LEAST_PROMPTS = 3


class TopUnreached(RewardCheck):
    """Right samples earn the same share of the declared maximum, and none of them all of it; or less for more parts.

    A reward that says it returns up to 1 and pays a perfect answer 0.75 makes adaptive weights, success shares and
    the balance of the set wrong. Looked at where right samples can be perfect: for correctness, layout and
    length, with labelled right samples; every completion the checks tried counts as well. Whatever is declared, a
    perfect answer to a prompt that asks for three things must not earn less than one to a prompt that asks for one:
    that is a division too many.

    Example:
        return [right / (len(fields) + 1) ...]        # one too many

    Remedy:
        Correct the scale, or declare the range that is meant.
    """

    code = "RW408"
    name = "top-unreached"
    severity = "warning"
    summary = "right samples never earn the declared maximum"
    cost = Cost.HAMPERS
    kinds = frozenset({"correctness", "format", "length"})

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the best right sample, or with the one that earns less because more was asked for."""
        found = list(self._top(subject))
        yield from found or self._parts(subject)

    def _parts(self, subject: RewardSubject) -> Iterable[Finding]:
        """Right samples that earn the less the more items their ground truth has."""
        task = subject.task
        if task.kind != "correctness" or not task.cases or not subject.steadiness.reliable:
            return
        best = _best_by_parts(subject)
        sizes = sorted(best)
        if len(sizes) < 2 or sum(len(rows) for rows in best.values()) < LEAST_PROMPTS:
            return
        paid = [[subject.scores[row] for row in best[size]] for size in sizes]
        if any(max(scores) - min(scores) > 1e-6 for scores in paid):
            return
        if not all(more[0] < fewer[0] - 0.05 * abs(fewer[0]) for fewer, more in itertools.pairwise(paid)):
            return
        few, many = best[sizes[0]][0], best[sizes[-1]][0]
        yield self.finding(
            f"{subject.name} pays a right answer the less the more parts it has: "
            + ", ".join(f"{number(scores[0])} for {size}" for size, scores in zip(sizes, paid, strict=True))
            + ".",
            advice="Divide by the number of parts once: a perfect answer earns the same, however many parts it has.",
            cause="parts",
            reward=subject.name,
            evidence=subject.evidence(many, got=subject.scores[many], expected=subject.scores[few]),
            line=subject.description.line,
            count=sum(len(best[size]) for size in sizes[1:]),
        )

    def _top(self, subject: RewardSubject) -> Iterable[Finding]:
        """The declared maximum, which no right sample earns."""
        task, bounds = subject.task, subject.declared_range
        if (
            bounds is None
            or not task.cases
            or task.how != "declared"
            or task.kind not in ("correctness", "format", "length")
        ):
            return
        right = [row for row in subject.labelled("right") if row in subject.scores] if subject.judged else []
        if len(right) < 2 or not subject.steadiness.reliable:
            return
        low, high = bounds
        best = max(right, key=lambda row: (subject.scores[row], -len(subject.text(row))))
        top = max([subject.scores[best], *(score for score in subject.tried.values() if score == score)])
        if top >= high - 0.01 * (high - low):
            return
        yield self.finding(
            f"{subject.name} never pays its declared maximum {number(high)}: the best of {len(right)} right samples "
            f"gets {number(subject.scores[best])}.",
            advice="Correct the scale, or declare the range that is meant.",
            cause="top",
            reward=subject.name,
            evidence=subject.evidence(best, got=subject.scores[best], expected=high),
            line=subject.description.line,
            count=len(right),
        )


def _best_by_parts(subject: RewardSubject) -> dict[int, list[int]]:
    """The best right row of each prompt, by the number of items (or keys) of its ground truth."""
    assert subject.batch is not None
    task, groups = subject.task, subject.batch.groups
    if task.column is None:
        return {}
    best: dict[str, int] = {}
    for row in task.right:
        known = best.get(groups[row])
        if known is None or subject.scores[row] > subject.scores[known]:
            best[groups[row]] = row
    found: dict[int, list[int]] = {}
    for row in best.values():
        value = subject.batch.columns[task.column][row]
        if isinstance(value, (list, tuple, Mapping)) and value:
            found.setdefault(len(value), []).append(row)
    return found
