"""The words of a text: what white space separates, and each sign of Chinese and Japanese, which write no spaces.

Signs of punctuation belong to the word they stand beside. Other scripts without spaces (Thai, Lao, Khmer) are not
taken apart; count characters there.
"""

from __future__ import annotations

import re

_SIGN = (
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_MARK = "\u3001-\u3004\u3008-\u3020\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\u2026\u2014"
_WORD = re.compile(rf"[{_MARK}]*+(?:(?=[^{_MARK}])[{_SIGN}])[{_MARK}]*+|[^\s{_SIGN}]++|[^\s]")


def words_in(text: str) -> list[str]:
    """The words of a text as they stand there.

    >>> words_in("The cat, 日本。"), len(words_in("一二三四"))
    (['The', 'cat,', '日', '本。'], 4)
    """
    return _WORD.findall(text)
