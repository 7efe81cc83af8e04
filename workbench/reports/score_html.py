"""The page of `score --format html`: the pictures of a score table, in one file that needs nothing else.

No script and nothing from elsewhere; light and dark follow the reader's system. Every word of a completion, a
prompt or a name is escaped.
"""

from __future__ import annotations

import math
from collections import Counter
from html import escape
from pathlib import Path

from rewards.contract import completion_text
from rewards.signal import Counted, held_out_size
from workbench.distributions import Distribution, Distributions
from workbench.reports import svg
from workbench.reports.score_text import (
    CANCEL,
    failures,
    only_some,
    percent,
    rows_by_total,
    signed,
    unsigned,
    without_total,
)
from workbench.samples import Samples
from workbench.scoring import ScoreTable
from workbench.slices import Slice

_DOTS = 1_500
"""Places drawn at most."""

_ROWS = 5
_KEPT = 4_000
"""Characters shown of a completion."""

_DISCORDANT = 0.2
"""Share of prompts taken to differ between two models where the size of a comparison is foretold."""


def page(table: ScoreTable, samples: Samples, found: Distributions) -> str:
    """The whole page as HTML text."""
    name = table.description.name
    style = Path(__file__).with_name("score.css").read_text(encoding="utf-8")
    sections = [
        _head(table, samples, found),
        _rewards(table, found),
        inside_groups(found),
        correlation(found),
        group_places(found),
        pushes(found),
        best_of(found),
        by_length(found),
        by_label(found),
        _failures(table),
        _rows(table, samples),
    ]
    notes = [*table.notes, *found.notes]
    foot = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(name)}: scores</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(section for section in sections if section)
        + f"\n<footer>{foot}</footer>\n</main>\n</body>\n</html>\n"
    )


def _section(title: str, about: str, *content: str) -> str:
    body = "".join(content)
    return (
        f"<section><h2>{escape(title)}</h2><p class=about>{escape(about)}</p>{body}</section>" if body else ""
    )


# --------------------------------------------------------------------------------------------------- parts


def _head(table: ScoreTable, samples: Samples, found: Distributions) -> str:
    signal = found.signal
    failed = len({row for row, _ in table.errors})
    share = signal.dead / signal.groups if signal.groups else math.nan
    tiles = [
        (f"{len(table):,}".replace(",", " "), "completions"),
        (f"{len(found.groups):,}".replace(",", " "), "groups"),
        (svg.short(found.total.mean) if not math.isnan(found.total.mean) else "-", "mean total"),
        (percent(share), "of the groups teach nothing"),
        (unsigned(signal.advantage), "mean |advantage|"),
        (str(failed), "rows where a reward failed"),
    ]
    sources = ", ".join(path.name for path in samples.sources)
    cells = "".join(
        f"<div class=tile><b>{escape(value)}</b><span>{escape(what)}</span></div>" for value, what in tiles
    )
    return (
        f"<header><h1>{escape(table.description.name)}</h1>"
        f"<p>{escape(sources)}</p><div class=tiles>{cells}</div></header>"
    )


def _rewards(table: ScoreTable, found: Distributions) -> str:
    cards = "".join(card(column, at, table) for at, column in enumerate(found.columns))
    return _section(
        "Rewards", "What each reward pays, over all rows. Declared bounds are the ends of the axis.",
        f"<div class=cards>{cards}</div>",
    )  # fmt: skip


