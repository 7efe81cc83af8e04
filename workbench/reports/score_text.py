"""The summary of a score table for a terminal: what the rewards pay, and what training would learn from it."""

from __future__ import annotations

import math
import textwrap
from collections import Counter

import numpy as np

from rewards.contract import completion_text
from rewards.signal import Counted
from workbench.distributions import Distribution, Distributions, Histogram
from workbench.reports.plain import visible
from workbench.samples import Samples
from workbench.scoring import ScoreTable
from workbench.slices import Slice, by_column

LEGEND = (
    "loud: weight times spread, as a share; push: how far a step of training moves it, in standard deviations"
)
"""What two heads of the table inside groups mean, told under it."""

CANCEL = (
    "the rewards cancel out: they differ inside groups, their weighted sum hardly does, so none has a share"
)
"""Told where the shares of the variance would be those of rounding."""

_BARS = " ▁▂▃▄▅▆▇█"
_WIDTH = 12
_ROWS = 3
"""Best and worst rows shown."""

_FAILURES = 10
_HUGE = 1e9
"""Numbers from here on are told in three digits."""

_COLUMNS = 118
_FEW = 24
"""Rows below which means by length say nothing."""

_LENGTHS = 4
"""Parts by length, which have room side by side."""


def summary(table: ScoreTable, samples: Samples, found: Distributions) -> str:
    """Rewards, groups, failures, labels, best and worst rows."""
    sources = ", ".join(path.name for path in samples.sources)
    groups = len(found.groups)
    title = f"{table.description.name}  {counted(len(table), groups)}  {sources}"
    blocks = [
        [title.rstrip()],
        _rewards(table, found),
        _inside(found),
        _signal(found),
        failures(table),
        _labels(found),
        _lengths(table, samples, found),
        _extremes(table, samples),
        [f"note: {note}" for note in found.notes],
    ]
    return visible("\n\n".join("\n".join(block) for block in blocks if block)) + "\n"


def counted(completions: int, groups: int) -> str:
    """How many completions in how many groups.

    >>> counted(1, 1), counted(8, 2)
    ('1 completion in 1 group', '8 completions in 2 groups')
    """
    return f"{completions} completion{'s' * (completions != 1)} in {groups} group{'s' * (groups != 1)}"


# ------------------------------------------------------------------------------------------------ tables


def _rewards(table: ScoreTable, found: Distributions) -> list[str]:
    width = _name_width(found)
    head = f"{'reward':<{width}}  weight     mean       sd      min   median      max  at bounds  none  fail"
    lines = [f"{head}      ms  distribution"]
    for column in found.columns:
        weight = "" if column.weight is None else f"{column.weight:g}"
        quantiles = dict(zip((0, 5, 25, 50, 75, 95, 100), column.quantiles, strict=False))
        numbers = (column.mean, column.deviation, *(quantiles.get(at, math.nan) for at in (0, 50, 100)))
        own = ""
        if column.weight is not None and column.name in table.seconds:  # the total has no time of its own
            kept = table.reused.get(column.name) == len(table)
            own = "kept" if kept else f"{table.seconds[column.name] * 1000:.0f}"
        lines.append(
            f"{column.name:<{width}}  {weight:>6} {' '.join(f'{_number(value):>8}' for value in numbers)}"
            f"  {_at_bounds(column):>9}  {_count(column.none + column.nan):>4}  {_count(column.failed):>4}"
            f"  {own:>6}  {histogram(column.histogram)}".rstrip()
        )
    return lines


def _name_width(found: Distributions) -> int:
    return max(len(name) for name in [*(column.name for column in found.columns), "inside groups"])


def _number(value: float) -> str:
    """Up to three decimals and eight characters.

    >>> _number(0.5), _number(123456789.0), _number(float("nan"))
    ('0.5', '1.23e+08', '-')
    """
    if math.isnan(value):
        return "-"
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return text if len(text) <= 8 else f"{value:.3g}"


def _count(value: int) -> str:
    return str(value) if value else "-"


def percent(value: float) -> str:
    """A share in whole percent; nothing that exists is shown as 0 %, nothing that lacks as 100 %.

    >>> percent(0.004), percent(0.996), percent(0.5), percent(float("nan"))
    ('<1%', '>99%', '50%', '-')
    """
    if math.isnan(value):
        return "-"
    if 0 < value < 0.01:
        return "<1%"
    if 0.99 < value < 1:
        return ">99%"
    return f"{value:.0%}"


def _at_bounds(column: Distribution) -> str:
    return "" if column.bounds is None else f"{percent(column.at_low)} {percent(column.at_high)}"


