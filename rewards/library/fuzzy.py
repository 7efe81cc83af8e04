"""Text that is nearly the reference: similar letters, or shared words.

A wrong answer is often similar to the right one, so that similarity alone pays well for being wrong. Here the
last step to full marks is only made by equal texts, what is below a floor earns nothing, what is above it earns
less than half until it is very close, and a difference that changes the meaning, in a number or a negation,
earns nothing at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Any

from rapidfuzz.distance import Indel

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.exact import plain_answer, reference_texts
from rewards.library.extraction import FORMS, check_forms, find_answer
from rewards.library.parameters import number
from rewards.library.references import not_scored, tell_unread
from rewards.library.words import words_in
from rewards.marks import reward

FLOOR = 0.7
SHORTEST = 4
"""A reference of fewer characters has to be met exactly: one letter makes another word of it."""

_DIGITS = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_NEGATION = re.compile(r"\b(?:not|no|never|none|neither|nor|without|cannot)\b|n['’]t\b|\b(?:un|non)-")
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), scope="row", abstains=True)
def fuzzy_match(
    completions: list[Any],
    answer: list[Any],
    *,
    floor: float = FLOOR,
    answer_forms: Any = FORMS,
    log_metric: Any = None,
    **columns: Any,
) -> list[float | None]:
    """Reward text that is nearly the reference.

    1.0 where the answer a completion ends with equals the reference (as in `exact_match`). Else the two are
    compared letter by letter (rapidfuzz's Indel ratio s, 1 for equal texts): 0.0 up to `floor`, above it ((s -
    floor) / (1 - floor)) ** 3. So a slip in a long name keeps most of it, and another word earns little.
    Numbers and negations have to agree, and a reference of fewer than four characters has to be met exactly.

    Args:
        completions: chat or plain text.
        answer: column with the references: text, or lists of texts of which the most similar counts.
        floor: similarity up to which nothing is earned, from 0 to 0.99.
        answer_forms: the forms an answer may have, of "tag", "boxed", "hash", "line", "whole".
        log_metric: TRL's; told the share of references that are missing, where there are any.

    Returns:
        A value in [0, 1] per completion; None where the reference is missing or empty.

    Raises:
        ValueError: if `floor` or `answer_forms` cannot be used.

    >>> scores = fuzzy_match(["Charles Darwin", "Charles Darvin", "Karl Marx", ""], answer=["charles darwin"] * 4)
    >>> [round(score, 2) for score in scores]
    [1.0, 0.44, 0.0, 0.0]
    >>> fuzzy_match(["in 1813", "it is not true"], answer=["in 1812", "it is true"])
    [0.0, 0.0]
    """
    forms = check_forms("fuzzy_match", answer_forms)
    lowest = number("fuzzy_match", "floor", floor, 0.0, 0.99)
    scores = [
        _fuzzy(completion_text(completion), reference, forms, lowest)
        for completion, reference in zip(completions, answer, strict=True)
    ]
    tell_unread(log_metric, "fuzzy_match", scores)
    return scores


def _fuzzy(text: str, reference: Any, forms: tuple[str, ...], floor: float) -> float | None:
    wanted = [one for one in map(plain_answer, reference_texts(reference)) if one]
    if not wanted:
        return not_scored(reference, "text")
    found = find_answer(text, forms=forms)
    got = plain_answer(found.text) if found else ""
    score = max(_similarity(got, one, floor) for one in wanted)
    return credit("similar to the reference", score, of=1.0, span=found.span if found else None)


def _similarity(got: str, wanted: str, floor: float) -> float:
    if got == wanted:
        return 1.0
    if not got or len(wanted) < SHORTEST or len(got) > 3 * len(wanted) or _says_otherwise(got, wanted):
        return 0.0
    ratio = Indel.normalized_similarity(got, wanted, score_cutoff=floor)
    return float(((ratio - floor) / (1.0 - floor)) ** 3) if ratio > floor else 0.0


def _says_otherwise(got: str, wanted: str) -> bool:
    return _DIGITS.findall(got) != _DIGITS.findall(wanted) or len(_NEGATION.findall(got)) != len(
        _NEGATION.findall(wanted)
    )


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0), scope="row", abstains=True)
def word_overlap(
    completions: list[Any],
    answer: list[Any],
    *,
    answer_forms: Any = FORMS,
    log_metric: Any = None,
    **columns: Any,
) -> list[float | None]:
    """Reward the words that an answer shares with the reference (the F1 of question answering).

    The words of the answer a completion ends with and those of the reference are counted, without case,
    punctuation and English articles; in Chinese and Japanese each sign is a word. With `shared` words in common,
    each as often as both have it, the score is 2 * shared / (words in the answer + words in the reference): saying
    more than was asked costs as much as leaving out.

    Args:
        completions: chat or plain text.
        answer: column with the references: text, or lists of texts of which the one that scores best counts.
        answer_forms: the forms an answer may have, of "tag", "boxed", "hash", "line", "whole".
        log_metric: TRL's; told the share of references that are missing, where there are any.

    Returns:
        A value in [0, 1] per completion; None where the reference is missing or has no word.

    Raises:
        ValueError: if `answer_forms` names an unknown form.

    >>> word_overlap(["the brown fox", "a dog", ""], answer=["a quick brown fox", "The dog.", "dog"])
    [0.8, 1.0, 0.0]
    """
    forms = check_forms("word_overlap", answer_forms)
    scores = [
        _overlap(completion_text(completion), reference, forms)
        for completion, reference in zip(completions, answer, strict=True)
    ]
    tell_unread(log_metric, "word_overlap", scores)
    return scores


def _overlap(text: str, reference: Any, forms: tuple[str, ...]) -> float | None:
    wanted = [words for words in map(_words, reference_texts(reference)) if words]
    if not wanted:
        return not_scored(reference, "text with a word")
    found = find_answer(text, forms=forms)
    got = _words(found.text) if found else Counter()
    score = max(_f1(got, words) for words in wanted)
    return credit("words shared with the reference", score, of=1.0, span=found.span if found else None)


def _words(text: str) -> Counter[str]:
    text = _PUNCTUATION.sub("", unicodedata.normalize("NFC", text).casefold())
    return Counter(words_in(_ARTICLE.sub(" ", text)))


def _f1(got: Counter[str], wanted: Counter[str]) -> float:
    shared = sum((got & wanted).values())
    return 2 * shared / (sum(got.values()) + sum(wanted.values())) if shared else 0.0