def card(column: Distribution, at: int, table: ScoreTable, *, pick: bool = False) -> str:
    """One reward, or the total: its bars and its facts; with `pick` the bars can be chosen."""
    weight = "" if column.weight is None else f"<span>weight {column.weight:g}</span>"
    bars = column.histogram
    fill = "var(--ink-3)" if column.weight is None else svg.colour(at)
    drawn = (
        svg.histogram(
            bars.low,
            bars.high,
            bars.counts,
            bars.values,
            f"Distribution of {column.name}",
            fill,
            pick=column.name if pick else None,
        )
        if bars is not None
        else "<p class=nothing>no number</p>"
    )
    facts = [("mean", _number(column.mean)), ("deviation", _number(column.deviation))]
    if column.quantiles:
        facts.append(("quartiles", " · ".join(_number(column.quantiles[place]) for place in (2, 3, 4))))
    if column.bounds is not None:
        facts.append(("at bounds", f"{percent(column.at_low)} · {percent(column.at_high)}"))
    for name, count in (
        ("none", column.none), ("nan", column.nan), ("infinite", column.infinite), ("failed", column.failed),
    ):  # fmt: skip
        if count:
            facts.append((name, f"{count} ({percent(count / column.rows)})"))
    if column.weight is not None and column.name in table.seconds:
        facts.append(("time", f"{table.seconds[column.name] * 1e6 / max(column.rows, 1):.3g} µs a row"))
    listed = "".join(f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>" for key, value in facts)
    return f"<article><h3>{escape(column.name)}{weight}</h3>{drawn}<dl>{listed}</dl></article>"


def inside_groups(found: Distributions) -> str:
    """What tells the completions of one prompt apart: shares of variance, loudness, ties, push."""
    if not found.signal.groups:
        return ""
    between = found.between
    shares = list(zip(between.names, between.share, strict=True))
    bar = svg.stack(shares, "Shares of the variance inside groups") if len(shares) > 1 else ""
    if between.cancel:
        bar = f"<p>{CANCEL[0].upper()}{CANCEL[1:]}.</p>"
    head = (
        "<tr><th>reward<th>share of variance<th>loudness<th>no spread<th>ties<th>spread<th>with length"
        "<th>push</tr>"
    )
    rows = "".join(
        f"<tr><th><i style='background:{svg.colour(at)}'></i>{escape(reward.name)}"
        f"<td>{percent(between.share[at])}<td>{percent(between.loudness[at])}<td>{percent(reward.dead)}"
        f"<td>{percent(reward.ties)}<td>{_number(reward.spread)}<td>{signed(reward.with_length)}"
        f"<td>{signed(found.signal.pushes.get(reward.name, math.nan))}</tr>"
        for at, reward in enumerate(found.rewards)
    )
    return _section(
        "Inside groups",
        "GRPO compares completions of one prompt, so only differences inside groups teach. Share of variance: the part "
        "of what tells completions apart (parts add up to 100 %, a negative one works against the rest). Loudness: "
        "weight times spread. Push: where training moves the reward, in standard deviations, to first order.",
        bar,
        f"<div class=scroll><table>{head}{rows}</table></div>",
    )


def correlation(found: Distributions) -> str:
    """How the rewards agree inside groups; "" for a single one."""
    between = found.between
    if len(between.names) < 2 or not found.signal.groups:
        return ""
    return _section(
        "Correlation inside groups",
        "+1: two rewards always agree, so one of them is spare; below 0 they pull against each other.",
        svg.matrix(between.names, between.correlation, "Correlation inside groups"),
    )


def group_places(found: Distributions, *, most: int = _DOTS) -> str:
    """Mean and spread of the groups, and how many would be without spread at other sizes; `most` places are drawn."""
    groups = [group for group in found.groups if group.rows > 1]
    if not groups:
        return ""
    places = Counter((round(group.mean, 2), round(group.spread, 2), group.dead) for group in groups)
    points = [
        svg.Dot(mean, spread, count, dead, f"{count} groups: mean {mean:g}, spread {spread:g}")
        for (mean, spread, dead), count in places.most_common(most)
    ]
    signal = found.signal
    foretold = "".join(
        f"<tr><td>{size}<td>{percent(dead)}</tr>"
        for size, dead in signal.dead_at.items()
        if not math.isnan(dead)
    )
    table = (
        f"<table class=narrow><tr><th>group size<th>groups without spread</tr>{foretold}</table>"
        f"{_from(signal.foretold)}"
        if foretold
        else ""
    )
    planned = ""
    if signal.planned:
        known = not math.isnan(signal.planned_dead)
        words = (
            f"{percent(signal.planned_dead)} expected{only_some(signal.planned_from)}"
            if known
            else "not foretold: too few completions a prompt here"
        )
        planned = f"<p>In training, groups of {signal.planned}: {escape(words)}.</p>"
    return _section(
        "Groups",
        f"A dot stands for the groups with one mean and spread of totals. {signal.dead} of {signal.groups} have no "
        "spread and teach nothing. The table foretells that share for other sizes from these samples, without bias.",
        svg.dots(points, "Mean and spread of each group", "mean total of the group", "spread"),
        table,
        planned,
    )


def _from(counted: Counted) -> str:
    """A line that says from how many prompts something is foretold, where it is not all."""
    some = only_some(counted).strip(" ()")
    return f"<p>Foretold from some: {escape(some)}.</p>" if some else ""


def pushes(found: Distributions) -> str:
    """Where training would move rewards and features."""
    named = list(found.signal.pushes.items())
    if not found.signal.groups or not named:
        return ""
    return _section(
        "Where training pushes",
        "Covariance of each quantity with the advantage inside groups, in its standard deviations: what a policy "
        "gradient step makes more of (right) or less of (left). A push on length, digits or repetition that nobody "
        "asked for is the beginning of a hack.",
        svg.diverging(named, "Selection differentials"),
    )


def best_of(found: Distributions) -> str:
    """What choosing the best of n would give."""
    best = found.signal.best_of
    if len(best) < 2:
        return ""
    series = [svg.Series(name, [(each.n, each.others[name]) for each in best]) for name in best[0].others]
    size = {gain: held_out_size(gain, _DISCORDANT) for gain in (0.05, 0.1)}
    return _section(
        f"Best of n by {found.signal.by}",
        f"What choosing the best of n completions by {found.signal.by} would give: a preview of where optimising "
        "leads. A reward or label that falls while n grows says that the total can be over-optimised. To see a gain of "
        "5 or 10 points "
        f"afterwards, {size[0.05]} or {size[0.1]} held-out prompts are needed (if a fifth of them change).",
        svg.lines(series, "Expected values under best of n", "n"),
        _from(found.signal.foretold),
    )


def by_length(found: Distributions) -> str:
    """Mean rewards by length of the completion."""
    if len(found.lengths) < 2:
        return ""
    series = [
        svg.Series(
            reward.name,
            [(_middle(part), part.means[reward.name]) for part in found.lengths],
        )
        for reward in found.rewards
    ]
    return _section(
        "Against length",
        "Mean of each reward in parts of about equally many rows, by characters of the completion.",
        svg.lines(series, "Mean reward by length", "characters"),
    )


def _middle(part: Slice) -> float:
    return ((part.low or 0.0) + (part.high or 0.0)) / 2


def by_label(found: Distributions) -> str:
    """Mean rewards of the rows with each label; "" without labels."""
    if not found.labels:
        return ""
    head = "".join(f"<th>{escape(part.name)} ({part.rows})" for part in found.labels)
    rows = "".join(
        f"<tr><th>{escape(reward.name)}"
        + "".join(f"<td>{_number(part.means[reward.name])}" for part in found.labels)
        + "</tr>"
        for reward in found.rewards
    )
    total = "".join(f"<td>{_number(part.total)}" for part in found.labels)
    advantage = "".join(f"<td>{signed(part.advantage)}" for part in found.labels)
    return _section(
        "By label",
        "Mean score of the rows with each label. An advantage above 0 means that training makes them likelier.",
        f"<div class=scroll><table><tr><th>{head}</tr>{rows}<tr class=sum><th>total{total}</tr>"
        f"<tr><th>advantage{advantage}</tr></table></div>",
    )


def _failures(table: ScoreTable) -> str:
    listed = "".join(f"<li>{escape(line.strip())}</li>" for line in failures(table)[1:])
    about = "Rows on which a reward gave no number because something went wrong."
    return _section("Failed", about, f"<ul>{listed}</ul>") if listed else ""


def _rows(table: ScoreTable, samples: Samples) -> str:
    order = rows_by_total(table)
    many = len(order) > 2 * _ROWS
    parts = (
        [("Best rows", order[:_ROWS]), ("Worst rows", order[-_ROWS:])] if many else [("Rows by total", order)]
    )
    others = "".join(
        f"<section><p class=about>{escape(said)}.</p></section>" for said in without_total(table)
    )
    return others + "".join(
        f"<section><h2>{title}</h2>{''.join(_row(table, samples, row) for row in rows)}</section>"
        for title, rows in parts
        if rows
    )


def _row(table: ScoreTable, samples: Samples, row: int) -> str:
    text = completion_text(samples.completions[row])
    shown = text if len(text) <= _KEPT else text[:_KEPT] + f"\n[… {len(text) - _KEPT} more characters …]"
    scores = " · ".join(
        f"{name} {_number(float(table.scores[row, at]))}" for at, name in enumerate(table.names)
    )
    label = f" <em>{escape(str(table.labels[row]))}</em>" if table.labels[row] else ""
    total = _number(float(table.totals[row]))
    return (
        f"<details><summary><b>row {row}</b>{label} <span>total {total}, advantage "
        f"{signed(float(table.advantages[row]))}</span> <small>{escape(scores)}</small></summary>"
        f"<pre>{escape(shown)}</pre></details>"
    )


def _number(value: float) -> str:
    return "-" if math.isnan(value) else svg.short(value)
