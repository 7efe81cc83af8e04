"""A regular expression as a format, matched in time linear in the text."""

from __future__ import annotations

from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.linear_pattern import LinearPattern, compiled
from rewards.library.parameters import flag, whole_number, wrong
from rewards.marks import reward

_MOST_SPANS = 50


@reward(kind="format", weight=0.5, range=(0.0, 1.0), scope="row")
def pattern_format(
    completions: list[Any],
    *,
    pattern: str = "",
    whole_text: bool = False,
    least_matches: int = 1,
    partial: bool = False,
    **columns: Any,
) -> list[float | None]:
    r"""Reward completions that match a pattern.

    The syntax is that of Python's `re`, flags written inside (`(?s)` lets the dot match line ends, `(?m)` lets `^`
    and `$` match at every line). Look-around and back-references are refused, because no text may make the
    match slow (`rewards.library.linear_pattern`). Only the completion is searched, never the prompt.

    Args:
        completions: chat or plain text.
        pattern: to be found in the completion.
        whole_text: the completion has to match from its first to its last character, white space around it apart.
        least_matches: how many matches there have to be that do not overlap.
        partial: pay the share of `least_matches` that is there, instead of nothing below it.

    Returns:
        A value in [0, 1] per completion; one of 0.0, 1.0 unless `partial`.

    Raises:
        ValueError: if the pattern is missing, cannot be read or matched in linear time, or matches the empty text
            (which would pay every completion), or another parameter is not what it should be.

    >>> pattern_format([r"So \boxed{7}", "So 7"], pattern=r"\\boxed\{.+\}")
    [1.0, 0.0]
    >>> pattern_format(["1. a\n2. b", "1. a"], pattern=r"(?m)^\d+\. ", least_matches=2, partial=True)
    [1.0, 0.5]
    """
    found = _pattern(pattern)
    whole = flag("pattern_format", "whole_text", whole_text)
    least = whole_number("pattern_format", "least_matches", least_matches)
    shares = flag("pattern_format", "partial", partial)
    texts = [completion_text(completion) for completion in completions]
    if whole:
        return [_whole(text, found) for text in texts]
    return [_searched(text, found, least, shares) for text in texts]


def _whole(text: str, pattern: LinearPattern) -> float:
    return credit(
        f"matches {pattern.pattern}", float(pattern.whole(text.strip())), of=1.0, span=(0, len(text))
    )


def _searched(text: str, pattern: LinearPattern, least: int, shares: bool) -> float:
    spans = pattern.disjoint(text, least)
    if least == 1 and spans:
        spans = [pattern.widened(text, spans[0])]
    points = len(spans) / least if shares or len(spans) == least else 0.0
    note = f"{len(spans)} of {least}" if least > 1 else None
    return credit(f"matches {pattern.pattern}", points, of=1.0, span=spans[:_MOST_SPANS], note=note)


def _pattern(value: Any) -> LinearPattern:
    if not isinstance(value, str) or not value:
        raise wrong("pattern_format", "pattern", value, "a regular expression")
    try:
        pattern = compiled(value)
    except ValueError as error:
        raise ValueError(f"reward 'pattern_format': {error}") from error
    if pattern.whole(""):
        raise wrong(
            "pattern_format", "pattern", value, "a regular expression that does not match the empty text"
        )
    return pattern
