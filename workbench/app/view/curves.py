"""A run's metrics as pictures: drawn here, so that the browser gets a few hundred points however long the run is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from workbench.reports import svg

POINTS = 240
"""Points of a line at most: the lowest and highest of each stretch, so that no spike is lost."""

WIDTH, HEIGHT, LEFT, BASE = 520.0, 170.0, 54.0, 132.0
MOST_RUNS = 6
DASHES = ("none", "7 3", "2 3", "9 3 2 3", "4 2", "1 2")
Point = tuple[float, float]
Line = tuple[str, list[Point]]


def curves(
    lines: Sequence[Mapping[str, Any]],
    beside: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    name: str = "",
) -> list[dict[str, Any]]:
    """A chart a group of metrics, what matters most first: `key`, `title`, `about`, `now`, `svg`.

    `beside` maps other runs to their metrics. With any, every chart has one metric and a line a run, the run `name`
    itself first; the runs' colours and dashes are those of `run_marks`.
    """
    if beside:
        return _overlaid({name: lines, **beside})
    charts = []
    for key, title, about, names in _wanted(lines):
        series = [(_short(name), series_of(lines, name)) for name in names]
        series = [(name, points) for name, points in series if points]
        if series:
            now = " · ".join(f"{svg.short(points[-1][1])}" for _, points in series[:4])
            drawn = chart(series, title)
            charts.append({"key": key, "title": title, "about": about, "now": now, "svg": drawn})
    return charts


def _wanted(lines: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str, list[str]]]:
    """Key, title, what it says, and the metrics of every chart."""
    rewards = sorted({name for line in lines for name in line if _is_reward_mean(name)})
    spread = "mean total of the completions, and its spread inside groups"
    limit = "share of completions that reached the limit"
    loss = "says nothing about how well it goes: watch the reward"
    return [
        ("reward", "Reward", spread, ["reward", "reward_std"]),
        ("rewards", "Each reward", "mean of each", rewards),
        (
            "dead",
            "Groups without spread",
            "share of prompts from which nothing is learnt",
            ["frac_reward_zero_std"],
        ),
        ("length", "Length", "tokens of a completion, mean", ["completions/mean_length"]),
        ("clipped", "Cut off", limit, ["completions/clipped_ratio"]),
        ("kl", "Distance from the start", "KL to the model the run began with", ["kl"]),
        ("entropy", "Entropy", "how undecided the model is at each token", ["entropy"]),
        ("grad", "Gradient norm", "before clipping", ["grad_norm"]),
        ("loss", "Loss", loss, ["loss"]),
    ]


def _overlaid(runs: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """A chart a metric with a line a run; a run that has not got the metric has no line."""
    everything = [line for lines in runs.values() for line in lines]
    charts = []
    for key, title, about, names in _wanted(everything):
        alone = [names[0]] if key == "reward" else names
        for metric in alone:
            series = [(run, series_of(lines, metric)) for run, lines in runs.items()]
            if not any(points for _, points in series):
                continue
            own = f"Reward {_short(metric)}" if key == "rewards" else title
            said = (
                "mean total of the completions" if key == "reward" else "mean" if key == "rewards" else about
            )
            now = " · ".join(svg.short(points[-1][1]) if points else "–" for _, points in series)
            marks = [run_mark(number) for number in range(len(series))]
            charts.append(
                {
                    "key": f"{key}:{_short(metric)}" if key == "rewards" else key,
                    "title": own,
                    "about": said,
                    "now": now,
                    "svg": chart(series, own, marks),
                }
            )
    return charts


def run_mark(number: int) -> str:
    """The style of the line of the run `number`.

    A colour that stays apart for the colour-blind (after Okabe and Ito), and dashes of its own, for print and for
    those who see no colour.
    """
    return f"stroke:var(--run-{number % MOST_RUNS});stroke-dasharray:{DASHES[number % MOST_RUNS]}"


def run_marks(names: Sequence[str]) -> list[dict[str, str]]:
    """The legend of several runs: each name with its line as a small picture."""
    return [
        {
            "name": name,
            "svg": '<svg viewBox="0 0 34 10" role="img" aria-hidden="true">'
            f'<line x1="1" y1="5" x2="33" y2="5" class="curve" style="{run_mark(number)}"/></svg>',
        }
        for number, name in enumerate(names)
    ]


def series_of(lines: Sequence[Mapping[str, Any]], name: str) -> list[Point]:
    """The finite values of a metric by step."""
    found = []
    for line in lines:
        value = line.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            found.append((float(line["step"]), float(value)))
    return found


def decimated(points: Sequence[Point], most: int = POINTS) -> list[Point]:
    """At most about `most` of the points: of each stretch its lowest and highest, in their order.

    >>> decimated([(0, 0), (1, 5), (2, 1), (3, 0)], 2)
    [(0, 0), (1, 5)]
    """
    if len(points) <= most:
        return list(points)
    stretch = math.ceil(2 * len(points) / most)
    kept: list[Point] = []
    for begin in range(0, len(points), stretch):
        part = points[begin : begin + stretch]
        ends = {min(part, key=lambda point: point[1]), max(part, key=lambda point: point[1])}
        kept += sorted(ends)
    return kept


def chart(series: Sequence[Line], label: str, marks: Sequence[str] | None = None) -> str:
    """Lines over the steps as SVG; names are escaped.

    `marks` are styles of the lines, whose legend then stands elsewhere; a line may be empty, but not all of them.
    """
    drawn = [(name, decimated(points)) for name, points in series]
    everything = [point for _, points in drawn for point in points]
    low_x, high_x = min(x for x, _ in everything), max(x for x, _ in everything)
    low_y, high_y = min(y for _, y in everything), max(y for _, y in everything)
    if high_y - low_y < 1e-12:
        low_y, high_y = min(low_y, 0.0), max(high_y, low_y + 1.0)
    span_x = (high_x - low_x) or 1.0

    def place(point: Point) -> str:
        x = LEFT + (point[0] - low_x) / span_x * (WIDTH - LEFT - 8)
        y = BASE - (point[1] - low_y) / (high_y - low_y) * (BASE - 12)
        return f"{x:.1f},{y:.1f}"

    parts = []
    for share in (0.0, 0.5, 1.0):
        y = BASE - share * (BASE - 12)
        parts.append(svg.rule(LEFT, y, WIDTH - 8, y))
        words = f"{low_y + share * (high_y - low_y) + 0.0:.3g}"
        parts.append(svg.text(LEFT - 6, y + 4, words, anchor="end", kind="small"))
    styles = marks or [f"stroke:{svg.colour(number)}" for number in range(len(drawn))]
    for (name, points), style in reversed(list(zip(drawn, styles, strict=True))):  # the first lies on top
        if points:
            path = " ".join(map(place, points))
            parts.append(
                f'<polyline points="{path}" class="curve" style="{style}">'
                f"<title>{escape(name)}</title></polyline>"
            )
            if len(points) == 1:
                across, _, down = place(points[0]).partition(",")
                parts.append(f'<circle cx="{across}" cy="{down}" r="3" class="lone" style="{style}"/>')
    parts.append(svg.text(LEFT, BASE + 15, f"step {svg.short(low_x)}", kind="small"))
    parts.append(svg.text(WIDTH - 8, BASE + 15, svg.short(high_x), anchor="end", kind="small"))
    if len(drawn) > 1 and marks is None:
        parts += svg.legend([name for name, _ in drawn][:4], LEFT, BASE + 33)
    return f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def _is_reward_mean(name: str) -> bool:
    return name.startswith("rewards/") and name.endswith("/mean")


def _short(name: str) -> str:
    return name.removeprefix("rewards/").removesuffix("/mean").rpartition("/")[2]
