"""The shape of a Markdown text: headings, list items, tables and code blocks, as many as are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.blanks import is_blank
from rewards.library.lines import lines
from rewards.library.parameters import whole_number
from rewards.marks import reward

Span = tuple[int, int]

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<content>\S.*)")
_ITEM = re.compile(r"[ \t]*+(?:[-*+]|\d{1,9}[.)])[ \t]++(?P<content>\S.*)")
_RULE = re.compile(r"[ \t]*+(?:[-*_][ \t]*+){3,}+")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
_CELLS = re.compile(r"(?:[ \t]*+:?+-++:?+[ \t]*+(?:\||\Z))++")
_MOST_SPANS = 50


@reward(kind="format", weight=0.5, range=(0.0, 1.0), scope="row")
def markdown_format(
    completions: list[Any],
    *,
    least_headings: int = 1,
    least_list_items: int = 0,
    least_tables: int = 0,
    least_code_blocks: int = 0,
    **columns: Any,
) -> list[float | None]:
    r"""Reward a Markdown text of the shape asked for.

    Each part asked for (a least number above 0) has an equal share of 1.0 and pays as much of it as is there.
    Counted are headings (`# ...`) and list items (`- ...`, `1. ...`) with text, each text once; tables with a head, a
    rule of as many columns below it and at least one row with content; code blocks that are closed and not
    empty. What stands inside a code block is code, nothing else.

    Args:
        completions: chat or plain text.
        least_headings: how many headings.
        least_list_items: how many list items, in any list.
        least_tables: how many tables.
        least_code_blocks: how many fenced blocks.

    Returns:
        A value in [0, 1] per completion.

    Raises:
        ValueError: if a number is below 0, or all are 0.

    >>> markdown_format(["# Plan\n- one\n- two", "- one\n- one", "# \n- "], least_list_items=2)
    [1.0, 0.25, 0.0]
    """
    asked = {
        "headings": whole_number("markdown_format", "least_headings", least_headings, least=0),
        "list items": whole_number("markdown_format", "least_list_items", least_list_items, least=0),
        "tables": whole_number("markdown_format", "least_tables", least_tables, least=0),
        "code blocks": whole_number("markdown_format", "least_code_blocks", least_code_blocks, least=0),
    }
    asked = {part: least for part, least in asked.items() if least}
    if not asked:
        raise ValueError("reward 'markdown_format': all least numbers are 0: nothing is asked for")
    return [_score(completion_text(completion), asked) for completion in completions]


def _score(text: str, asked: dict[str, int]) -> float:
    parts = markdown_parts(text)
    score = 0.0
    for part, least in asked.items():
        spans = parts[part][:least]
        points = len(spans) / least / len(asked)
        note = f"{len(parts[part])} of {least}"
        score += credit(part, points, of=1 / len(asked), span=spans[:_MOST_SPANS], note=note)
    return min(1.0, score)


def markdown_parts(text: str) -> dict[str, list[Span]]:
    r"""The places of the headings, list items, tables and code blocks of a text.

    >>> markdown_parts("# A\n\n- b\n- b")
    {'headings': [(0, 3)], 'list items': [(5, 8)], 'tables': [], 'code blocks': []}
    """
    blocks, prose = _fenced(text)
    parts: dict[str, list[Span]] = {"headings": [], "list items": [], "tables": [], "code blocks": blocks}
    seen: set[tuple[str, str]] = set()
    for start, line in prose:
        for part, pattern in (("headings", _HEADING), ("list items", _ITEM)):
            match = pattern.fullmatch(line)
            if match is None or _RULE.fullmatch(line):
                continue
            content = " ".join(match["content"].strip("#* \t").lower().split())
            if _has_words(match["content"].strip("#* \t")) and (part, content) not in seen:
                seen.add((part, content))
                parts[part].append((start, start + len(line)))
    parts["tables"] = list(_tables(prose, text))
    return parts


def _has_words(text: str) -> bool:
    return any(sign.isalnum() for sign in text) and not is_blank(text)


def _fenced(text: str) -> tuple[list[Span], list[tuple[int, str]]]:
    """The closed code blocks with something in them, and the lines outside all blocks with where they begin."""
    blocks: list[Span] = []
    prose: list[tuple[int, str]] = []
    fence, began, filled = "", 0, False
    for start, line in lines(text):
        match = _FENCE.match(line)
        if not fence and match is not None:
            fence, began, filled = match["fence"], start, False
        elif fence and match is not None and line.strip().startswith(fence) and not line.strip(" \t`~"):
            if filled:
                blocks.append((began, start + len(line)))
            fence = ""
        elif fence:
            filled = filled or not is_blank(line)
        else:
            prose.append((start, line))
    return blocks, prose


def _tables(prose: list[tuple[int, str]], text: str) -> Iterator[Span]:
    at = 1
    while at < len(prose):
        columns = _rule_columns(prose[at][1])
        if not columns or _columns(prose[at - 1][1]) != columns or not _adjacent(prose, at, text):
            at += 1
            continue
        last, filled = at, False
        while last + 1 < len(prose) and "|" in prose[last + 1][1] and _adjacent(prose, last + 1, text):
            last += 1
            filled = filled or _has_words(prose[last][1].replace("|", " "))
        if filled:
            yield prose[at - 1][0], prose[last][0] + len(prose[last][1])
        at = last + 1


def _adjacent(prose: list[tuple[int, str]], at: int, text: str) -> bool:
    """Whether a line follows the one before it without a blank line."""
    start, line = prose[at - 1]
    return text.count("\n", start + len(line), prose[at][0]) == 1


def _rule_columns(line: str) -> int:
    """The columns of the rule below a table's head; 0 where a line is none."""
    bare = line.strip().removeprefix("|")
    return _columns(line) if "-" in bare and "|" in line and _CELLS.fullmatch(bare) else 0


def _columns(line: str) -> int:
    bare = line.strip().removeprefix("|").removesuffix("|")
    return bare.count("|") + 1 if bare.strip() else 0
