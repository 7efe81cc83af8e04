"""Highlighting: spans that nest, overlap or have no width, cut into the flat pieces a page can draw.

A piece is text under one and the same set of credits. A span of no width (a match of nothing, "here ends the
text") becomes a mark of its own between two pieces. Offsets count code points, as Python does; cutting here
keeps the browser, which counts UTF-16 units, out of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Span = tuple[int, int]
Piece = tuple[str, list[int]]
"""Text and the numbers of the credits over it; a mark of no width has text ""."""


def pieces(text: str, spans: Mapping[int, Sequence[Span]]) -> list[Piece]:
    """Cut `text` at every border of `spans` (credit number to its spans).

    The texts of all pieces, joined, are `text`. Credits over a piece come with the longest span first, so the
    last is the innermost. Spans outside the text are clipped to it.

    >>> pieces("abcd", {0: [(0, 4)], 1: [(1, 2), (3, 3)]})
    [('a', [0]), ('b', [0, 1]), ('c', [0]), ('', [1]), ('d', [0])]
    """
    clipped = _clipped(spans, len(text))
    borders = sorted({0, len(text), *(edge for _, begin, end in clipped for edge in (begin, end))})
    opening: dict[int, list[tuple[int, int]]] = {}
    closing: dict[int, list[tuple[int, int]]] = {}
    marks: dict[int, list[int]] = {}
    for number, begin, end in clipped:
        if begin == end:
            marks.setdefault(begin, []).append(number)
        else:
            opening.setdefault(begin, []).append((end - begin, number))
            closing.setdefault(end, []).append((end - begin, number))
    found: list[Piece] = []
    active: list[tuple[int, int]] = []
    for index, border in enumerate(borders):
        for entry in closing.get(border, ()):
            active.remove(entry)
        if border in marks:
            found.append(("", sorted(set(marks[border]))))
        active.extend(opening.get(border, ()))
        if index + 1 < len(borders):
            ranked = sorted(active, key=lambda entry: (-entry[0], entry[1]))
            found.append((text[border : borders[index + 1]], list(dict.fromkeys(n for _, n in ranked))))
    return found


def _clipped(spans: Mapping[int, Sequence[Span]], length: int) -> list[tuple[int, int, int]]:
    found = []
    for number, places in spans.items():
        for begin, end in places:
            begin, end = max(0, min(begin, length)), max(0, min(end, length))
            found.append((number, min(begin, end), max(begin, end)))
    return found
