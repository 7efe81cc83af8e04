"""Laws of your own: properties that your rewards keep, tried on many completions by `reward-workbench check`.

    from workbench.laws import law

    @law
    def more_steps_never_less(score, completion):
        return score(completion + "\\nStep: done.") >= score(completion)

A law stands in the reward file, or in a file `laws.py` beside the manifest. It is called with changed completions of
your samples. `score(text)` is the reward's score of a text under the prompt and columns of the row; it may also be
given columns to use instead: `score(text, answer="7")`. Other arguments a law may name: `completion` (the text),
`other` (the text of another completion of the prompt), `prompt`, and any column. A law that returns False, or raises an
AssertionError, is broken; the check shows the smallest completion that breaks it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

MARK = "__reward_workbench_law__"

Law = TypeVar("Law", bound=Callable[..., Any])


@overload
def law(function: Law) -> Law: ...
@overload
def law(
    *, rewards: tuple[str, ...] | list[str] | str = (), examples: int | None = None
) -> Callable[[Law], Law]: ...


def law(
    function: Law | None = None,
    *,
    rewards: tuple[str, ...] | list[str] | str = (),
    examples: int | None = None,
) -> Law | Callable[[Law], Law]:
    """Mark a function as a law and return it unchanged.

    Args:
        rewards: names of the rewards it is about; none: every reward of the set.
        examples: how many completions to try; default: that of `[check]`.

    >>> @law
    ... def never_negative(score, completion):
    ...     return score(completion) >= 0
    >>> is_law(never_negative)
    True
    """
    names = (rewards,) if isinstance(rewards, str) else tuple(rewards)

    def mark(marked: Law) -> Law:
        setattr(marked, MARK, {"rewards": names, "examples": examples})
        return marked

    return mark if function is None else mark(function)


def is_law(value: Any) -> bool:
    """Whether something is a function marked with `@law`."""
    return callable(value) and isinstance(getattr(value, MARK, None), dict)


__all__ = ["MARK", "is_law", "law"]
