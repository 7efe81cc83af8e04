"""Words whose share rises with the advantage: what the policy is being taught to say, before the curves show it.

A reward that pays for a word by mistake is learnt within a few steps. In the completions of those steps the word then
stands oftener where the advantage is above the average than where it is below.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

WORD = re.compile(r"</?\w+>|\w+(?:['’]\w+)*|[^\w\s]")
"""A tag, a word or number, or a single sign."""

LONGEST = 3
SUPPORT = 3
MOST = 20
MAX_WORDS = 2_000
"""Words of a completion that are looked at; a loop of ten thousand says nothing more than its beginning."""


@dataclass(frozen=True)
class Phrase:
    """One to three words, in small letters.

    `above` of the `of_above` completions whose advantage is above the average contain it, `below` of the `of_below`
    others.
    """

    text: str
    above: int
    below: int
    of_above: int
    of_below: int

    @property
    def rise(self) -> float:
        """Share among those above minus share among those below, in [-1, 1]."""
        return self.above / self.of_above - self.below / self.of_below


def rising_phrases(
    texts: Sequence[str],
    advantages: Sequence[float | None],
    *,
    longest: int = LONGEST,
    support: int = SUPPORT,
    most: int = MOST,
) -> list[Phrase]:
    """The phrases whose share rises most from the completions below the average advantage to those above it.

    A completion counts once for a phrase however often it says it. Those exactly at the average (such as all of a
    group without spread) and those without a finite advantage are left out. Of phrases one inside the other that
    stand in the same completions the longest is kept, for it says the most.

    Args:
        texts: the completions.
        advantages: one for each; None or NaN where there is none.
        longest: words of a phrase at most, at least 1.
        support: completions that must contain a phrase, at least 1.
        most: phrases given at most.

    Returns:
        Phrases with a rise above 0, the largest first, then those in more completions; [] where either side is empty.
    """
    above, below = _sides(advantages)
    if not above or not below:
        return []
    found = _frequent({row: words_of(texts[row]) for row in (*above, *below)}, longest, support)
    high, low = set(above), set(below)
    counted: list[tuple[tuple[str, ...], Phrase, frozenset[int]]] = []
    for words, rows in found.items():
        phrase = Phrase(" ".join(words), len(rows & high), len(rows & low), len(high), len(low))
        if phrase.rise > 0:
            counted.append((words, phrase, frozenset(rows)))
    counted.sort(key=lambda one: (-one[1].rise, -len(one[2]), -len(one[0]), one[0]))
    by_rows: dict[frozenset[int], list[tuple[str, ...]]] = defaultdict(list)
    kept = []
    for words, phrase, where in counted:  # of the same rows the longest come first
        if not any(_within(words, longer) for longer in by_rows[where]):
            by_rows[where].append(words)
            kept.append(phrase)
    return kept[:most]


def words_of(text: str) -> list[str]:
    """The words of a text in small letters, in their order, at most `MAX_WORDS` of them.

    >>> words_of("So: <answer>4, it's")
    ['so', ':', '<answer>', '4', ',', "it's"]
    """
    return [match.group().casefold() for match in islice(WORD.finditer(text), MAX_WORDS)]


def _frequent(said: Mapping[int, list[str]], longest: int, support: int) -> dict[tuple[str, ...], set[int]]:
    """The phrases that at least `support` completions contain, with the rows of those.

    A phrase is in no more completions than its parts are, so longer ones are made of what was frequent enough only:
    a thousand long completions have few such phrases and millions of others.
    """
    found: dict[tuple[str, ...], set[int]] = {}
    shorter: dict[tuple[str, ...], set[int]] = {}
    for length in range(1, longest + 1):
        level: dict[tuple[str, ...], set[int]] = defaultdict(set)
        for row, words in said.items():
            for start in range(len(words) - length + 1):
                phrase = tuple(words[start : start + length])
                if length == 1 or (phrase[:-1] in shorter and phrase[1:] in shorter):
                    level[phrase].add(row)
        shorter = {phrase: rows for phrase, rows in level.items() if len(rows) >= support}
        found.update(shorter)
    return found


def _sides(advantages: Sequence[float | None]) -> tuple[list[int], list[int]]:
    """The rows above and below the average advantage."""
    known = {row: value for row, value in enumerate(advantages) if value is not None and math.isfinite(value)}
    if not known:
        return [], []
    average = math.fsum(known.values()) / len(known)
    near = 1e-9 * max(1.0, *map(abs, known.values()))
    above = [row for row, value in known.items() if value - average > near]
    below = [row for row, value in known.items() if average - value > near]
    return above, below


def _within(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    return any(long[at : at + len(short)] == short for at in range(len(long) - len(short) + 1))
