"""Diversity: what a group of completions to one prompt has in common costs its members."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.parameters import number, whole_number
from rewards.library.repetition import ngrams, words_of
from rewards.library.rightness import right_rows
from rewards.marks import reward


@reward(kind="diversity", weight=0.3, range=(-1.0, 0.0), scope="group")
def duplicate_penalty(
    completions: list[Any],
    prompts: Any = None,
    answer: Any = None,
    correct: Any = None,
    *,
    ngram_size: int = 4,
    free_overlap: float = 0.2,
    graded_by: str = "numeric",
    **columns: Any,
) -> list[float | None]:
    """Penalise completions that say what others to the same prompt say.

    What two completions share is 1 where they are the same but for case and white space, else the share of their
    runs of `ngram_size` words that both have, less `free_overlap`. A completion costs the mean of what it shares
    with the other right ones of its group.

    Being different is worth nothing in a wrong answer: where it can be told what is right (`answer` or `correct`),
    a wrong completion costs 1.0, and only right ones are compared. So nothing is won by being wrong in a new
    way, and a group without a right answer is without spread.

    Groups are told by their prompts. A group that the trainer splits over processes is compared in parts.

    Args:
        completions: chat or plain text.
        prompts: chat or plain text; None: all belong to one group.
        answer: column with the references.
        correct: column with verdicts, true or false, which are taken instead of judging the answer.
        ngram_size: how many words make a run.
        free_overlap: the share of common runs that costs nothing, from 0 to 0.99.
        graded_by: who says what is right: a key of `rewards.library.rightness.GRADERS`.

    Returns:
        A value in [-1, 0] per completion.

    Raises:
        ValueError: if a parameter is not what it should be.

    >>> duplicate_penalty(["7 it is", "7  It is", "so seven", "8"])
    [-0.3333333333333333, -0.3333333333333333, 0.0, 0.0]
    >>> duplicate_penalty(["7", "7", "8"], answer=["7", "7", "7"])
    [-1.0, -1.0, -1.0]
    """
    size = whole_number("duplicate_penalty", "ngram_size", ngram_size)
    free = number("duplicate_penalty", "free_overlap", free_overlap, 0.0, 0.99)
    right = right_rows("duplicate_penalty", graded_by, completions, answer, correct)
    texts = [completion_text(completion) for completion in completions]
    scores: list[float | None] = [0.0] * len(texts)
    for rows in _groups(prompts, len(texts)):
        compared = [row for row in rows if right[row] is not False]
        shared = dict(zip(compared, _shared([texts[row] for row in compared], size, free), strict=True))
        for row in rows:
            scores[row] = _score(texts[row], shared.get(row))
    return scores


def _score(text: str, shared: float | None) -> float:
    span = (0, len(text))
    if shared is None:
        return credit("a wrong answer, however different", -1.0, of=0.0, span=span)
    return credit("shared with the others of the group", -shared or 0.0, of=0.0, span=span)


def _shared(texts: Sequence[str], size: int, free: float) -> list[float]:
    """For each text the mean of what it shares with the others."""
    if len(texts) < 2:
        return [0.0] * len(texts)
    words = [words_of(text) for text in texts]
    runs = [set(ngrams(one, size)) for one in words]
    sums = [0.0] * len(texts)
    for one in range(len(texts)):
        for other in range(one):
            common = 1.0 if words[one] == words[other] else _overlap(runs[one], runs[other], free)
            sums[one] += common
            sums[other] += common
    return [min(1.0, total / (len(texts) - 1)) for total in sums]


def _overlap(one: set[Any], other: set[Any], free: float) -> float:
    if not one or not other:
        return 0.0
    common = len(one & other)
    return max(0.0, (common / (len(one) + len(other) - common) - free) / (1.0 - free))


def _groups(prompts: Any, rows: int) -> list[list[int]]:
    """The rows of each prompt, in order."""
    if not prompts:
        return [list(range(rows))]
    groups: dict[str, list[int]] = {}
    for row, prompt in enumerate(prompts):
        key = prompt if isinstance(prompt, str) else json.dumps(prompt, sort_keys=True, default=str)
        groups.setdefault(key, []).append(row)
    return list(groups.values())
