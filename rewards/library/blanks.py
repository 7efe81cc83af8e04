"""Whether a text shows anything: what cannot be seen is no content, whatever it is spelled with."""

from __future__ import annotations

import html
import unicodedata

_UNSEEN = frozenset({"Cf", "Cc", "Zs", "Zl", "Zp"})
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(sign) for sign in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
}
"""Letters and marks without ink: fillers and variation selectors."""


def is_blank(text: str) -> bool:
    r"""Whether a text is white space and invisible signs alone, also where they are written as HTML does.

    >>> is_blank(" \n"), is_blank("\u200b"), is_blank("&nbsp;"), is_blank("&#8203;"), is_blank("0")
    (True, True, True, True, False)
    """
    text = text.strip()
    if not text or (text[0].isascii() and text[0].isalnum()):
        return not text
    return all(map(_is_unseen, html.unescape(text) if "&" in text else text))


def _is_unseen(sign: str) -> bool:
    return sign.isspace() or unicodedata.category(sign) in _UNSEEN or sign in _FILLERS
