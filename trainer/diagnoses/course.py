"""The course of a run: its metrics as series, with the few statistics the rules need.

Everything is taken from means of whole stretches of the run, so that it hardly matters whether a run was logged at
every step or at every tenth. Trends are Mann-Kendall tests on about 15 *block means*, which removes the noise of a
batch; sizes of effects are the mean of the last fifth against that of the first.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCKS = 15
LEAST_WINDOW, LEAST_POINTS = 5, 2
"""Steps that a window stands for at least, and points that it has at least."""

WINDOW_SHARE = 0.1
MOST_POINTS = 1024
"""Points kept of one metric: beyond it neighbours are averaged, so that memory and time stay bounded."""

AT_CEILING, AT_FLOOR = 0.85, 0.15


@dataclass(frozen=True)
class Trend:
    """A Mann-Kendall test: `direction` +1, 0 or -1, two-sided `p`, and last fifth minus first fifth."""

    direction: int
    p: float
    change: float

    def rising(self, least: float, p: float = 0.01) -> bool:
        """Whether it clearly goes up, by at least `least`."""
        return self.direction > 0 and self.p < p and self.change >= least

    def falling(self, least: float, p: float = 0.01) -> bool:
        """Whether it clearly goes down, by at least `least`."""
        return self.direction < 0 and self.p < p and -self.change >= least

    def under(self, weight: float) -> Trend:
        """The same by what it earns under a weight: a penalised feature that falls goes up."""
        return self if weight >= 0 else Trend(-self.direction, self.p, -self.change)


@dataclass(frozen=True)
class Series:
    """The finite values of one metric with their steps.

    `covers` says how many steps each value stands for, one each where it is left out: a run may be logged at every
    tenth step only, and old points of a long run are means of several. All means, medians and stretches weigh by it.
    """

    steps: NDArray[np.float64]
    values: NDArray[np.float64]
    covers: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Steps that each value stands for."""
        return np.ones(len(self)) if self.covers is None else self.covers

    @cached_property
    def _even(self) -> bool:
        return self.covers is None or not len(self) or bool((self.covers == self.covers[0]).all())

    @cached_property
    def covered(self) -> float:
        """Steps that all values stand for."""
        return float(np.add.reduce(self.weights))

    @property
    def span(self) -> float:
        """Steps from the first point to the last."""
        return float(self.steps[-1] - self.steps[0]) if len(self) else 0.0

    def part(self, chosen: slice | NDArray[np.bool_]) -> Series:
        """Some of the points."""
        covers = None if self.covers is None else self.covers[chosen]
        return Series(self.steps[chosen], self.values[chosen], covers)

    def between(self, first: float, last: float) -> Series:
        """The points of steps from `first` to `last`, both included."""
        return self.part((self.steps >= first) & (self.steps <= last))

    def first(self, steps: float, *, least: int = 1) -> Series:
        """The fewest points from the start that stand for so many steps, at least `least` points."""
        count = int(np.searchsorted(np.cumsum(self.weights), steps * (1 - 1e-9))) + 1
        return self.part(slice(max(count, least)))

    def mean(self) -> float:
        """The mean, NaN where there is no point."""
        if not len(self):
            return math.nan
        if self._even:
            return float(np.add.reduce(self.values)) / len(self)
        return float(self.values @ self.weights) / self.covered

    def median(self) -> float:
        """The median, NaN where there is no point."""
        count = len(self)
        if not count:
            return math.nan
        if self._even:
            ordered = np.sort(self.values)  # a good deal quicker than np.median
            return float(ordered[(count - 1) // 2] + ordered[count // 2]) / 2
        order = np.argsort(self.values)
        below = np.cumsum(self.weights[order])
        sides = [int(np.searchsorted(below, self.covered / 2, side)) for side in ("left", "right")]
        return float(sum(self.values[order[min(at, count - 1)]] for at in sides)) / 2

    def begins(self, count: int) -> NDArray[np.intp]:
        """Where each of `count` stretches of equally many steps begins among the points; fewer where points are few."""
        count = min(count, len(self))
        if self._even:
            return _stretches(len(self), count)[0]
        middles = np.cumsum(self.weights) - self.weights / 2
        return np.unique(np.searchsorted(middles, np.arange(count) * (self.covered / count)))

    def blocks(self, count: int = BLOCKS) -> NDArray[np.float64]:
        """Means of `count` stretches of equal length, of fewer where there are fewer points."""
        if not len(self):
            return np.zeros(0)
        if self._even:
            begins, sizes = _stretches(len(self), min(count, len(self)))
            return np.asarray(np.add.reduceat(self.values, begins) / sizes)
        begins = self.begins(count)
        sums = np.add.reduceat(self.values * self.weights, begins)
        return np.asarray(sums / np.add.reduceat(self.weights, begins))

    def fifths(self) -> tuple[float, float]:
        """Mean of the first fifth of the steps and of the last."""
        if self._even:
            size = max(1, len(self) // 5)
            return float(self.values[:size].mean()), float(self.values[-size:].mean())
        most = self.covered / 5 * (1 + 1e-9)
        head, tail = (
            max(1, int(np.searchsorted(np.cumsum(weights), most, "right")))
            for weights in (self.weights, self.weights[::-1])
        )
        return self.part(slice(head)).mean(), self.part(slice(-tail, None)).mean()

    @cached_property
    def trend(self) -> Trend:
        """Where it goes, over all of it; no direction where there are fewer than 6 points."""
        if len(self) < 6:
            return Trend(0, 1.0, 0.0)
        first, last = self.fifths()
        direction, p = mann_kendall(self.blocks())
        return Trend(direction, p, last - first)


_NOTHING = Series(np.zeros(0), np.zeros(0))


def mann_kendall(values: NDArray[np.float64]) -> tuple[int, float]:
    """The sign of Kendall's S and its two-sided p by the normal approximation, corrected for ties.

    >>> mann_kendall(np.arange(10.0))[0]
    1
    """
    count = len(values)
    scale = float(np.abs(values).max()) or 1.0
    plain = [
        round(value, 10) for value in (values / scale).tolist()
    ]  # what only rounding tells apart is a tie
    pairs = itertools.combinations(plain, 2)  # a dozen values or so: quicker than arrays
    score = sum((later > earlier) - (later < earlier) for earlier, later in pairs)
    ties = sum(tie * (tie - 1) * (2 * tie + 5) for tie in Counter(plain).values())
    spread = (count * (count - 1) * (2 * count + 5) - ties) / 18
    if spread <= 0 or score == 0:
        return 0, 1.0
    z = (abs(score) - 1) / math.sqrt(spread)
    return (1 if score > 0 else -1), math.erfc(z / math.sqrt(2))


@lru_cache(maxsize=256)
def _stretches(points: int, count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each of `count` stretches of about equal length begins among the points, and how many points it has."""
    edges = np.linspace(0, points, count + 1).round().astype(np.intp)
    return edges[:-1], np.diff(edges)


@dataclass(frozen=True)
class Facts:
    """What is known of a run beforehand. Rewards by the names of the record.

    `total_steps` is 0 where nobody knows. `ranges` are what rewards promise to return, None where undeclared.
    """

    total_steps: int = 0
    weights: Mapping[str, float] = field(default_factory=dict)
    kinds: Mapping[str, str | None] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float] | None] = field(default_factory=dict)
    group_size: int | None = None
    max_completion_length: int | None = None
    beta: float = 0.0

    @property
    def trained(self) -> list[str]:
        """The rewards that pull: weight other than 0."""
        return [name for name, weight in self.weights.items() if weight]

    @property
    def paid(self) -> list[str]:
        """The rewards that are wanted: weight above 0; below it they are penalties."""
        return [name for name, weight in self.weights.items() if weight > 0]

    @property
    def watching(self) -> list[str]:
        """The rewards of weight 0, which are logged alone."""
        return [name for name, weight in self.weights.items() if not weight]

    @property
    def primary(self) -> str:
        """The metric of what is really wanted: the reward of kind correctness that is paid for, else the total."""
        right = [name for name in self.paid if self.kinds.get(name) == "correctness"]
        return f"rewards/{right[0]}/mean" if len(right) == 1 else "reward"

    def bounds(self, name: str = "") -> tuple[float, float] | None:
        """The least and the most a reward ("": the weighted total) can be; None where a range is undeclared."""
        if name:
            return self.ranges.get(name)
        low = high = 0.0
        for one in self.trained:
            span = self.ranges.get(one)
            if span is None:
                return None
            ends = sorted((self.weights[one] * span[0], self.weights[one] * span[1]))
            low, high = low + ends[0], high + ends[1]
        return (low, high) if high > low else None


class Course:
    """The metrics of a run so far, step by step."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.step = 0
        self.points: dict[str, tuple[list[float], list[float], list[float]]] = {}
        self.not_finite: dict[str, int] = {}
        self._covers = 1.0
        self._cache: dict[str, Series] = {}
        self._recent: dict[tuple[str, ...], Series] = {}

    def add(self, step: int, metrics: Mapping[str, Any]) -> None:
        """Take the metrics of a step; what is no number is passed over, what is not finite is remembered."""
        if step > self.step:
            self._covers = float(step - self.step)
        self.step = max(self.step, step)
        self._forget()
        for name, value in metrics.items():
            if name in ("step", "epoch") or isinstance(value, bool):
                continue
            number = as_number(value)
            if number is None:
                continue
            if not math.isfinite(number):
                self.not_finite.setdefault(name, step)
                continue
            steps, values, covers = self.points.setdefault(name, ([], [], []))
            if (
                len(covers) == 1
            ):  # nobody knows what was before the first line: it stands for no more than the next
                covers[0] = min(covers[0], self._covers)
            steps.append(float(step))
            values.append(number)
            covers.append(self._covers)
            if len(values) > MOST_POINTS:
                self.points[name] = _halved(steps, values, covers)

    def __contains__(self, name: str) -> bool:
        return name in self.points

    def series(self, *names: str) -> Series:
        """The first of these metrics that the run has; an empty series where it has none."""
        name = next((one for one in names if one in self.points), "")
        if name not in self._cache:
            steps, values, covers = self.points.get(name, ([], [], []))
            self._cache[name] = Series(np.array(steps), np.array(values), np.array(covers))
        return self._cache[name]

    def window(self, series: Series) -> Series:
        """The last tenth of the run (of its planned length where known), but at least five steps and two points."""
        if not len(series):
            return series
        planned = max(self.facts.total_steps, self.step)
        inside = int(np.count_nonzero(series.steps > self.step - WINDOW_SHARE * planned))
        five = int(np.searchsorted(np.cumsum(series.weights[::-1]), LEAST_WINDOW)) + 1
        return series.part(slice(-max(inside, five, LEAST_POINTS), None))

    def recent(self, *names: str, least: int = LEAST_POINTS) -> Series | None:
        """The window of a metric; None while it stands for fewer than five steps or has fewer than `least` points."""
        found = self._recent.get(names)
        if found is None:
            series = self.series(*names)
            known = series.covered >= LEAST_WINDOW and len(series) >= LEAST_POINTS
            found = self._recent[names] = self.window(series) if known else _NOTHING
        if 0 < len(found) < least <= len(self.series(*names)):
            return self.series(*names).part(slice(-least, None))
        return found if len(found) >= least else None

    def start(self, *names: str) -> Series | None:
        """As many steps as the window stands for, from the start of the run; None where both would overlap."""
        series = self.series(*names)
        window = self.window(series)
        if window.covered < LEAST_WINDOW:
            return None
        start = series.first(window.covered, least=LEAST_POINTS)
        fits = len(start) + len(window) <= len(series) and start.covered + window.covered <= series.covered
        return start if fits else None

    def spread(self, name: str = "") -> float:
        """The usual standard deviation, over a batch, of a reward ("": the total) in the first part of the run."""
        series = self.series(f"rewards/{name}/std" if name else "reward_std")
        if not len(series):
            means = self.series(f"rewards/{name}/mean" if name else "reward")
            return float(means.values.std()) if len(means) else 0.0
        return series.first(max(float(LEAST_WINDOW), series.covered // 3)).mean()

    def place(self, name: str = "") -> float | None:
        """Where a reward ("": the total) lies now between the least and the most it can be, 0 to 1.

        Without declared ranges the most that any completion has earned so far stands for the ceiling; None where
        that is unknown too.
        """
        recent = self.recent(f"rewards/{name}/mean" if name else "reward")
        if recent is None:
            return None
        bounds = self.facts.bounds(name)
        if bounds is None and not name and "groups/highest" in self:
            low = float(self.series("groups/lowest").values.min()) if "groups/lowest" in self else 0.0
            high = float(self.series("groups/highest").values.max())
            bounds = (low, high) if high > low else None
        if bounds is None:
            return None
        return min(1.0, max(0.0, (recent.mean() - bounds[0]) / (bounds[1] - bounds[0])))

    def at_ceiling(self) -> bool:
        """Whether there is little left to earn."""
        place = self.place()
        return place is not None and place >= AT_CEILING

    def primary_rising(self, since: float | None = None) -> bool:
        """Whether what is really wanted has grown clearly, over the recent half of the run or since a step."""
        series = self.series(self.facts.primary)
        first = since if since is not None else (self.step + (series.steps[0] if len(series) else 0)) / 2
        part = series.between(first, self.step)
        least = 0.1 * (self.spread(_reward_of(self.facts.primary)) or 1e-9)
        if len(part) >= 6:
            return part.trend.change >= least and (part.trend.direction > 0 and part.trend.p < 0.1)
        return len(part) >= 2 and float(part.values[-1] - part.values[0]) >= least

    def to_json(self) -> dict[str, Any]:
        """All of it, for a checkpoint; `restore` takes it back."""
        return {
            "step": self.step,
            "points": {name: list(lists) for name, lists in self.points.items()},
            "not_finite": self.not_finite,
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Become what `to_json` gave."""
        self.step = int(values["step"])
        self.points = {
            name: (list(steps), list(found), [float(one) for one in covers[0]] if covers else _gaps(steps))
            for name, (steps, found, *covers) in values["points"].items()
        }
        self.not_finite = dict(values["not_finite"])
        self._forget()

    def _forget(self) -> None:
        """Drop what was derived from the points: they change."""
        self._cache.clear()
        self._recent.clear()


def as_number(value: Any) -> float | None:
    """A metric as a float; the record's texts "nan", "inf", "-inf" are read back; None for what is no number."""
    if isinstance(value, (int, float)):
        return float(value)
    return float(value) if value in ("nan", "inf", "-inf") else None


def _halved(
    steps: list[float], values: list[float], covers: list[float]
) -> tuple[list[float], list[float], list[float]]:
    """Means of neighbouring pairs, weighed by the steps they stand for; a last one without a neighbour stays."""
    rest = len(values) // 2 * 2
    pairs = range(0, rest, 2)
    both = [covers[at] + covers[at + 1] for at in pairs]
    means = [
        (values[at] * covers[at] + values[at + 1] * covers[at + 1]) / size
        for at, size in zip(pairs, both, strict=True)
    ]
    return [steps[at + 1] for at in pairs] + steps[rest:], means + values[rest:], both + covers[rest:]


def _gaps(steps: Sequence[float]) -> list[float]:
    """Steps that points stand for, read off their distances; of courses that were written without."""
    gaps = [later - earlier for earlier, later in itertools.pairwise(steps)]
    return [max(1.0, gap) for gap in [*gaps[:1], *gaps]] or [1.0] * len(steps)


def _reward_of(metric: str) -> str:
    return metric.removeprefix("rewards/").removesuffix("/mean") if metric.startswith("rewards/") else ""
