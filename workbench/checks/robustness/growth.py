"""How the time of a pattern grows with the length of a text, measured on the text that is worst for it.

Pumps (`pumps`) are tried at a short length first, where only the exponential ones take any time, then at a middle
one; the slowest few are doubled until they take a quarter of a second, and the slope of log time over log
length is the exponent. Times are those of the processor, so that a busy machine changes nothing. A match is ended
at its limit by a signal, which Python's `re` listens to; other code may not, so all of this belongs into a worker
that can be killed.
"""

from __future__ import annotations

import contextlib
import math
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from workbench.checks.robustness.pumps import Pump, pumps_of

LONG = 32_000
"""The length of text, in characters, whose cost is reported."""
FLOOR_S = 0.02
"""What costs less is not reported, whatever its growth."""
STEEP = 1.5
"""Exponents from here on are growth; sorting and hashing stay below."""
BUDGET_S = 1.0

_SHORT, _EARLY, _MIDDLE, _LONGEST = 30, 512, 2_048, 131_072
_FEW = 2
_ENOUGH_S = 0.15
_LIMIT_S = 0.12
_GLANCE_S = 0.04


class TooLong(BaseException):
    """A measured call reached its limit; no `Exception`, so that a reward's own handlers let it pass."""


@dataclass(frozen=True)
class Growth:
    """What was found: `kind` "exponential" or "polynomial", the `exponent` (infinite for the former), the pump.

    `text` is the shortest measured text that costs over `FLOOR_S`; `length` and `seconds` are the longest measured
    point; `at_long` the seconds that `LONG` characters take, measured or drawn on.
    """

    kind: str
    exponent: float
    before: str
    again: str
    text: str
    length: int
    seconds: float
    at_long: float

    def to_json(self) -> dict[str, Any]:
        """Plain values for the process boundary."""
        return {**asdict(self), "exponent": -1.0 if math.isinf(self.exponent) else self.exponent,
                "at_long": -1.0 if math.isinf(self.at_long) else self.at_long}  # fmt: skip

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Growth:
        """What `to_json` made."""
        endless = {name: math.inf for name in ("exponent", "at_long") if values[name] < 0}
        return cls(**{**values, **endless})


def processor_seconds(function: Callable[[], Any], limit: float) -> float:
    """Processor seconds that a call takes; `limit` where it took that long and was ended."""

    rung: list[bool] = []

    def ring(number: int, frame: Any) -> None:
        rung.append(True)
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, ring)
    own, whole = time.thread_time(), time.process_time()

    def taken() -> float:
        # while a timer runs, Linux counts the process' clock in ticks: exact is the thread's one alone
        other = time.process_time() - whole
        return max(time.thread_time() - own, other if other > FLOOR_S else 0.0)

    with contextlib.suppress(TooLong):
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, limit)
            function()
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)
    return max(limit, taken()) if rung else taken()  # a reward may have caught the end itself


def matcher(pattern: str, flags: int, method: str) -> Callable[[str], Any]:
    """A function of a text that does what `re.METHOD` does with it, results used up."""
    compiled = re.compile(pattern, flags)
    if method == "sub":
        return lambda text: compiled.sub("", text)
    if method == "finditer":
        return lambda text: list(compiled.finditer(text))
    found = getattr(compiled, method if method in ("match", "fullmatch", "findall", "split") else "search")
    return found  # type: ignore[no-any-return]


def pattern_growth(
    pattern: str, flags: int = 0, method: str = "search", *, budget_s: float = BUDGET_S
) -> Growth | None:
    """How a pattern's time grows on the worst text found; None where it is harmless.

    Args:
        pattern, flags, method: as in `re.METHOD(pattern, text, flags)`.
        budget_s: processor seconds that the search may take, about.
    """
    return worst_growth(matcher(pattern, flags, method), pumps_of(pattern, flags), budget_s=budget_s)


