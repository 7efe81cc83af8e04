"""Incremental format: a share for each tag in its place, so that a model can learn the form step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.extraction import check_tags
from rewards.library.xml_format import TAGS
from rewards.marks import reward

PENALTY = 0.001
"""What each character after the last closing tag costs."""


@reward(kind="format", weight=0.5, range=(0.0, 1.0))
def incremental_format(
    completions: list[Any], *, tag_names: Any = TAGS, **columns: Any
) -> list[float | None]:
    r"""Reward each tag in its place.

    The opening and the closing tags earn equal shares of 1.0 (0.25 each for two blocks). A tag earns its share
    only where it stands once in the text and after the tags before it; a closing tag only where its block was
    opened and is not blank. Each character after the last closing tag, white space around them apart, costs 0.001,
    at most that tag's own share: adding a missing tag in its place never costs anything, and repeating one never
    pays.

    Args:
        completions: chat or plain text.
        tag_names: the blocks in their order.

    Returns:
        A value in [0, 1] per completion.

    Raises:
        ValueError: if `tag_names` is no list of different tag names.

    >>> incremental_format(["<reasoning>3+4</reasoning><answer>7</answer>", "<reasoning>3+4</reasoning>", "7"])
    [1.0, 0.5, 0.0]
    >>> incremental_format(["<reasoning>3+4</reasoning><answer>7</answer> Bye", "<answer><answer><answer>"])
    [0.997, 0.0]
    """
    tags = check_tags("incremental_format", tag_names)
    return [_incremental(completion_text(completion), tags) for completion in completions]


def _incremental(text: str, tags: Sequence[str]) -> float:
    share = 1.0 / (2 * len(tags))
    score, place, opened, closed = 0.0, 0, False, False
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        start = _once(text, opening)
        opened = start >= place
        if opened:
            place = start + len(opening)
            score += credit(opening, share, of=share, span=(start, place))
        end = _once(text, closing)
        closed = opened and end >= place and bool(text[place:end].strip())
        if closed:
            place = end + len(closing)
            score += credit(closing, share, of=share, span=(end, place))
    trailing = text[place:].strip() if closed else ""
    if trailing:
        cost = min(PENALTY * len(trailing), share)
        start = text.find(trailing, place)
        score += credit("text after the last tag", -cost, of=0.0, span=(start, start + len(trailing)))
    return max(score, 0.0)


def _once(text: str, tag: str) -> int:
    """Where a tag stands that stands once; -1 otherwise."""
    return text.find(tag) if text.count(tag) == 1 else -1
