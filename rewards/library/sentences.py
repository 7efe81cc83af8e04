"""Where sentences end.

A sentence ends at a full stop, question or exclamation mark (with the quotes and brackets that close there)
before white space or the end; not at the stop of an abbreviation, an initial or the number of a list item. A
line end alone ends none.
Time is linear in the text.
"""

from __future__ import annotations

import re

Span = tuple[int, int]

_END = re.compile(
    r"""(?<![.!?\u2026])[.!?\u2026]++["'\u201d\u2019)\]}\u00bb*_`]*+(?=\s|\Z)|[\u3002\uff01\uff1f\u0964]["\u300d\u300f\u201d]?"""
)
_LONGEST = 24
"""Characters looked at for the word before a full stop."""

_ABBREVIATIONS = (
    "mr mrs ms dr prof sr jr st ave blvd rd mt ft vs etc e.g i.e cf al fig nos vol pp p ed eds inc ltd co corp dept "
    "est gen gov hon lt col capt sgt rev sen rep u.s u.k u.n a.m p.m ph.d b.a m.a b.c a.d jan feb apr jun jul aug "
    "sept oct nov dec approx resp ca viz"
)
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())


def sentence_spans(text: str) -> list[Span]:
    """The places of the sentences of a text, white space around them left out.

    >>> [ "Dr. Lee came. He left!"[start:end] for start, end in sentence_spans("Dr. Lee came. He left!") ]
    ['Dr. Lee came.', 'He left!']
    """
    spans = []
    start = 0
    for match in _END.finditer(text):
        if _is_abbreviation(text, match.start(), match.end()):
            continue
        spans.append((start, match.end()))
        start = match.end()
    spans.append((start, len(text)))
    return [bare for bare in (_stripped(text, *span) for span in spans) if bare[1] > bare[0]]


def _is_abbreviation(text: str, stop: int, end: int) -> bool:
    """Whether a full stop belongs to the word before it."""
    if end != stop + 1 or text[stop] != "." or not text[end : end + 1]:
        return False
    near = text[max(0, stop - _LONGEST) : stop]
    words = near.split()
    if not words or near[-1].isspace():
        return False
    bare = words[-1].lstrip("([{\"'\u201c\u2018")
    if bare.isdecimal():
        return _only(text, stop - len(words[-1]))
    return bare.lower() in ABBREVIATIONS or (len(bare) == 1 and bare.isupper() and bare != "I")


def _only(text: str, start: int) -> bool:
    """Whether a word is the first of its line."""
    near = max(
        0, start - 80
    )  # a search to the beginning of a long line, again and again, would take for ever
    return not text[max(text.rfind("\n", near, start) + 1, near) : start].strip()


def _stripped(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    bare = piece.strip()
    start += len(piece) - len(piece.lstrip()) if bare else 0
    return start, start + len(bare)
