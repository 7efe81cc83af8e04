"""Which completions are right, for the rewards whose meaning depends on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewards.credits import recording
from rewards.library.choice import multiple_choice
from rewards.library.exact import exact_match
from rewards.library.maths import maths_equal
from rewards.library.numeric import numeric
from rewards.library.parameters import one_of

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
        correct: verdicts that the data bring along (true or false for each row), or None; they come first.

    Raises:
        ValueError: if there is no such judge.

    >>> right_rows("brief", "numeric", ["7", "8", "8"], ["7", "7", None], None)
    [True, False, None]
    >>> right_rows("brief", "numeric", ["7"], None, [False])
    [False]
    """
    judge = GRADERS[one_of(reward, "graded_by", graded_by, tuple(GRADERS))]
    if isinstance(correct, (list, tuple)):
        return [bool(one) if one is not None else None for one in correct]
    if answer is None:
        return [None] * len(completions)
    with recording(len(completions)):  # the judge's credits are no part of the score of who asks
        scores = judge(completions=list(completions), answer=answer)
    return [None if score is None else score >= 1.0 for score in scores]
