"""Looking for completions that break a property, with Hypothesis, in few calls and within a time.

Hypothesis runs in this process and draws several completions at a time; each batch is one call over the boundary.
What breaks the property is made small twice: by Hypothesis (shorter sample, fewer changes), and then by dropping
pieces of the text while it still does. Found examples are kept in the project and tried first the next time.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.mutations import pieces

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from workbench.checks.subject import RewardSubject

BATCH = 12
"""Completions drawn at a time."""
SECONDS = 1.6
FOLDER = "examples"


class _Enough(Exception):
    """The time for a search is over."""


@dataclass
class Search:
    """A search in progress: when it ends, and the smallest breaking item so far."""

    ends: float
    best: tuple[int, str] | None = None
    tried: int = 0

    def note(self, items: Sequence[tuple[int, str]], broken: Sequence[bool]) -> bool:
        """Remember the smallest of the broken items; whether there was one."""
        self.tried += len(items)
        for item, is_broken in zip(items, broken, strict=True):
            if is_broken and (self.best is None or _size(item) < _size(self.best)):
                self.best = item
        return any(broken)


def _size(item: tuple[int, str]) -> tuple[int, str]:
    return len(item[1]), item[1]


def falsify(
    subject: RewardSubject,
    strategy: SearchStrategy[tuple[int, str]],
    broken: Callable[[Sequence[tuple[int, str]]], Sequence[bool]],
    *,
    key: str,
    examples: int | None = None,
    seconds: float = SECONDS,
) -> tuple[int, str] | None:
    """The smallest (row, text) found that breaks a property; None where none was found.

    Args:
        subject: the reward; its options give seed, examples and where found examples are kept.
        strategy: draws (row, text).
        broken: tells of several (row, text) which break the property.
        key: names the property among the kept examples.
        examples: how many to draw; default: those of the options.
        seconds: after which the search ends with what it has.
    """
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import Flaky, NoSuchExample, Unsatisfiable

    options = subject.options
    search = Search(time.monotonic() + seconds)

    def breaks(items: list[tuple[int, str]]) -> bool:
        if time.monotonic() > search.ends:
            raise _Enough
        return search.note(items, broken(items))

    count = examples if examples is not None else options.examples
    chosen = settings(
        max_examples=max(2, -(-count // BATCH) * 2),
        database=example_database(options.memory),
        deadline=None,
        phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    several = st.lists(strategy, min_size=1, max_size=BATCH)
    try:
        find(
            several,
            breaks,
            settings=chosen,
            random=random.Random(options.seed),
            database_key=f"{subject.name}:{key}".encode(),
        )
    except (NoSuchExample, Unsatisfiable, Flaky, _Enough):
        pass  # `search.best` says what there is
    return search.best


def shrink(
    item: tuple[int, str],
    broken: Callable[[Sequence[tuple[int, str]]], Sequence[bool]],
    *,
    seconds: float = 0.8,
) -> tuple[int, str]:
    """The item with as many pieces of its text dropped as leave it broken; all single drops are tried in one call."""
    ends = time.monotonic() + seconds
    row, text = item
    size = max(1, len(pieces(text)) // 2)
    while size >= 1 and time.monotonic() < ends:
        parts = pieces(text)
        starts = range(0, len(parts), size)
        candidates = ["".join(parts[:start] + parts[start + size :]) for start in starts][:200]
        results = broken([(row, candidate) for candidate in candidates]) if candidates else []
        kept = [candidate for candidate, still in zip(candidates, results, strict=True) if still]
        if kept:
            text = min(kept, key=lambda candidate: (len(candidate), candidate))
            size = min(size, max(1, len(pieces(text)) // 2))
        elif size == 1:
            break
        else:
            size //= 2
    return row, text


def example_database(memory: Path | None) -> Any:
    """Where found examples are kept: in the project's own folder, or nowhere."""
    from hypothesis.database import DirectoryBasedExampleDatabase, InMemoryExampleDatabase

    if memory is None:
        return InMemoryExampleDatabase()
    return DirectoryBasedExampleDatabase(memory / FOLDER)


def reproduction(subject: RewardSubject, code: str) -> str:
    """The command that finds it again, as a sentence."""
    command = f"reward-workbench check {subject.bench.target} --select {code}"
    return f"To find it again: {command} (seed {subject.options.seed})."


__all__ = ["BATCH", "Search", "example_database", "falsify", "reproduction", "shrink"]
