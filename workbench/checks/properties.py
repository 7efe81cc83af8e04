"""Looking for completions that break a property, with Hypothesis, in few calls and within a time.

Hypothesis runs in this process and draws several completions at a time; each batch is one call over the boundary.
What breaks the property is made small twice: by Hypothesis (shorter sample, fewer changes), and then by dropping
pieces of the text while it still does. Found examples are kept in the project and tried first the next time.
"""

from __future__ import annotations

import contextlib
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.mutations import pieces
from workbench.versions import make_folder

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from workbench.checks.subject import RewardSubject

BATCH = 12
"""Completions drawn at a time."""
SECONDS = 5.0
"""For drawing: a multiple of what a quick reward needs, so that a busy machine draws as many as an idle one."""
SMALLER_S = 1.6
"""For making smaller what was found."""
FILE = "examples.jsonl"
KEPT = 20
"""Examples of a property that are tried first."""


class _Enough(Exception):
    """The time for a search is over."""


@dataclass
class Search:
    """A search in progress: when it ends, at the latest or once something is found, and the smallest breaking item."""

    ends: float
    best: tuple[int, str] | None = None
    tried: int = 0

    def note(self, items: Sequence[tuple[int, str]], broken: Sequence[bool]) -> bool:
        """Remember the smallest of the broken items; whether there was one."""
        self.tried += len(items)
        for item, is_broken in zip(items, broken, strict=True):
            if is_broken and self.best is None:
                self.ends = min(self.ends, time.monotonic() + SMALLER_S)
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
    rows: Sequence[int],
    examples: int | None = None,
    seconds: float = SECONDS,
) -> tuple[int, str] | None:
    """The smallest (row, text) found that breaks a property; None where none was found.

    Args:
        subject: the reward; its options give seed, examples and where found examples are kept.
        strategy: draws (row, text).
        broken: tells of several (row, text) which break the property.
        key: names the property among the kept examples.
        rows: the rows that kept examples are tried under.
        examples: how many to draw; default: those of the options.
        seconds: after which the search ends with what it has, whatever it has drawn.
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

    for text in remembered(subject, key):
        items = [(row, text) for row in rows]
        if search.note(items, broken(items)):
            return search.best
    count = examples if examples is not None else options.examples
    chosen = settings(
        max_examples=max(2, -(-count // BATCH) * 2),
        database=None,  # found examples are kept as text, which outlives changes of the strategies
        deadline=None,
        derandomize=False,  # `random` seeds it; a profile of the surrounding tests must not change that
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    several = st.lists(strategy, min_size=1, max_size=BATCH)
    try:
        with _no_constants_of_loaded_files():
            find(
                several,
                breaks,
                settings=chosen,
                random=random.Random(options.seed),
            )
    except (NoSuchExample, Unsatisfiable, Flaky, _Enough):
        pass  # `search.best` says what there is
    return search.best


@contextlib.contextmanager
def _no_constants_of_loaded_files() -> Iterator[None]:
    """Keep Hypothesis from reading the source of every loaded local module for constants to draw.

    In a checkout that takes most of a second, leaves a folder `.hypothesis`, and makes what is drawn depend on
    what happens to be loaded. A release without this function draws as it likes.
    """
    from hypothesis.internal.conjecture import providers

    known, none = vars(providers).get("_get_local_constants"), vars(providers).get("Constants")
    if known is None or none is None:
        yield
        return
    setattr(providers, "_get_local_constants", none)  # noqa: B010 - not declared by its stubs
    try:
        yield
    finally:
        setattr(providers, "_get_local_constants", known)  # noqa: B010


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


def remembered(subject: RewardSubject, key: str) -> list[str]:
    """The completions that broke a property in earlier runs, the newest first; a damaged file holds none."""
    memory = subject.options.memory
    if memory is None:
        return []
    try:
        lines = (memory / FILE).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    name = f"{subject.name}:{key}"
    texts: list[str] = []
    for line in reversed(lines):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if (
            isinstance(entry, dict)
            and entry.get("property") == name
            and isinstance(entry.get("completion"), str)
        ):
            texts.append(entry["completion"])
    return list(dict.fromkeys(texts))[:KEPT]


def remember(subject: RewardSubject, key: str, text: str) -> None:
    """Keep a completion that broke a property in the project; where nothing can be written, nothing is kept."""
    memory = subject.options.memory
    if memory is None or text in remembered(subject, key):
        return
    line = json.dumps({"property": f"{subject.name}:{key}", "completion": text})
    try:
        make_folder(memory)
        with (memory / FILE).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    except OSError:
        return  # a full disk or a read-only folder: the example is found again the next time


def reproduction(subject: RewardSubject, code: str) -> str:
    """The command that finds it again, as a sentence."""
    command = f"reward-workbench check {subject.bench.target} --select {code}"
    return f"To find it again: {command} (seed {subject.options.seed})."


__all__ = ["BATCH", "Search", "falsify", "remember", "remembered", "reproduction", "shrink"]
