"""Kinds about length: words, sentences, paragraphs."""

from __future__ import annotations

import re

from rewards.library.instructions.verdict import Arguments, Verdict
from rewards.library.sentences import sentence_spans

_WORD = re.compile(r"\w+")
_STARS = re.compile(r"\s?\*\*\*\s?")
_ENDS_A_WORD = frozenset(".,?!'\"")


def number_words(text: str, arguments: Arguments) -> Verdict:
    """At least, or less than, `num_words` words (`relation`).

    >>> number_words("one two", Arguments({"num_words": 2, "relation": "less than"})).followed
    False
    """
    count = sum(1 for _ in _WORD.finditer(text))
    return arguments.compare(count, "relation", "num_words", "words")


def number_sentences(text: str, arguments: Arguments) -> Verdict:
    """At least, or less than, `num_sentences` sentences (`relation`).

    >>> number_sentences("One. Two!", Arguments({"num_sentences": 2, "relation": "at least"})).followed
    True
    """
    return arguments.compare(len(sentence_spans(text)), "relation", "num_sentences", "sentences")


def number_paragraphs(text: str, arguments: Arguments) -> Verdict:
    """`num_paragraphs` paragraphs with `***` between them, none of them blank.

    >>> number_paragraphs("one\\n***\\ntwo", Arguments({"num_paragraphs": 2})).followed
    True
    """
    wanted = arguments.count("num_paragraphs")
    parts = _STARS.split(text)
    inner = [part for at, part in enumerate(parts) if part.strip() or 0 < at < len(parts) - 1]
    if not all(part.strip() for part in inner):
        return Verdict(False, "a blank paragraph between two ***")
    return Verdict(len(inner) == wanted, f"{len(inner)} paragraphs, {wanted} asked for")


def nth_paragraph_first_word(text: str, arguments: Arguments) -> Verdict:
    """`num_paragraphs` paragraphs, blank lines between them; number `nth_paragraph` begins with `first_word`.

    >>> asked = Arguments({"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "then"})
    >>> nth_paragraph_first_word("First this.\\n\\nThen, that.", asked).followed
    True
    """
    wanted, nth = arguments.count("num_paragraphs"), arguments.count("nth_paragraph")
    first_word = arguments.text("first_word").strip().lower()
    parts = text.split("\n\n")
    count = sum(1 for part in parts if part.strip())
    if count != wanted:
        return Verdict(False, f"{count} paragraphs, {wanted} asked for")
    if not 1 <= nth <= count or not parts[nth - 1].strip():
        return Verdict(False, f"there is no paragraph {nth}")
    found = _opening_word(parts[nth - 1])
    return Verdict(found == first_word, f"paragraph {nth} begins with '{found[:40]}'")


def _opening_word(paragraph: str) -> str:
    word = paragraph.split(None, 1)[0].lstrip("'").lstrip('"')
    end = next((at for at, letter in enumerate(word) if letter in _ENDS_A_WORD), len(word))
    return word[:end].lower()
