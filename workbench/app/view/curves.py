"""A run's metrics as pictures: drawn here, so that the browser gets a few hundred points however long the run is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from workbench.reports import svg

POINTS = 240
"""Points of a line at most: the lowest and highest of each stretch, so that no spike is lost."""

WIDTH, HEIGHT, LEFT, BASE = 520.0, 170.0, 44.0, 132.0
Point = tuple[float, float]
Line = tuple[str, list[Point]]


def curves(
    lines: Sequence[Mapping[str, Any]], against: Sequence[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    """A chart a group of metrics, what matters most first: `key`, `title`, `about`, `now`, `svg`.

    `against` are the metrics of another run, drawn thin and dashed.
    """
    rewards = sorted({name for line in lines for name in line if _is_reward_mean(name)})
    wanted: list[tuple[str, str, str, list[str]]] = [
        (
            "reward",
            "Reward",
            "mean total of the completions, and its spread inside groups",
            ["reward", "reward_std"],
        ),
        ("rewards", "Each reward", "mean of each", rewards),
        (
            "dead",
            "Groups without spread",
            "share of prompts from which nothing is learnt",
            ["frac_reward_zero_std"],
        ),
        ("length", "Length", "tokens of a completion, mean", ["completions/mean_length"]),
        ("clipped", "Cut off", "share of completions that reached the limit", ["completions/clipped_ratio"]),
        ("kl", "Distance from the start", "KL to the model the run began with", ["kl"]),
        ("entropy", "Entropy", "how undecided the model is at each token", ["entropy"]),
        ("grad", "Gradient norm", "before clipping", ["grad_norm"]),
        ("loss", "Loss", "says nothing about how well it goes: watch the reward", ["loss"]),
    ]
    charts = []
    for key, title, about, names in wanted:
        series = [(_short(name), series_of(lines, name)) for name in names]
        series = [(name, points) for name, points in series if points]
        if series:
            other = [(_short(name), series_of(against, name)) for name in names]
            now = " · ".join(f"{svg.short(points[-1][1])}" for _, points in series[:4])
            charts.append(
                {"key": key, "title": title, "about": about, "now": now, "svg": chart(series, other, title)}
            )
    return charts


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


def chart(series: Sequence[Line], against: Sequence[Line], label: str) -> str:
    """Lines over the steps as SVG; names are escaped."""
    drawn = [(name, decimated(points)) for name, points in series]
    beside = [(name, decimated(points)) for name, points in against]
    everything = [point for _, points in (*drawn, *beside) for point in points]
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
    for kind, lines in (("against", beside), ("", drawn)):
        for number, (name, points) in enumerate(lines):
            if points:
                path = " ".join(map(place, points))
                parts.append(
                    f'<polyline points="{path}" class="curve {kind}" style="stroke:{svg.colour(number)}">'
                    f"<title>{escape(name)}</title></polyline>"
                )
    if len(drawn) == 1 and len(drawn[0][1]) == 1:
        across, _, down = place(drawn[0][1][0]).partition(",")
        parts.append(f'<circle cx="{across}" cy="{down}" r="3" style="fill:{svg.colour(0)}"/>')
    parts.append(svg.text(LEFT, BASE + 15, f"step {svg.short(low_x)}", kind="small"))
    parts.append(svg.text(WIDTH - 8, BASE + 15, svg.short(high_x), anchor="end", kind="small"))
    if len(drawn) > 1:
        parts += svg.legend([name for name, _ in drawn][:4], LEFT, BASE + 33)
    return f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def _is_reward_mean(name: str) -> bool:
    return name.startswith("rewards/") and name.endswith("/mean")


def _short(name: str) -> str:
    return name.removeprefix("rewards/").removesuffix("/mean").rpartition("/")[2]
