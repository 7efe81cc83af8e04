"""Which completions are right, for the rewards whose meaning depends on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewards.credits import recording
from rewards.library.choice import multiple_choice
from rewards.library.exact import exact_match
from rewards.library.maths import maths_equal
from rewards.library.numeric import numeric
from rewards.library.parameters import one_of, wrong

GRADERS: dict[str, Callable[..., list[float | None]]] = {
    "exact_match": exact_match,
    "maths_equal": maths_equal,
    "multiple_choice": multiple_choice,
    "numeric": numeric,
}
"""The members that may judge, by name."""


def right_rows(
    reward: str, graded_by: Any, completions: Sequence[Any], answer: Any, correct: Any
) -> list[bool | None]:
    """For each row whether it is right; None where that cannot be told.

    Args:
        reward: who asks.
        graded_by: a key of `GRADERS`.
        completions: chat or plain text.
        answer: the references, or None.
        correct: verdicts that the data bring along, or None; they come first. A verdict is true or false, 1 or 0, or
            one of these as text, as CSV brings it; None, NaN or a blank text says that it is not known.

    Raises:
        ValueError: if there is no such judge, or a verdict is anything else.

    >>> right_rows("brief", "numeric", ["7", "8", "8"], ["7", "7", None], None)
    [True, False, None]
    >>> right_rows("brief", "numeric", ["7"], None, [False])
    [False]
    >>> right_rows("brief", "numeric", ["7"] * 3, None, ["False", 1.0, ""])
    [False, True, None]
    """
    judge = GRADERS[one_of(reward, "graded_by", graded_by, tuple(GRADERS))]
    if isinstance(correct, (list, tuple)):
        return [_verdict(reward, one) for one in correct]
    if answer is None:
        return [None] * len(completions)
    with recording(len(completions)):  # the judge's credits are no part of the score of who asks
        scores = judge(completions=list(completions), answer=answer)
    return [None if score is None else score >= 1.0 for score in scores]


_WORDS = {"true": True, "false": False, "1": True, "0": False, "": None}


def _verdict(reward: str, value: Any) -> bool | None:
    if value is None or value != value:
        return None
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _WORDS:
            return _WORDS[word]
    elif value in (0, 1):  # also True, 1.0 and NumPy's
        return bool(value)
    raise wrong(reward, "correct", value, "true or false, 1 or 0, or None where it is not known")
