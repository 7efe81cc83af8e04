"""Small charts as SVG text: bars, diverging bars, lines, dots, a matrix.

Every function returns a picture that scales with its column and takes its colours from the page's style sheet
(`--ink`, `--line`, `--s0` to `--s7`, `--dead`), so that it is right on light and dark ground. Names come from
users and models and are escaped here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from workbench.reports.score_text import percent

COLOURS = 8
WIDTH = 360.0


@dataclass(frozen=True)
class Series:
    """A named row of points; y may be NaN where there is none."""

    name: str
    points: Sequence[tuple[float, float]]


def short(value: float) -> str:
    """A number for an axis.

    >>> short(0.5), short(1234.0), short(-0.0)
    ('0.5', '1234', '0')
    """
    return f"{value + 0.0:.4g}"


def picture(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    """An SVG of these parts, one wider than a card in a frame that scrolls; `label` says in words what it shows."""
    own = f' style="width:{width:g}px"' if width > WIDTH else ""
    inside = "".join(parts)
    role = "group" if 'role="button"' in inside else "img"  # an image has nothing in it that can be pressed
    drawing = (
        f'<svg{own} viewBox="0 0 {width:g} {height:g}" role="{role}" aria-label="{escape(label)}">'
        f"<title>{escape(label)}</title>{inside}</svg>"
    )
    return f"<div class=wide>{drawing}</div>" if width > WIDTH else drawing


def text(x: float, y: float, words: str, *, anchor: str = "start", kind: str = "") -> str:
    """Words at a place; `kind` is a class of the style sheet."""
    classes = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{classes}>{escape(words)}</text>'


def rectangle(
    x: float, y: float, width: float, height: float, fill: str, hint: str = "", *, extra: str = ""
) -> str:
    """A filled rectangle; `hint` is shown under the pointer, `extra` are further attributes, escaped already."""
    inside = f"<title>{escape(hint)}</title>" if hint else ""
    return (
        f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(width, 0):.2f}" height="{max(height, 0):.2f}" '
        f'style="fill:{fill}"{extra}>{inside}</rect>'
    )


def rule(x1: float, y1: float, x2: float, y2: float, kind: str = "rule") -> str:
    """A thin line."""
    return f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" class="{kind}"/>'


def colour(at: int) -> str:
    """The colour of the series `at`."""
    return f"var(--s{at % COLOURS})"


def histogram(
    low: float,
    high: float,
    counts: Sequence[int],
    values: Sequence[float] | None,
    label: str,
    fill: str,
    *,
    pick: str | None = None,
) -> str:
    """Bars over [low, high]: one of equal width for each count, or one at each of `values`.

    With `pick` every bar can be chosen: it is a button over the whole height, and its `data-bar` holds as JSON
    `[pick, low, high, closed]` the scores that are in it (`closed`: `high` too).
    """
    width, height, base = WIDTH, 112.0, 92.0
    parts = [rule(0, base, width, base)]
    most, rows = max(counts, default=0) or 1, sum(counts) or 1
    span = (high - low) or 1.0
    bar = width / len(counts) if values is None else min(26.0, width / (2 * len(values)))
    for at, count in enumerate(counts):
        if values is None:
            x = at * width / len(counts)
            here = f"{short(low + at * span / len(counts))} to {short(low + (at + 1) * span / len(counts))}"
        else:
            x = (values[at] - low) / span * (width - bar) if high > low else (width - bar) / 2
            here = short(values[at])
        tall = count / most * 76
        hint = f"{here}: {count} rows ({count / rows:.1%})"
        parts.append(rectangle(x + 0.5, base - tall, bar - 1, tall, fill, hint))
        if pick is not None and count:
            inside = _inside(low, span, counts, values, at)
            parts.append(rectangle(x, 0, bar, base, "transparent", hint, extra=_choice(pick, inside, hint)))
        if values is not None and len(values) <= 6:
            middle = min(max(x + bar / 2, 14.0), width - 14.0)
            share = text(middle, base - tall - 4, percent(count / rows), anchor="middle", kind="small")
            parts.append(share)
    parts += [
        text(0, 107, short(low), kind="small"),
        text(width, 107, short(high), anchor="end", kind="small"),
    ]
    return picture(width, height, label, parts)


def _inside(
    low: float, span: float, counts: Sequence[int], values: Sequence[float] | None, at: int
) -> tuple[float, float, bool]:
    """The scores of a bar: from, to, whether the upper end is in it."""
    if values is not None:
        return values[at], values[at], True
    step = span / len(counts)
    return low + at * step, low + (at + 1) * step, at == len(counts) - 1


def _choice(name: str, inside: tuple[float, float, bool], hint: str) -> str:
    bar = escape(json.dumps([name, *inside], ensure_ascii=True))
    return (
        f' class="pick" data-bar="{bar}" tabindex="0" role="button" aria-label="{escape(f"{name} {hint}")}"'
    )


def stack(shares: Sequence[tuple[str, float]], label: str) -> str:
    """One bar cut into shares that add up to 1; negative shares stand below it."""
    width, parts, at = 720.0, [], 0.0
    total = sum(max(share, 0.0) for _, share in shares if not math.isnan(share)) or 1.0
    for number, (name, share) in enumerate(shares):
        if math.isnan(share):
            continue
        wide = max(share, 0.0) / total * width
        parts.append(rectangle(at, 0, wide, 26, colour(number), f"{name}: {share:.1%}"))
        if wide > 9 * len(name) + 40:
            parts.append(text(at + 8, 17, f"{name} {percent(share)}", kind="on-bar"))
        at += wide
    return picture(width, 26, label, parts)


def diverging(values: Sequence[tuple[str, float]], label: str, *, unit: str = "") -> str:
    """A bar to the left or right of 0 for each value."""
    left, width, line = 150.0, 720.0, 22.0
    known = [abs(value) for _, value in values if not math.isnan(value)]
    reach = max(known, default=0.0) or 1.0
    middle, half = left + (width - left) / 2, (width - left) / 2 - 54
    parts = []
    for number, (name, value) in enumerate(values):
        y = number * line
        parts.append(text(left - 10, y + 15, _cut(name, 24), anchor="end"))
        if math.isnan(value):
            parts.append(text(middle + 8, y + 15, "never varies", kind="small"))
            continue
        wide = abs(value) / reach * half
        start = middle if value >= 0 else middle - wide
        fill = "var(--more)" if value >= 0 else "var(--less)"
        parts.append(rectangle(start, y + 4, wide, line - 8, fill, f"{name}: {value:+.3f}{unit}"))
        at, anchor = (start + wide + 6, "start") if value >= 0 else (start - 6, "end")
        parts.append(text(at, y + 15, f"{value:+.2f}", anchor=anchor, kind="small"))
    parts.append(rule(middle, 0, middle, len(values) * line))
    return picture(width, max(len(values), 1) * line, label, parts)


def matrix(names: Sequence[str], rows: Sequence[Sequence[float]], label: str) -> str:
    """Numbers from -1 to 1 as a coloured square, the diagonal left out."""
    cell, left, top = 46.0, 160.0, 20.0
    parts = []
    for at, name in enumerate(names):
        parts.append(text(left - 10, top + at * cell + cell / 2 + 4, _cut(name, 24), anchor="end"))
        parts.append(text(left + at * cell + cell / 2, top - 7, str(at + 1), anchor="middle", kind="small"))
        parts.append(text(4, top + at * cell + cell / 2 + 4, str(at + 1), kind="small"))
        for other, value in enumerate(rows[at]):
            x, y = left + other * cell, top + at * cell
            if at == other:
                parts.append(rectangle(x + 1, y + 1, cell - 2, cell - 2, "var(--soft)"))
                continue
            known = not math.isnan(value)
            tone = "var(--more)" if known and value >= 0 else "var(--less)"
            strength = f"color-mix(in srgb, {tone} {abs(value) * 70:.0f}%, var(--soft))" if known else "none"
            hint = f"{name} with {names[other]}: {value:+.3f}" if known else f"{name} with {names[other]}: -"
            parts.append(rectangle(x + 1, y + 1, cell - 2, cell - 2, strength, hint))
            words = f"{value:+.2f}" if known else "-"
            parts.append(text(x + cell / 2, y + cell / 2 + 4, words, anchor="middle", kind="small"))
    size = len(names) * cell
    return picture(max(left + size, 420), top + size, label, parts)


def lines(series: Sequence[Series], label: str, x_name: str, *, first: int = 0) -> str:
    """Lines over a common x axis, with a point at every value; the first has the colour `first`."""
    width, height, left, base = 720.0, 236.0, 46.0, 186.0
    points = [point for each in series for point in each.points if not math.isnan(point[1])]
    if not points:
        return ""
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    low_y, high_y = min(0.0, *(y for _, y in points)), max(y for _, y in points)
    span_x, span_y = (high_x - low_x) or 1.0, (high_y - low_y) or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (x - low_x) / span_x * (width - left - 16), base - (y - low_y) / span_y * (base - 14)

    parts = []
    for share in (0.0, 0.5, 1.0):
        y = low_y + share * span_y
        parts.append(rule(left, place(low_x, y)[1], width - 16, place(low_x, y)[1]))
        parts.append(text(left - 8, place(low_x, y)[1] + 4, short(y), anchor="end", kind="small"))
    for number, each in enumerate(series):
        known = [place(x, y) for x, y in each.points if not math.isnan(y)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in known)
        tint = colour(first + number)
        dashes = ";stroke-dasharray:7 5" if number % 2 else ""  # so that one line on another is seen
        parts.append(f'<polyline points="{path}" class="curve" style="stroke:{tint}{dashes}"/>')
        for (x, y), (at, value) in zip(
            known, [point for point in each.points if not math.isnan(point[1])], strict=True
        ):
            hint = escape(f"{each.name} at {short(at)}: {value:.3f}")
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" style="fill:{tint}"><title>{hint}</title></circle>'
            )
    parts += [
        text(left, 202, short(low_x), kind="small"),
        text(width - 16, 202, short(high_x), anchor="end", kind="small"),
        text((left + width) / 2, 202, x_name, anchor="middle", kind="small"),
        *legend([each.name for each in series], left, 226, first=first),
    ]
    return picture(width, height, label, parts)


def legend(names: Sequence[str], x: float, y: float, *, first: int = 0) -> list[str]:
    """Names with their colours, in one line."""
    parts = []
    for number, name in enumerate(names):
        parts.append(rectangle(x, y - 9, 10, 10, colour(first + number)))
        parts.append(text(x + 15, y, _cut(name, 22), kind="small"))
        x += 30 + 6.6 * min(len(name), 22)
    return parts


@dataclass(frozen=True)
class Dot:
    """A place that stands for `count` things; `dead` ones have the colour of what teaches nothing."""

    x: float
    y: float
    count: int
    dead: bool
    hint: str


def dots(points: Sequence[Dot], label: str, x_name: str, y_name: str) -> str:
    """A dot for each place, its area growing with the count."""
    width, height, left, base = 720.0, 220.0, 46.0, 180.0
    known = [point for point in points if math.isfinite(point.x) and math.isfinite(point.y)]
    if not known:
        return ""
    low_x, high_x = min(point.x for point in known), max(point.x for point in known)
    high_y = max(point.y for point in known) or 1.0
    most, span = max(point.count for point in known), (high_x - low_x) or 1.0
    parts = [rule(left, base, width - 16, base), rule(left, 14, left, base)]
    for point in sorted(known, key=lambda point: -point.count):
        at_x = left + 16 + (point.x - low_x) / span * (width - left - 56)
        at_y = base - point.y / high_y * (base - 30)
        radius = 3 + 11 * math.sqrt(point.count / most) * (most > 1)
        tint = "var(--dead)" if point.dead else "var(--s0)"
        parts.append(
            f'<circle cx="{at_x:.1f}" cy="{at_y:.1f}" r="{radius:.1f}" class="dot" style="fill:{tint}">'
            f"<title>{escape(point.hint)}</title></circle>"
        )
    parts += [
        text(left, 208, short(low_x), kind="small"),
        text(width - 16, 208, short(high_x), anchor="end", kind="small"),
        text((left + width) / 2, 208, x_name, anchor="middle", kind="small"),
        text(left - 8, 34, short(high_y), anchor="end", kind="small"),
        text(left - 8, base + 4, "0", anchor="end", kind="small"),
        text(left + 8, 18, y_name, kind="small"),
    ]
    return picture(width, height, label, parts)


def _cut(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
