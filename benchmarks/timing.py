"""Timing things side by side: interleaved rounds, medians, ratios.

What is compared runs in turns within each round, so that a busy or slowing machine bears on all of it alike. A ratio
is the median of the rounds' own ratios; it holds on other machines, the seconds do not.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def interleaved(cases: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each case in each round; a first round, not counted, warms everything up."""
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds + 1):
        for name, case in cases.items():
            start = time.perf_counter()
            case()
            if number:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def ratio(seconds: Mapping[str, list[float]], name: str, base: str) -> float:
    """The median over the rounds of `name`'s seconds by `base`'s."""
    return statistics.median(one / other for one, other in zip(seconds[name], seconds[base], strict=True))


def show(seconds: Mapping[str, list[float]], base: str) -> str:
    """A table: median, fastest and slowest round in milliseconds, and the ratio to `base`."""
    width = max(map(len, seconds))
    lines = [f"{'':{width}}  {'median':>9}  {'fastest':>9}  {'slowest':>9}  ratio"]
    for name, each in seconds.items():
        middle, low, high = statistics.median(each), min(each), max(each)
        cells = "  ".join(f"{value * 1000:6.1f} ms" for value in (middle, low, high))
        lines.append(f"{name:{width}}  {cells}  {ratio(seconds, name, base):.2f}")
    return "\n".join(lines)
