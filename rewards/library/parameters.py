"""Checking a member's parameters: a wrong one is told by the reward's name, the value and what it should be.

A data column of the same name as a parameter would arrive in its place, as a list; the message says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_RENAME = "if the data have a column of that name, rename it"


def whole_number(reward: str, argument: str, value: Any, *, least: int = 1) -> int:
    """`value` as an int.

    Raises:
        ValueError: it is no whole number of at least `least`.

    >>> whole_number("brief", "longest", 3)
    3
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise wrong(reward, argument, value, f"a whole number of at least {least}")


def number(reward: str, argument: str, value: Any, low: float, high: float) -> float:
    """`value` as a float.

    Raises:
        ValueError: it is no number from `low` to `high`.

    >>> number("brief", "free_share", 1, 0.0, 1.0)
    1.0
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
        return float(value)
    raise wrong(reward, argument, value, f"a number from {low:g} to {high:g}")


def flag(reward: str, argument: str, value: Any) -> bool:
    """`value`, which is true or false.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(value, bool):
        return value
    raise wrong(reward, argument, value, "true or false")


def one_of(reward: str, argument: str, value: Any, known: Sequence[str]) -> str:
    """`value`, which is one of `known`.

    Raises:
        ValueError: it is not.

    >>> one_of("brief", "length_unit", "words", ("words", "characters"))
    'words'
    """
    if isinstance(value, str) and value in known:
        return value
    raise wrong(reward, argument, value, f"one of {', '.join(known)}")


def phrases(reward: str, argument: str, value: Any) -> tuple[str, ...]:
    """`value` as a tuple of texts.

    Raises:
        ValueError: it is no list of texts that are not blank.

    >>> phrases("brief", "forbidden", ["of course"])
    ('of course',)
    """
    if (
        isinstance(value, (list, tuple))
        and value
        and all(isinstance(one, str) and one.strip() for one in value)
    ):
        return tuple(value)
    raise wrong(reward, argument, value, "a list of texts, none blank")


def wrong(reward: str, argument: str, value: Any, wanted: str) -> ValueError:
    """The error of a parameter that is not what was wanted.

    >>> print(wrong("brief", "longest", 0, "at least 1"))
    reward 'brief': longest=0 (int) must be at least 1; if the data have a column of that name, rename it
    """
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return ValueError(
        f"reward '{reward}': {argument}={shown} ({type(value).__name__}) must be {wanted}; {_RENAME}"
    )
