"""A difference for a terminal: rewards, what would be taught, the code, the rows that change most."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rewards.contract import completion_text
from workbench.difference import Change, Difference, RowChange
from workbench.reports.plain import visible
from workbench.reports.score_text import counted
from workbench.samples import Samples

_ROWS = 12
_HUGE = 1e12
_CODE = 120
"""Lines of code shown of each file."""


def to_text(found: Difference, samples: Samples) -> str:
    """The whole report."""
    blocks = [
        [f"{found.old}  ->  {found.new}   {counted(len(found), found.groups)}"],
        _rewards(found),
        _taught(found),
        _code(found),
        _rows(found, samples),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _rewards(found: Difference) -> list[str]:
    columns = [*found.rewards, found.total]
    width = max(len("reward"), *(len(change.both_names) for change in columns))
    lines = [f"{'reward':<{width}}  better   worse   equal    lost  gained  mean"]
    for change in columns:
        counts = (change.better, change.worse, change.equal, change.lost, change.gained)
        lines.append(
            f"{change.both_names:<{width}}  "
            + "  ".join(f"{_count(count):>6}" for count in counts)
            + f"  {_means(change)}"
        )
    penalties = [change.both_names for change in found.rewards if change.less_is_better]
    lines += [f"less is better, as the weight is below 0: {', '.join(penalties)}"] * bool(penalties)
    lines += [f"only before: {', '.join(found.only_old)}"] * bool(found.only_old)
    lines += [f"only after: {', '.join(found.only_new)}"] * bool(found.only_new)
    return lines


def _count(count: int) -> str:
    return str(count) if count else "-"


def _means(change: Change) -> str:
    before, after = number(change.mean_before), number(change.mean_after)
    return before if before == after else f"{before} -> {after}"


def number(value: float) -> str:
    """At most four decimals, in short where it is huge; "none" for NaN."""
    if math.isnan(value):
        return "none"
    if abs(value) >= _HUGE and math.isfinite(value):
        return f"{value:.6g}"
    return f"{value + 0.0:.4f}".rstrip("0").rstrip(".") if math.isfinite(value) else str(value)


def _taught(found: Difference) -> list[str]:
    if not len(found.order):
        return ["nothing changes on these completions"]
    return [
        f"advantages: {found.flips} change sign, {found.silenced} fall silent, {found.woken} wake up",
        f"inside groups: {ranks_said(found)}",
        f"groups without spread: {found.dead_before} -> {found.dead_after} of {found.groups}",
    ]


def ranks_said(found: Difference) -> str:
    """How many rows change their rank, and what became of the pairs."""
    rows = "1 row changes its rank" if found.ranks == 1 else f"{found.ranks} rows change their rank"
    ties = f"{_several(found.ties_broken, 'tie')} broken, {_several(found.ties_made, 'tie')} made"
    return f"{rows}; of {_several(found.pairs, 'pair')} {found.turned} turned, {ties}"


def _several(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _code(found: Difference) -> list[str]:
    lines = []
    for change in found.code:
        shown = [visible(line) for line in change.diff.splitlines()]
        lines += shown[:_CODE]
        lines += [f"... and {len(shown) - _CODE} lines more of {change.name}"] * (len(shown) > _CODE)
    return lines


def _rows(found: Difference, samples: Samples) -> list[str]:
    if not len(found.order):
        return []
    lines = [f"rows by change ({min(_ROWS, len(found.order))} of {len(found.order)})"]
    names = {change.name: change.both_names for change in found.rewards}
    for row in found.changed(_ROWS):
        lines.append(f"  {_row(row, names)}")
        text = " ".join(completion_text(samples.completions[row.row]).split())
        lines.append(f"      {visible(text if len(text) <= 100 else text[:48] + ' ... ' + text[-47:])}")
    return lines


def _row(row: RowChange, names: Mapping[str, str]) -> str:
    moved = [
        f"{names[name]}{':' * (names[name] != name)} {number(before)} -> {number(after)}"
        for name, (before, after) in row.scores.items()
        if number(before) != number(after)
    ]
    advantage = f"advantage {row.advantage[0]:+.2f} -> {row.advantage[1]:+.2f}"
    total = (
        "" if number(row.total[0]) == number(row.total[1]) else "   ".join(["", _pair("total", row.total)])
    )
    flips = "  SIGN" if row.flips else ""
    return f"row {row.row:<6} {advantage}{flips}{total}" + (f"   {', '.join(moved)}" if moved else "")


def _pair(name: str, values: tuple[float, float]) -> str:
    return f"{name} {number(values[0])} -> {number(values[1])}"
