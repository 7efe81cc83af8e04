"""`@reward(...)`: what a reward function promises, written beside it.

The decorator only marks: it returns the very function it was given, so the function can be called, tested
and handed to TRL as it is. A manifest may say the same keys and wins over a mark.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

MARK = "__reward__"
Kind = Literal["correctness", "format", "length", "style", "content", "relevance", "diversity", "other"]

F = TypeVar("F", bound=Callable[..., Any])


@overload
def reward(function: F, /) -> F: ...


@overload
def reward(
    *,
    name: str | None = None,
    kind: Kind | None = None,
    weight: float | None = None,
    range: tuple[float, float] | None = None,
    scope: Literal["row", "group"] | None = None,
    abstains: bool | None = None,
    deterministic: bool | None = None,
    timeout_s: float | None = None,
    memory_mb: int | None = None,
    runs: Literal["fork", "warm"] | None = None,
    cost: Literal["free", "paid"] | None = None,
    params: dict[str, Any] | None = None,
    when: dict[str, Any] | None = None,
    adaptive: dict[str, float] | None = None,
) -> Callable[[F], F]: ...


def reward(function: Any = None, /, **keys: Any) -> Any:
    """Mark a function as a reward and return it unchanged.

    Every key of a `[[reward]]` table but `function` may be given; what is left out keeps its default
    (`rewards.manifest.RewardEntry` lists the keys, their meaning and range). Values are checked when the
    set is loaded, so that a wrong one is reported with the file and not as a crash at import.

    Example:
        >>> @reward(kind="format", weight=0.5, range=(0.0, 1.0))
        ... def has_answer(completions, **columns):
        ...     return [float("<answer>" in text) for text in completions]
        >>> has_answer(completions=["<answer>4</answer>"])
        [1.0]
    """

    def mark(marked: F) -> F:
        setattr(marked, MARK, {key: value for key, value in keys.items() if value is not None})
        return marked

    return mark if function is None else mark(function)


def mark_of(function: object) -> dict[str, Any]:
    """The keys a function was marked with, looking through `functools.partial`; {} without a mark."""
    while function is not None:
        found = getattr(function, MARK, None)
        if isinstance(found, dict):
            return dict(found)
        function = getattr(function, "func", None)
    return {}
