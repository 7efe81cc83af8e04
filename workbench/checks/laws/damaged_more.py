"""RW212: a damaged right completion earns more than the whole one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workbench.answer_form import gold_text
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.properties import falsify, remember, reproduction, shrink
from workbench.checks.subject import RewardSubject
from workbench.checks.trials import score_texts
from workbench.mutations import OPERATIONS, Material, mutate

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

HARMFUL = tuple(name for name in OPERATIONS if name not in ("words", "join", "answer", "number", "form"))
"""Operations that bring nothing in: what they leave is at best as good as the whole."""


class DamagedMore(RewardCheck):
    """A right sample earns more after parts of it were dropped, moved, nested or repeated.

    Found by Hypothesis: right samples are changed at random, but nothing is brought in that could make them
    better. None of what comes out may earn more than the best right sample does. The completion shown is the
    smallest found; the seed finds it again.

    Example:
        return [0.25 * len(re.findall("<", text)) for text in texts]       # a tag more, a quarter more

    Remedy:
        Pay for a part once, and for the whole most.
    """

    code = "RW212"
    name = "damaged-more"
    severity = "error"
    summary = "a damaged right completion earns more than any right one"
    cost = Cost.TEACHES_WRONG
    kinds = frozenset({"correctness", "format"})
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the smallest damaged completion that earns more."""
        task = subject.task
        if not task.cases or not subject.steadiness.reliable:
            return
        if subject.compares or subject.base.seconds > 0.02 * max(1, len(subject.rows)):
            return
        top = max(subject.scores[row] for row in task.right if row in subject.scores)
        low = min(case.floor for case in task.cases)
        margin = max(1e-6, 0.02 * (top - low))
        starts = {case.row: case.text for case in task.cases}

        def broken(items: Sequence[tuple[int, str]]) -> list[bool]:
            return [score > top + margin for score in score_texts(subject, items)]

        found = falsify(subject, _damaged(starts), broken, key="damaged", rows=list(starts), seconds=1.0)
        if found is None:
            return
        row, text = shrink(found, broken)
        remember(subject, "damaged", text)
        score = score_texts(subject, [(row, text)])[0]
        gold = f" (the answer is {gold_text(task.golds[row])})" if task.column and row in task.golds else ""
        yield self.finding(
            f"{subject.name} pays a damaged right sample {number(score)}, "
            f"more than any right one ({number(top)}){gold}.",
            advice=f"Pay for a part once, and for the whole most. {reproduction(subject, self.code)}",
            cause="damaged",
            reward=subject.name,
            evidence=subject.evidence(
                row, completion=subject.shaped(text), got=score, expected=f"at most {number(top)}"
            ),
            line=subject.description.line,
        )


def _damaged(starts: dict[int, str]) -> SearchStrategy[tuple[int, str]]:
    """(row, text) of right samples with one to four changes."""
    from hypothesis import strategies as st

    @st.composite
    def drawn(draw: DrawFn) -> tuple[int, str]:
        row = draw(st.sampled_from(sorted(starts, key=lambda r: len(starts[r]))))
        text = starts[row]
        for operation in draw(st.lists(st.sampled_from(HARMFUL), min_size=1, max_size=4)):
            text = mutate(text, operation, lambda n: int(draw(st.integers(0, max(0, n - 1)))), Material())
        return row, text

    return drawn()
