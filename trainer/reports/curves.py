"""Pictures of a run as SVG text: curves over steps, and differences with their intervals.

They scale with their column and take every colour from the page's style sheet (`--s0` ... `--s5`, `--more`, `--less`),
so that they are right on light and dark ground. Names and numbers come from users and models and are escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

COLOURS = 6
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BASE = 720.0, 220.0, 52.0, 14.0, 14.0, 176.0
MOST_POINTS = 300
"""Points drawn of a curve; more are averaged in stretches of equal length."""


@dataclass(frozen=True)
class Curve:
    """A named row of (step, value), steps rising; values that are no finite number are left out."""

    name: str
    points: Sequence[tuple[float, float]]

    def thinned(self) -> list[tuple[float, float]]:
        """The points that can be drawn, averaged where there are too many."""
        known = [(x, y) for x, y in self.points if math.isfinite(y)]
        size = math.ceil(len(known) / MOST_POINTS) or 1
        parts = [known[start : start + size] for start in range(0, len(known), size)]
        return [(sum(x for x, _ in part) / len(part), sum(y for _, y in part) / len(part)) for part in parts]


@dataclass(frozen=True)
class Interval:
    """A difference with its bounds; those are None where nothing can be said."""

    name: str
    mean: float
    low: float | None
    high: float | None


def curve_of(name: str, lines: Iterable[Mapping[str, object]], key: str) -> Curve:
    """The metric `key` over the steps of a run's metric lines."""
    points = []
    for line in lines:
        value, step = line.get(key), line.get("step")
        if isinstance(value, (int, float)) and isinstance(step, (int, float)):
            points.append((float(step), float(value)))
    return Curve(name, points)


@dataclass
class _Frame:
    """The axes of a picture: where a step and a value lie."""

    low_x: float
    high_x: float
    low_y: float
    high_y: float
    parts: list[str] = field(default_factory=list)

    def place(self, x: float, y: float) -> tuple[float, float]:
        wide, tall = (self.high_x - self.low_x) or 1.0, (self.high_y - self.low_y) or 1.0
        return (
            LEFT + (x - self.low_x) / wide * (WIDTH - LEFT - RIGHT),
            BASE - (y - self.low_y) / tall * (BASE - TOP),
        )


def curves(series: Sequence[Curve], label: str, *, marks: Sequence[tuple[float, str]] = ()) -> str:
    """Lines over the steps of a run; "" where nothing was measured.

    Args:
        series: what is drawn; every second line is dashed, so that one on another is seen.
        label: what the picture shows, in words.
        marks: steps at which something begins (a stage), with its name.
    """
    drawn = [(curve.name, curve.thinned()) for curve in series]
    drawn = [(name, points) for name, points in drawn if points]
    if not drawn:
        return ""
    xs = [x for _, points in drawn for x, _ in points]
    ys = [y for _, points in drawn for _, y in points]
    frame = _Frame(min(xs), max(xs), min(0.0, *ys), max(0.0, *ys) or 1.0)
    _draw_axes(frame)
    for step, name in marks:
        x, _ = frame.place(step, 0)
        frame.parts.append(_line(x, TOP, x, BASE, "mark"))
        frame.parts.append(_words(x + 4, TOP + 8, name))
    for number, (name, points) in enumerate(drawn):
        tint = f"var(--s{number % COLOURS})"
        dashes = ";stroke-dasharray:7 5" if number % 2 else ""
        places = [frame.place(x, y) for x, y in points]
        if len(places) == 1:
            (x, y), dot = places[0], f'r="3" style="fill:{tint}"'
            frame.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" {dot}/>')
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        hint = escape(f"{name}: {short(points[0][1])} at first, {short(points[-1][1])} at last")
        frame.parts.append(
            f'<polyline points="{path}" class="curve" style="stroke:{tint}{dashes}"><title>{hint}</title></polyline>'
        )
    frame.parts += _legend([name for name, _ in drawn])
    return _picture(HEIGHT, label, frame.parts)


def intervals(rows: Sequence[Interval], label: str) -> str:
    """A dot with its 95 % interval for each difference, 0 in the middle."""
    known = [
        abs(v) for row in rows for v in (row.mean, row.low, row.high) if v is not None and math.isfinite(v)
    ]
    reach, left, step = max(known, default=0.0) or 1.0, 170.0, 26.0
    half = (WIDTH - left) / 2 - 12
    middle = left + half
    parts = [_line(middle, 0, middle, len(rows) * step, "mark")]
    for number, row in enumerate(rows):
        y = number * step + step / 2
        parts.append(_words(left - 12, y + 4, _cut(row.name), anchor="end", kind=""))
        if not math.isfinite(row.mean):
            continue
        tint = "var(--more)" if row.mean >= 0 else "var(--less)"
        if row.low is not None and row.high is not None:
            ends = [middle + bound / reach * half for bound in (row.low, row.high)]
            parts.append(
                f'<line x1="{ends[0]:.1f}" y1="{y:.1f}" x2="{ends[1]:.1f}" y2="{y:.1f}" class="span" '
                f'style="stroke:{tint}"/>'
            )
        hint = escape(f"{row.name}: {row.mean:+.3f}")
        parts.append(
            f'<circle cx="{middle + row.mean / reach * half:.1f}" cy="{y:.1f}" r="5" style="fill:{tint}">'
            f"<title>{hint}</title></circle>"
        )
    parts.append(_words(middle + 5, len(rows) * step + 12, "0"))
    return _picture(len(rows) * step + 16, label, parts)


def short(value: float) -> str:
    """A number for an axis.

    >>> short(0.5), short(1234.0), short(-0.0)
    ('0.5', '1234', '0')
    """
    return f"{value + 0.0:.4g}"


def _draw_axes(frame: _Frame) -> None:
    for share in (0.0, 0.5, 1.0):
        value = frame.low_y + share * (frame.high_y - frame.low_y)
        _, y = frame.place(frame.low_x, value)
        frame.parts.append(_line(LEFT, y, WIDTH - RIGHT, y, "rule"))
        frame.parts.append(_words(LEFT - 8, y + 4, short(value), anchor="end"))
    frame.parts.append(_words(LEFT, BASE + 16, short(frame.low_x)))
    frame.parts.append(_words((WIDTH + LEFT) / 2, BASE + 16, "step", anchor="middle"))
    frame.parts.append(_words(WIDTH - RIGHT, BASE + 16, short(frame.high_x), anchor="end"))


def _legend(names: Sequence[str]) -> list[str]:
    parts, x = [], LEFT
    for number, name in enumerate(names):
        tint = f"var(--s{number % COLOURS})"
        parts.append(f'<rect x="{x:.1f}" y="{HEIGHT - 15:.1f}" width="10" height="10" style="fill:{tint}"/>')
        parts.append(_words(x + 15, HEIGHT - 6, _cut(name)))
        x += 34 + 6.6 * len(_cut(name))
    return parts


def _picture(height: float, label: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {height:g}" role="img" aria-label="{escape(label)}">'
        f"<title>{escape(label)}</title>{''.join(parts)}</svg>"
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _words(x: float, y: float, words: str, *, anchor: str = "start", kind: str = "small") -> str:
    classes = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{classes}>{escape(words)}</text>'


def _cut(name: str, most: int = 26) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
