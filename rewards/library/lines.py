"""The lines of a text that are not empty, with where they begin; a run of line ends costs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE = re.compile(r"[^\r\n]++")


def lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Where each line begins, and its text without the line end.

    >>> list(lines("a\r\n\n\nbc"))
    [(0, 'a'), (5, 'bc')]
    """
    for match in _LINE.finditer(text):
        yield match.start(), match.group()