def worst_growth(run: Callable[[str], Any], pumps: Sequence[Pump], *, budget_s: float) -> Growth | None:
    """The growth of `run(text)` on the worst of `pumps`; None where none grows and costs over `FLOOR_S`."""
    clock = _Clock(budget_s / 2)
    for pump in clock.while_left(pumps):
        for after in ("!", "\0"):
            growth = _exponential(run, pump, after)
            if growth is not None:
                return growth
    slowest = _slowest(run, pumps, _EARLY, clock)[: 3 * _FEW]
    slowest = _slowest(run, slowest, _MIDDLE, _Clock(budget_s / 4))[:_FEW]
    clock = _Clock(budget_s / 2)
    grown = (_doubled(run, pump, clock) for pump in clock.while_left(slowest))
    return max((growth for growth in grown if growth is not None), key=lambda g: g.at_long, default=None)


def _slowest(run: Callable[[str], Any], pumps: Sequence[Pump], length: int, clock: _Clock) -> list[Pump]:
    """The pumps by the time they take at a length, the slowest first."""
    timed = [
        (processor_seconds(lambda p=pump: run(p.text(length)), _GLANCE_S), place, pump)  # type: ignore[misc]
        for place, pump in enumerate(clock.while_left(pumps))
    ]
    return [pump for _, _, pump in sorted(timed, key=lambda item: (-item[0], item[1]))]


class _Clock:
    """Processor time left of a budget, and three times as much on the wall."""

    def __init__(self, budget_s: float) -> None:
        self.end = time.process_time() + budget_s
        self.late = time.perf_counter() + 3 * budget_s

    @property
    def over(self) -> bool:
        """Whether there is no time left."""
        return time.process_time() > self.end or time.perf_counter() > self.late

    def while_left(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items, as long as there is time; the first one always."""
        for place, item in enumerate(items):
            if place and self.over:
                return
            yield item


def _exponential(run: Callable[[str], Any], pump: Pump, after: str) -> Growth | None:
    """Growth by a factor with each repetition: a text of a few repetitions that never ends."""
    if processor_seconds(lambda: run(pump.times(_SHORT, after)), _LIMIT_S) < _LIMIT_S:
        return None
    # a steep power takes long as well; a factor shows in few repetitions more
    times = {}
    for count in range(10, _SHORT + 1, 2):
        times[count] = processor_seconds(lambda n=count: run(pump.times(n, after)), _LIMIT_S)  # type: ignore[misc]
        if times[count] >= _LIMIT_S:
            break
    last = max(times)
    steps = [times[n] / times[n - 2] for n in times if n - 2 in times and times[n - 2] > 1e-4]
    if steps and sorted(steps)[len(steps) // 2] < 1.6:
        return None
    text = pump.times(last, after)
    return Growth("exponential", math.inf, pump.before, pump.again, text, len(text), times[last], math.inf)


def _doubled(run: Callable[[str], Any], pump: Pump, clock: _Clock) -> Growth | None:
    """The exponent on a pump, from ever longer texts."""
    points: list[tuple[int, float]] = []
    shown = ""
    length = _EARLY // 2
    while length <= _LONGEST:
        text = pump.text(length)
        seconds = processor_seconds(lambda t=text: run(t), 4 * _ENOUGH_S)  # type: ignore[misc]
        if seconds < 4 * _ENOUGH_S or not points:
            points.append((len(text), seconds))
        shown = shown or (text if seconds > FLOOR_S else "")
        if seconds > _ENOUGH_S or (clock.over and (seconds > FLOOR_S or len(points) > 3)):
            break
        length *= 2
    exponent = fitted(points)
    length, seconds = points[-1]
    if exponent < STEEP or seconds < FLOOR_S:
        return None
    at_long = seconds * (LONG / length) ** exponent
    return Growth("polynomial", round(exponent, 1), pump.before, pump.again, shown, length, seconds, at_long)


def fitted(points: Sequence[tuple[int, float]]) -> float:
    """The exponent of a power law through (length, seconds), from the upper points that are no noise; 0 without."""
    known = [(length, seconds) for length, seconds in points if seconds > 3e-4][-3:]
    if len(known) < 2:
        return 0.0
    (x0, y0), (x1, y1) = known[0], known[-1]
    return math.log(y1 / y0) / math.log(x1 / x0)


__all__ = [
    "BUDGET_S", "FLOOR_S", "LONG", "STEEP", "Growth", "TooLong", "matcher", "pattern_growth", "processor_seconds",
    "worst_growth",
]  # fmt: skip
