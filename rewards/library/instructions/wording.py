"""Kinds about words and letters: keywords, letters, case, commas, language."""

from __future__ import annotations

import re
from collections import Counter

from rewards.library.instructions.verdict import Arguments, Span, UnreadableInstruction, Verdict
from rewards.library.languages import detect_language, language_code

_MOST_SPANS = 50
_TOKEN = re.compile(r"[^\W_]+(?:[-.&'\u2019/][^\W_]+)*")


def keywords_exist(text: str, arguments: Arguments) -> Verdict:
    """Every one of `keywords` stands somewhere, in any case, also inside a longer word.

    >>> keywords_exist("A romantic River", Arguments({"keywords": ["river", "romantic"]})).followed
    True
    """
    spans: list[Span] = []
    for keyword in arguments.texts("keywords"):
        match = re.search(re.escape(keyword), text, re.IGNORECASE)
        if match is None:
            return Verdict(False, f"'{keyword}' is missing", tuple(spans))
        spans.append(match.span())
    return Verdict(True, "all keywords are there", tuple(spans))


def keyword_frequency(text: str, arguments: Arguments) -> Verdict:
    """`keyword` stands at least, or less than, `frequency` times (`relation`), in any case.

    >>> keyword_frequency("go, Go", Arguments({"keyword": "go", "frequency": 2, "relation": "at least"})).followed
    True
    """
    found = [
        match.span()
        for match in re.finditer(re.escape(arguments.text("keyword").strip()), text, re.IGNORECASE)
    ]
    verdict = arguments.compare(len(found), "relation", "frequency", "times the keyword")
    return Verdict(verdict.followed, verdict.note, tuple(found[:_MOST_SPANS]))


def forbidden_words(text: str, arguments: Arguments) -> Verdict:
    """None of `forbidden_words` stands there as a word, in any case.

    >>> forbidden_words("transformers", Arguments({"forbidden_words": ["transform"]})).followed
    True
    """
    for word in arguments.texts("forbidden_words"):
        match = re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)
        if match is not None:
            return Verdict(False, f"'{word}' is forbidden", (match.span(),))
    return Verdict(True, "no forbidden word")


def letter_frequency(text: str, arguments: Arguments) -> Verdict:
    """`letter` stands at least, or less than, `let_frequency` times (`let_relation`), in any case.

    >>> letter_frequency("Anna", Arguments({"letter": "a", "let_frequency": 2, "let_relation": "at least"})).followed
    True
    """
    letter = arguments.text("letter").strip()
    if len(letter) != 1:
        raise UnreadableInstruction(f"letter={letter!r} must be one letter")
    found = Counter(text.lower())[letter.lower()]
    return arguments.compare(found, "let_relation", "let_frequency", f"times '{letter}'")


def capital_word_frequency(text: str, arguments: Arguments) -> Verdict:
    """At least, or less than, `capital_frequency` words are all in capitals (`capital_relation`).

    >>> asked = Arguments({"capital_frequency": 2, "capital_relation": "less than"})
    >>> capital_word_frequency("I said NO.", asked).followed
    False
    """
    found = [match.span() for match in _TOKEN.finditer(text) if match.group().isupper()]
    verdict = arguments.compare(len(found), "capital_relation", "capital_frequency", "words in capitals")
    return Verdict(verdict.followed, verdict.note, tuple(found[:_MOST_SPANS]))


def english_capital(text: str, arguments: Arguments) -> Verdict:
    """English, and no letter is small.

    >>> english_capital("THIS IS IT", Arguments({})).followed, english_capital("This is it", Arguments({})).followed
    (True, False)
    """
    if not text.isupper():
        return Verdict(False, "not all capitals", _first(re.search(r"[^\W\d_A-Z]", text)))
    return _in_language(text, "en")


def english_lowercase(text: str, arguments: Arguments) -> Verdict:
    """English, and no letter is a capital.

    >>> english_lowercase("this is it", Arguments({})).followed, english_lowercase("This is it", Arguments({})).followed
    (True, False)
    """
    if not text.islower():
        return Verdict(False, "not all small letters", _first(re.search(r"[A-Z]", text)))
    return _in_language(text, "en")


def no_comma(text: str, arguments: Arguments) -> Verdict:
    """No comma.

    >>> no_comma("a b", Arguments({})).followed, no_comma("a, b", Arguments({})).followed
    (True, False)
    """
    match = re.search(",", text)
    return Verdict(match is None, "no comma" if match is None else "a comma", _first(match))


def response_language(text: str, arguments: Arguments) -> Verdict:
    """In the language with the code `language`.

    >>> response_language("Heute ist das nicht so", Arguments({"language": "de"})).followed
    True
    """
    asked = language_code(arguments.text("language"))
    if asked is None:
        raise UnreadableInstruction(f"language={arguments.text('language')!r} is not known")
    return _in_language(text, asked)


def _in_language(text: str, asked: str) -> Verdict:
    found = detect_language(text)
    return Verdict(found == asked, f"language: {found or 'cannot be told'}, {asked} asked for")


def _first(match: re.Match[str] | None) -> tuple[Span, ...]:
    return (match.span(),) if match is not None else ()
