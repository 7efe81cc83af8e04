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
_INDENT = 80
"""And before that, for the beginning of the line."""

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
        stop, end = match.span()
        if end - stop == 1 and text[stop] == "." and _is_abbreviation(text, stop):
            continue
        while start < stop and text[start].isspace():
            start += 1
        spans.append((start, end))
        start = end
    rest = text[start:]
    bare = rest.strip()
    if bare:
        start += len(rest) - len(rest.lstrip())
        spans.append((start, start + len(bare)))
    return spans


def _is_abbreviation(text: str, stop: int) -> bool:
    """Whether a full stop belongs to the word before it: at the end of a text it never does."""
    if stop + 1 == len(text) or not stop or text[stop - 1].isspace():
        return False
    word = text[max(0, stop - _LONGEST) : stop].split()[-1]
    if word.isdecimal():
        before = text[max(0, stop - len(word) - _INDENT) : stop - len(word)].rstrip(" \t")
        return not before or before[-1] == "\n"
    bare = word.lstrip("([{\"'\u201c\u2018")
    return bare.lower() in ABBREVIATIONS or (len(bare) == 1 and bare.isupper() and bare != "I")
