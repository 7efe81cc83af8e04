"""Incremental format: a share for each tag in its place, so that a model can learn the form step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.blanks import is_blank
from rewards.library.extraction import check_tags
from rewards.library.parameters import wrong
from rewards.library.xml_format import TAGS
from rewards.marks import reward

PENALTY = 0.001
"""What each character after the last closing tag costs."""


@reward(kind="format", weight=0.5, range=(0.0, 1.0), scope="row")
def incremental_format(
    completions: list[Any], *, tag_names: Any = TAGS, block_shares: Any = (), **columns: Any
) -> list[float | None]:
    r"""Reward each tag in its place.

    The opening and the closing tag of a block share its part of 1.0 (0.25 each for two blocks). A tag earns its share
    only where it stands once in the text and after the tags before it; a closing tag only where its block was
    opened and is not blank. Each character after the last closing tag, white space around them apart, costs 0.001,
    at most that tag's own share: adding a missing tag in its place never costs anything, and repeating one never
    pays.

    Args:
        completions: chat or plain text.
        tag_names: the blocks in their order.
        block_shares: what each block is worth, in any measure, such as [1, 3]; empty: all the same.

    Returns:
        A value in [0, 1] per completion.

    Raises:
        ValueError: if `tag_names` is no list of different tag names, or `block_shares` no list of as many
            positive numbers.

    >>> incremental_format(["<reasoning>3+4</reasoning><answer>7</answer>", "<reasoning>3+4</reasoning>", "7"])
    [1.0, 0.5, 0.0]
    >>> incremental_format(["<reasoning>3+4</reasoning><answer>7</answer> Bye", "<answer><answer><answer>"])
    [0.997, 0.0]
    """
    tags = check_tags("incremental_format", tag_names)
    shares = _shares(block_shares, len(tags))
    return [_incremental(completion_text(completion), tags, shares) for completion in completions]


def _shares(values: Any, blocks: int) -> list[float]:
    """What one tag of each block is worth."""
    listed = list(values) if isinstance(values, (list, tuple)) else None
    if listed == []:
        return [0.5 / blocks] * blocks
    proper = listed is not None and all(
        isinstance(one, (int, float)) and 0 < one < math.inf for one in listed
    )
    if listed is not None and proper and len(listed) == blocks:
        return [0.5 * one / math.fsum(listed) for one in listed]
    raise wrong("incremental_format", "block_shares", values, "a list of a positive number for each block")


def _incremental(text: str, tags: Sequence[str], shares: Sequence[float]) -> float:
    score, place, opened, closed = 0.0, 0, False, False
    share = 0.0
    for tag, share in zip(tags, shares, strict=True):
        opening, closing = f"<{tag}>", f"</{tag}>"
        start = _once(text, opening)
        opened = start >= place
        if opened:
            place = start + len(opening)
            score += credit(opening, share, of=share, span=(start, place))
        else:
            credit(opening, 0.0, of=share, note=_missed(text, opening, start))
        end = _once(text, closing)
        closed = opened and end >= place and not is_blank(text[place:end])
        if closed:
            place = end + len(closing)
            score += credit(closing, share, of=share, span=(end, place))
        else:
            note = _missed(text, closing, end) if end < place or not opened else "the block is empty"
            credit(closing, 0.0, of=share, note=note)
    trailing = text[place:].strip() if closed else ""
    if trailing:
        cost = min(PENALTY * len(trailing), share)
        start = text.find(trailing, place)
        score += credit("text after the last tag", -cost, of=0.0, span=(start, start + len(trailing)))
    return min(1.0, max(score, 0.0))


def _missed(text: str, tag: str, place: int) -> str:
    """Why a tag earns nothing."""
    if place >= 0:
        return "out of its place"
    return "stands more than once" if tag in text else "missing"


def _once(text: str, tag: str) -> int:
    """Where a tag stands that stands once; -1 otherwise."""
    return text.find(tag) if text.count(tag) == 1 else -1