def histogram(bars: Histogram | None) -> str:
    """A distribution as twelve bars between its ends, labelled at both.

    >>> histogram(Histogram(0.0, 1.0, (3, 1), (0.0, 1.0)))
    '0 █          ▃ 1'
    """
    if bars is None:
        return ""
    if bars.low == bars.high:
        return f"all {bars.low:g}"
    counts = np.zeros(_WIDTH)
    edges = np.linspace(bars.low, bars.high, len(bars.counts) + 1)
    places = bars.values or (edges[:-1] + edges[1:]) / 2
    for place, count in zip(places, bars.counts, strict=True):
        at = int((place - bars.low) / (bars.high - bars.low) * _WIDTH)
        counts[min(at, _WIDTH - 1)] += count
    scale = (len(_BARS) - 1) / counts.max()
    return f"{bars.low:.3g} {''.join(_BARS[math.ceil(count * scale)] for count in counts)} {bars.high:.3g}"


def _inside(found: Distributions) -> list[str]:
    """What the rewards do inside groups: the only thing GRPO learns from."""
    if not found.signal.groups or len(found.columns) < 2:
        return []
    width = _name_width(found)
    between = found.between
    lines = [
        f"{'inside groups':<{width}}   share    loud  no spread    ties  with length    push"
        + ("  correlation with those above" if len(between.names) > 1 else "")
    ]
    for at, reward in enumerate(found.rewards):
        cells = (
            f"{percent(between.share[at]):>6}  {percent(between.loudness[at]):>6}  {percent(reward.dead):>9}"
            f"  {percent(reward.ties):>6}  {signed(reward.with_length):>11}"
            f"  {signed(found.signal.pushes.get(reward.name, math.nan)):>6}"
        )
        row = "  ".join(f"{signed(value):>5}" for value in between.correlation[at][:at])
        lines.append(f"{reward.name:<{width}}  {cells}  {row}".rstrip())
    return [*lines, LEGEND]


def signed(value: float) -> str:
    """A number with its sign and two decimals, in short where it is huge; "-" for NaN."""
    return "-" if math.isnan(value) else f"{value:+.2f}" if abs(value) < _HUGE else f"{value:+.2g}"


def unsigned(value: float) -> str:
    """A number above 0 as `signed` writes it, without its sign."""
    return signed(value).removeprefix("+")


# ---------------------------------------------------------------------------------------------- sentences


def _signal(found: Distributions) -> list[str]:
    """What training would make of it."""
    signal = found.signal
    if not signal.groups:
        return ["every group has one completion: nothing can be compared, so nothing would be learnt"]
    if not found.total.numbers:
        return ["no completion has a total: every reward failed or abstained on every one"]
    size = "/".join(map(str, signal.sizes[:4])) + ("/..." if len(signal.sizes) > 4 else "")
    lines = [
        f"groups of {size}: {signal.dead} of {signal.groups} ({percent(signal.dead / signal.groups)}) have no spread "
        f"and teach nothing; {_different(signal.distinct)} a group; mean |advantage| {unsigned(signal.advantage)}"
    ]
    if found.between.cancel:
        lines.append(CANCEL)
    if signal.planned and signal.sizes != (signal.planned,):
        more = f"in training, groups of {signal.planned}: "
        lines.append(
            more + f"{percent(signal.planned_dead)} without spread expected{only_some(signal.planned_from)}"
            if not math.isnan(signal.planned_dead)
            else more + f"not foretold, no prompt here has {signal.planned} completions"
        )
    features = {name: push for name, push in signal.pushes.items() if name not in found.between.names}
    if features:
        pushes = ", ".join(f"{name} {signed(push)}" for name, push in features.items())
        lines += _wrapped(f"training pushes (standard deviations, first order): {pushes}")
    if len(signal.best_of) > 1:
        first, last = signal.best_of[0], signal.best_of[-1]
        moved = [("total", first.total, last.total)]
        moved += [(name, first.others[name], last.others[name]) for name in last.others]
        shown = ", ".join(f"{name} {_number(low)} to {_number(high)}" for name, low, high in moved)
        lines += _wrapped(f"best of {last.n} by {signal.by}: {shown}{only_some(signal.foretold)}")
    return [*lines, *_primary(found)]


def _different(count: float) -> str:
    """How many different totals, to one decimal.

    >>> _different(1.0), _different(2.53), _different(256.0)
    ('1 different total', '2.5 different totals', '256 different totals')
    """
    shown = f"{count:.1f}".removesuffix(".0")
    return f"{shown} different total{'s' * (shown != '1')}"


