"""Length: near an ideal, long enough, not too long, not near the limit of tokens.

Words are what white space separates, and each sign of Chinese and Japanese (`rewards.library.words`). A word is no
token: those are known to the tokenizer alone, and only `soft_overlong` counts them.
"""

from __future__ import annotations

from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.library.parameters import one_of, whole_number
from rewards.library.words import words_in
from rewards.marks import reward

UNITS = ("words", "characters")


@reward(kind="length", weight=0.3, range=(0.0, 1.0), scope="row")
def ideal_length(
    completions: list[Any], *, target_length: int = 100, length_unit: str = "words", **columns: Any
) -> list[float | None]:
    """Reward a length near `target_length`.

    1.0 at the target, falling in a straight line on both sides to 0.0 at nothing and at twice the target.

    Args:
        completions: chat or plain text.
        target_length: at least 1.
        length_unit: "words" or "characters".

    Returns:
        A value in [0, 1] per completion.

    Raises:
        ValueError: if `target_length` is below 1 or `length_unit` unknown.

    >>> ideal_length(["one two three four", "one two", ""], target_length=4)
    [1.0, 0.5, 0.0]
    """
    target = whole_number("ideal_length", "target_length", target_length)
    one_of("ideal_length", "length_unit", length_unit, UNITS)
    texts = [completion_text(completion) for completion in completions]
    return [
        _paid(f"{length_unit} near {target}", text, max(0.0, 1.0 - abs(count - target) / target))
        for text, count in zip(texts, _counts(texts, length_unit), strict=True)
    ]


@reward(kind="length", weight=0.2, range=(0.0, 1.0), scope="row")
def min_length(
    completions: list[Any], *, shortest: int = 20, length_unit: str = "words", **columns: Any
) -> list[float | None]:
    """Reward completions that are long enough.

    1.0 from `shortest` on, below it the share of it that is reached.

    Args:
        completions: chat or plain text.
        shortest: at least 1.
        length_unit: "words" or "characters".

    Returns:
        A value in [0, 1] per completion.

    Raises:
        ValueError: if `shortest` is below 1 or `length_unit` unknown.

    >>> min_length(["one two three four", "one", ""], shortest=2)
    [1.0, 0.5, 0.0]
    """
    least = whole_number("min_length", "shortest", shortest)
    one_of("min_length", "length_unit", length_unit, UNITS)
    texts = [completion_text(completion) for completion in completions]
    return [
        _paid(f"at least {least} {length_unit}", text, min(1.0, count / least))
        for text, count in zip(texts, _counts(texts, length_unit), strict=True)
    ]


@reward(kind="length", weight=0.3, range=(-1.0, 0.0), scope="row")
def max_length(
    completions: list[Any], *, longest: int = 300, length_unit: str = "words", **columns: Any
) -> list[float | None]:
    """Penalise completions that are too long.

    0.0 up to `longest`, then falling in a straight line to -1.0 at twice that.

    Args:
        completions: chat or plain text.
        longest: at least 1.
        length_unit: "words" or "characters".

    Returns:
        A value in [-1, 0] per completion.

    Raises:
        ValueError: if `longest` is below 1 or `length_unit` unknown.

    >>> max_length(["one two", "one two three", "one two three four five"], longest=2)
    [0.0, -0.5, -1.0]
    """
    most = whole_number("max_length", "longest", longest)
    one_of("max_length", "length_unit", length_unit, UNITS)
    texts = [completion_text(completion) for completion in completions]
    return [
        _penalty(f"over {most} {length_unit}", text, max(-1.0, min(0.0, (most - count) / most)))
        for text, count in zip(texts, _counts(texts, length_unit), strict=True)
    ]


@reward(kind="length", weight=0.5, range=(-1.0, 0.0), scope="row")
def soft_overlong(
    completions: list[Any],
    completion_ids: list[Any],
    *,
    max_tokens: int = 512,
    soft_zone: int = 128,
    **columns: Any,
) -> list[float | None]:
    """Penalise completions that come near the limit of tokens, as DAPO does.

    0.0 up to `max_tokens - soft_zone` tokens, from there in a straight line to -1.0 at `max_tokens`, and -1.0 beyond.
    Give `max_tokens` the trainer's `max_completion_length`.

    Args:
        completions: chat or plain text.
        completion_ids: token ids, one list a completion.
        max_tokens: at least 1.
        soft_zone: from 1 to `max_tokens`.

    Returns:
        A value in [-1, 0] per completion.

    Raises:
        ValueError: if `max_tokens` is below 1 or `soft_zone` not between 1 and it.

    >>> soft_overlong(["a", "b", "c"], [[0] * 80, [0] * 90, [0] * 200], max_tokens=100, soft_zone=20)
    [0.0, -0.5, -1.0]
    """
    most = whole_number("soft_overlong", "max_tokens", max_tokens)
    zone = whole_number("soft_overlong", "soft_zone", soft_zone)
    if zone > most:
        raise ValueError(f"reward 'soft_overlong': soft_zone={zone} must be at most max_tokens={most}")
    texts = [completion_text(completion) for completion in completions]
    return [
        _penalty(f"over {most - zone} tokens", text, max(-1.0, min(0.0, (most - zone - len(ids)) / zone)))
        for text, ids in zip(texts, completion_ids, strict=True)
    ]


def _counts(texts: list[str], unit: str) -> list[int]:
    return [len(words_in(text)) if unit == "words" else len(text) for text in texts]


def _paid(name: str, text: str, points: float) -> float:
    return credit(name, points, of=1.0, span=(0, len(text)))


def _penalty(name: str, text: str, points: float) -> float:
    return credit(name, points or 0.0, of=0.0, span=(0, len(text)))  # never -0.0
