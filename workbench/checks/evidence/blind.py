"""Whether a reward about correctness is blind to it: it tells no wrong completion from a right one.

About correctness is one that is said to be, and one of no declared kind that reads the column in which the right
completions' answers stand. Of any other the labels may mean something else.
"""

from __future__ import annotations

from workbench.answer_variants import far_wrong
from workbench.checks.evidence.ranking import FEWEST, Pair, Ranking
from workbench.checks.golds import find_gold
from workbench.checks.subject import RewardSubject
from workbench.checks.trials import score_texts

TRIED = 6
"""Right completions in which the answer is replaced."""


def labelled_pairs(member: RewardSubject, ranking: Ranking) -> tuple[Pair, ...]:
    """Pairs of right and wrong; against hacks only where nothing else is labelled.

    A hack is often no answer at all: that it earns less says that the form is looked at, not the answer.
    """
    return ranking.without(member.labelled("hack"))


def is_blind(member: RewardSubject, ranking: Ranking) -> bool:
    """Whether all pairs are equal, in enough independent comparisons, and wrong answers put in are not told either."""
    if not _about_correctness(member) or not all(p.tied for p in labelled_pairs(member, ranking)):
        return False
    return _independent(member, ranking) >= FEWEST and not _tells_made_up(member, ranking)


def _about_correctness(member: RewardSubject) -> bool:
    kind, column = member.task.kind, member.task.column
    return kind == "correctness" or (kind is None and column is not None and column in member.reads)


def _independent(member: RewardSubject, ranking: Ranking) -> int:
    """One fewer than the rows compared, of each prompt where they are compared inside prompts."""
    assert member.batch is not None
    used = {row for pair in labelled_pairs(member, ranking) for row in (pair.right, pair.other)}
    return len(used) - (len({member.batch.groups[row] for row in used}) if ranking.inside else 1)


def _tells_made_up(member: RewardSubject, ranking: Ranking) -> bool:
    """Whether a wrong answer in the place of the right one earns less, in any right completion."""
    task = member.task
    wrong: list[tuple[int, str]] = []
    for row in dict.fromkeys(pair.right for pair in ranking.pairs):
        slot = find_gold(member.text(row), task.golds[row]) if row in task.golds else None
        if slot is not None and len(wrong) < TRIED:
            far = far_wrong(task.golds[row], task.options, form=slot.form)
            wrong += [(row, slot.write(variant.text)) for variant in far[:1]]
    scores = score_texts(member, wrong)
    return any(score < member.scores[row] - 1e-6 for (row, _), score in zip(wrong, scores, strict=True))


__all__ = ["is_blind", "labelled_pairs"]
