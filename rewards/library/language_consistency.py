"""Language consistency: how much of a text is in the language asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.languages import (
    LANGUAGES,
    detect_language,
    dominant_script,
    language_code,
    script_of_language,
)
from rewards.library.lines import lines
from rewards.library.parameters import wrong
from rewards.library.references import not_scored, tell_unread
from rewards.library.sentences import sentence_spans
from rewards.marks import reward

Span = tuple[int, int]

_CODE = re.compile(r"[ \t]*+```")
_MARKUP = re.compile(r"<[^<>\s]{1,40}>|`[^`\n]{1,200}`")
_LETTER = re.compile(r"[^\W\d_]")
_MOST_SPANS = 50
MOST = 3_000
"""Of more sentences than this, only every second (third, ...) one is looked at."""


@reward(kind="style", weight=0.3, range=(0.0, 1.0), scope="row", abstains=True)
def language_consistency(
    completions: list[Any], target_language: Any = "en", *, log_metric: Any = None, **columns: Any
) -> list[float | None]:
    """Reward writing in one language.

    The share of letters that stand in sentences of the target language, among those in sentences whose language
    can be told (`rewards.library.languages`); a sentence in another script counts as foreign. Code blocks, code in
    back-quotes and tags are left out. A text in which nothing can be told to be in the target language has 0.0.

    Args:
        completions: chat or plain text.
        target_language: the language's two-letter code for all rows, or a column with one a row.
        log_metric: TRL's; told the share of rows that cannot be scored, where there are any.

    Returns:
        A value in [0, 1] per completion; None where the row's language is missing or not known.

    Raises:
        ValueError: if the language for all rows is not known.

    >>> language_consistency(["This is the answer.", "This is it. Das ist die Antwort.", "42", ""])
    [1.0, 0.3333333333333333, 0.0, 0.0]
    """
    if isinstance(target_language, list):
        wanted = [language_code(one) for one in target_language]
    else:
        code = language_code(target_language)
        if code is None:
            raise wrong(
                "language_consistency", "target_language", target_language, f"one of {', '.join(LANGUAGES)}"
            )
        wanted = [code] * len(completions)
    scores = [
        not_scored(None, "a language") if code is None else _share(completion_text(completion), code)
        for completion, code in zip(completions, wanted, strict=True)
    ]
    tell_unread(log_metric, "language_consistency", scores)
    return scores


def _share(text: str, code: str) -> float:
    inside = foreign = 0
    spans: list[Span] = []
    own = script_of_language(code)
    sentences = list(_sentences(text))
    for start, end in sentences[:: len(sentences) // MOST + 1]:
        sentence = _MARKUP.sub(" ", text[start:end])
        letters = sum(1 for _ in _LETTER.finditer(sentence))
        found = detect_language(sentence)
        if found == code:
            inside += letters
        elif found is not None or dominant_script(sentence) not in (own, None):
            foreign += letters
            spans.append((start, end))
    points = inside / (inside + foreign) if inside else 0.0
    note = f"{inside} of {inside + foreign} letters in sentences whose language can be told"
    return credit(f"in '{code}'", points, of=1.0, span=spans[:_MOST_SPANS] or (0, len(text)), note=note)


def _sentences(text: str) -> Iterator[Span]:
    """The sentences outside code blocks, line by line."""
    in_code = False
    for start, line in lines(text):
        if _CODE.match(line):
            in_code = not in_code
        elif not in_code:
            for opened, closed in sentence_spans(line):
                yield start + opened, start + closed