def only_some(counted: Counted) -> str:
    """From how many prompts something is foretold, where it is not all.

    >>> only_some(Counted(3, 4)), only_some(Counted(4, 4))
    (' (3 of 4 prompts have as many)', '')
    """
    some = f" ({counted.prompts} of {counted.of} prompts have as many)"
    return some if counted.prompts < counted.of else ""


def _wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, _COLUMNS, subsequent_indent="  ", break_long_words=False)


def _primary(found: Distributions) -> list[str]:
    signal, margin = found.signal, found.margin
    lines = []
    if not math.isnan(signal.support):
        lines.append(
            f"{signal.passes} = {_number(signal.passing)} counts as passed: pass@{signal.support_k} is "
            f"{signal.support:.2f} above pass@1{only_some(signal.support_from)}"
        )
    if margin is not None and not math.isnan(margin.margin) and margin.margin <= 0:
        lines.append(
            f"the other rewards together can outweigh one step of {margin.reward} (by {_number(-margin.margin)}): "
            "a worse answer can outrank a better one"
        )
    return lines


def failures(table: ScoreTable) -> list[str]:
    """A heading and a line for each kind of failure with its first row; nothing where none failed."""
    counts = Counter((name, _short(why)) for (_, name), why in table.errors.items())
    first: dict[tuple[str, str], int] = {}
    for (row, name), why in table.errors.items():
        first.setdefault((name, _short(why)), row)
    lines = [
        f"  {name}: {count} row{'s' * (count > 1)}, first row {first[name, why]}: {why}"
        for (name, why), count in counts.most_common(_FAILURES)
    ]
    if len(counts) > _FAILURES:
        lines.append(f"  and {len(counts) - _FAILURES} other kinds")
    return ["failed", *lines] if lines else []


def _short(why: str) -> str:
    return why if len(why) <= 200 else why[:197] + "..."


def _labels(found: Distributions) -> list[str]:
    if not found.labels:
        return []
    return _columns("mean by label", found, [(f"{part.name} ({part.rows})", part) for part in found.labels])


def _lengths(table: ScoreTable, samples: Samples, found: Distributions) -> list[str]:
    """Means of parts that together hold every row, by length; only where something follows length."""
    follows = [column for column in found.columns if abs(column.with_length) >= 0.3]
    if len(found.lengths) < 3 or not follows or found.total.rows < _FEW:
        return []
    parts = by_column(table, samples, "length", bins=_LENGTHS)
    return _columns(
        "mean by length", found, [(f"{_range(part)} chars ({part.rows})", part) for part in parts]
    )


def _range(part: Slice) -> str:
    low, high = f"{part.low:.0f}", f"{part.high:.0f}"
    return low if low == high else f"{low}-{high}"


def _columns(title: str, found: Distributions, parts: list[tuple[str, Slice]]) -> list[str]:
    width = max(_name_width(found), len(title))
    cell = max(14, *(len(head) + 1 for head, _ in parts))
    lines = [f"{title:<{width}}  " + " ".join(f"{head:>{cell}}" for head, _ in parts)]
    for column in found.columns:
        cells = [  # the total is the one without a weight, whatever a reward is called
            part.total if column.weight is None else part.means.get(column.name, math.nan)
            for _, part in parts
        ]
        lines.append(f"{column.name:<{width}}  " + " ".join(f"{_number(value):>{cell}}" for value in cells))
    return lines


def _extremes(table: ScoreTable, samples: Samples) -> list[str]:
    order = rows_by_total(table)
    if not order:
        return []
    many = len(order) > 2 * _ROWS
    chosen = [*order[:_ROWS], *order[-_ROWS:]] if many else order
    lines = ["best and worst rows" if many else "rows by total"]
    for row in chosen:
        text = " ".join(completion_text(samples.completions[row]).split())
        shown = text if len(text) <= 70 else "..." + text[-67:]
        total = f"{table.totals[row]:.3f}" if abs(table.totals[row]) < _HUGE else f"{table.totals[row]:.3g}"
        advantage = signed(float(table.advantages[row]))
        lines.append(f"  row {row:<6} total {total:>8}  advantage {advantage:>6}  {shown}")
    return [*lines, *(f"  {said}" for said in without_total(table))]


def rows_by_total(table: ScoreTable) -> list[int]:
    """The rows that have a total, the best first."""
    order = np.argsort(-table.totals, kind="stable")  # NaN comes last
    return [int(row) for row in order[: int((~np.isnan(table.totals)).sum())]]


def without_total(table: ScoreTable) -> list[str]:
    """A sentence where rows have no total."""
    count = int(np.isnan(table.totals).sum())
    rows = "1 row has" if count == 1 else f"{count} rows have"
    return [f"{rows} no total: every reward abstained or failed there"] * bool(count)
