"""Repetition: how much of a text says again what it has said, in runs of words or, without spaces, of characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.parameters import number, one_of, whole_number
from rewards.library.words import words_in
from rewards.marks import reward

STRETCH = 120
"""Characters without a space from which on a stretch that says one thing again and again counts: a line of dashes, the
rule of a table, a long number and a run of zeros have fewer."""

_MOST_CHARACTERS = 200_000
_UNSPACED = re.compile(rf"\S{{{STRETCH},}}+")
_AGAIN = re.compile(r"(\S{1,3}?)\1{39,}+|(\S{4,10}?)\2{11,}+|(\S{11,30}?)\3{3,}+")

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
    """Penalise repeated runs of words, or of characters.

    The share of different runs of `ngram_size` words among all of them, from 0 to 1, costs nothing down to
    `free_share` and falls from there in a straight line to -1.0 at 0. A text too short to have two runs, the empty
    one too, repeats nothing. Upper and lower case are the same; in Chinese and Japanese each sign is a word.

    Where no spaces are (`hahaha...`), the share of characters counts that do not say again what stands before them:
    in stretches of 120 characters or more in which at most 30 come again and again, among the first 200,000. The
    worse of the two shares is taken. With `counted="tokens"` characters do not count.

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
        return [
            _penalty(text, len(ids), _different(ids, size), size, free)
            for text, ids in zip(texts, sequences, strict=True)
        ]
    return [_worse(text, size, free) for text in texts]


def _worse(text: str, size: int, free: float) -> float:
    words = words_of(text)
    runs, characters = _different(words, size), fresh_characters(text)
    if runs <= characters:
        return _penalty(text, len(words), runs, size, free)
    note = f"{characters:.0%} of the characters say something new"
    points = min(0.0, (characters - free) / free)
    return credit("repeated runs of characters", points, of=0.0, span=(0, len(text)), note=note)


def _penalty(text: str, words: int, share: float, size: int, free: float) -> float:
    points = min(0.0, (share - free) / free)
    note = (
        f"{share:.0%} of the runs of {size} are different" if words > size else "too short to repeat anything"
    )
    return credit("repeated runs of words", points, of=0.0, span=(0, len(text)), note=note)


def _different(words: Sequence[Any], size: int) -> float:
    """The share of different runs among all."""
    runs = len(words) - size + 1
    return len(set(ngrams(words, size))) / runs if runs > 1 else 1.0


def fresh_characters(text: str) -> float:
    """The share of a text's characters, spaces apart, that do not repeat a stretch before them.

    >>> round(fresh_characters("ha" * 300), 4), fresh_characters("-" * 80), fresh_characters("no " * 80)
    (0.0033, 1.0, 1.0)
    """
    text = text[:_MOST_CHARACTERS].lower()
    repeated = 0
    for unspaced in _UNSPACED.finditer(text):
        for again in _AGAIN.finditer(text, *unspaced.span()):
            length = len(again[0])
            repeated += length - len(again[again.lastindex or 0]) if length >= STRETCH else 0
    return 1.0 - repeated / sum(map(len, text.split())) if repeated else 1.0


def words_of(text: str) -> list[str]:
    """The words of a text in lower case.

    >>> words_of("The cat, 日本")
    ['the', 'cat,', '日', '本']
    """
    return words_in(text.lower())


def ngrams(words: Sequence[Any], size: int) -> list[tuple[Any, ...]]:
    """Every run of `size` words.

    >>> ngrams(["a", "b", "c"], 2)
    [('a', 'b'), ('b', 'c')]
    """
    return list(zip(*(words[offset:] for offset in range(size)), strict=False))
