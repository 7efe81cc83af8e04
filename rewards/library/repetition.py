"""Repetition: how much of a text says again what it has said, in runs of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.parameters import number, one_of, whole_number
from rewards.marks import reward

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\s\u3040-\u30ff\u3400-\u9fff]+")
"""What white space separates; a sign of a script without spaces is a word of its own."""

UNITS = ("words", "tokens")


@reward(kind="style", weight=0.3, range=(-1.0, 0.0), scope="row")
def repetition_penalty(
    completions: list[Any],
    completion_ids: Any = None,
    *,
    ngram_size: int = 3,
    free_share: float = 0.7,
    counted: str = "words",
    **columns: Any,
) -> list[float | None]:
    """Penalise repeated runs of words.

    The share of different runs of `ngram_size` words among all of them, from 0 to 1, costs nothing down to
    `free_share` and falls from there in a straight line to -1.0 at 0. A text too short to have two runs, the empty
    one too, repeats nothing. Upper and lower case are the same.

    Args:
        completions: chat or plain text.
        completion_ids: token ids, read with `counted="tokens"` alone.
        ngram_size: how many words make a run.
        free_share: above 0, at most 1; at 1.0 every repeated run costs.
        counted: "words" or "tokens".

    Returns:
        A value in [-1, 0] per completion.

    Raises:
        ValueError: if a parameter is not what it should be.

    >>> repetition_penalty(["a b a b a b a b", "a b", "every word of this is new"], free_share=1.0)
    [-0.6666666666666667, 0.0, 0.0]
    """
    size = whole_number("repetition_penalty", "ngram_size", ngram_size)
    free = number("repetition_penalty", "free_share", free_share, 0.01, 1.0)
    unit = one_of("repetition_penalty", "counted", counted, UNITS)
    texts = [completion_text(completion) for completion in completions]
    if unit == "tokens":
        sequences: list[Sequence[Any]] = list(completion_ids or [[]] * len(texts))
        return [_penalty(text, ids, size, free) for text, ids in zip(texts, sequences, strict=True)]
    return [_penalty(text, words_of(text), size, free) for text in texts]


def _penalty(text: str, words: Sequence[Any], size: int, free: float) -> float:
    runs = len(words) - size + 1
    share = len(set(ngrams(words, size))) / runs if runs > 1 else 1.0
    points = min(0.0, (share - free) / free)
    note = f"{share:.0%} of the runs of {size} are different" if runs > 1 else "too short to repeat anything"
    return credit("repeated runs of words", points, of=0.0, span=(0, len(text)), note=note)


def words_of(text: str) -> list[str]:
    """The words of a text in lower case.

    >>> words_of("The cat, 日本")
    ['the', 'cat,', '日', '本']
    """
    return _WORD.findall(text.lower())


def ngrams(words: Sequence[Any], size: int) -> list[tuple[Any, ...]]:
    """Every run of `size` words.

    >>> ngrams(["a", "b", "c"], 2)
    [('a', 'b'), ('b', 'c')]
    """
    return list(zip(*(words[offset:] for offset in range(size)), strict=False))
