"""Length: near an ideal, long enough, not too long.

Words are what white space separates; a script without spaces is better measured in characters. Neither is a
token: what a model is charged for is known to the tokenizer alone.
"""

from __future__ import annotations

from typing import Any

from rewards.contract import completion_text
from rewards.credits import credit
from rewards.marks import reward

UNITS = ("words", "characters")


@reward(kind="length", weight=0.3, range=(0.0, 1.0))
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
    target = _length("ideal_length", "target_length", target_length)
    _unit("ideal_length", length_unit)
    texts = [completion_text(completion) for completion in completions]
    return [
        _paid(f"{length_unit} near {target}", text, max(0.0, 1.0 - abs(count - target) / target))
        for text, count in zip(texts, _counts(texts, length_unit), strict=True)
    ]


@reward(kind="length", weight=0.2, range=(0.0, 1.0))
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
    least = _length("min_length", "shortest", shortest)
    _unit("min_length", length_unit)
    texts = [completion_text(completion) for completion in completions]
    return [
        _paid(f"at least {least} {length_unit}", text, min(1.0, count / least))
        for text, count in zip(texts, _counts(texts, length_unit), strict=True)
    ]


@reward(kind="length", weight=0.3, range=(-1.0, 0.0))
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
    most = _length("max_length", "longest", longest)
    _unit("max_length", length_unit)
    texts = [completion_text(completion) for completion in completions]
    return [
        _penalty(f"over {most} {length_unit}", text, max(-1.0, min(0.0, (most - count) / most)))
        for text, count in zip(texts, _counts(texts, length_unit), strict=True)
    ]


def _counts(texts: list[str], unit: str) -> list[int]:
    return [len(text.split()) if unit == "words" else len(text) for text in texts]


def _paid(name: str, text: str, points: float) -> float:
    return credit(name, points, of=1.0, span=(0, len(text)))


def _penalty(name: str, text: str, points: float) -> float:
    return credit(name, points, of=0.0, span=(0, len(text))) if points else 0.0


def _length(name: str, argument: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise ValueError(
        f"reward '{name}': {argument}={value!r} ({type(value).__name__}) must be a whole number of at least 1; "
        "if the data have a column of that name, rename it"
    )


def _unit(name: str, value: Any) -> None:
    if value not in UNITS:
        raise ValueError(
            f"reward '{name}': length_unit={value!r} must be one of {', '.join(UNITS)}; "
            "if the data have a column of that name, rename it"
        )
