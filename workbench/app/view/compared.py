"""The Compare page: what changes from one version of the rewards to another on the same rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rewards.contract import completion_text
from workbench.app.view.numbers import Cell, cell
from workbench.app.view.rows import preview
from workbench.difference import SAME, Change, Difference, FileChange
from workbench.samples import Samples

MAX_WINDOW = 100
MAX_DIFF_LINES = 600
ORDERS = ("taught", "fell", "rose")
SHOWN = ("all", "better", "worse", "flips")


def compared_view(difference: Difference) -> dict[str, Any]:
    """JSON of a comparison but its rows."""
    return {
        "old": difference.old,
        "new": difference.new,
        "rows": len(difference),
        "changed": len(difference.order),
        "rewards": [_change(change) for change in difference.rewards],
        "total": _change(difference.total),
        "only_old": list(difference.only_old),
        "only_new": list(difference.only_new),
        "flips": difference.flips,
        "silenced": difference.silenced,
        "woken": difference.woken,
        "ranks": difference.ranks,
        "turned": difference.turned,
        "pairs": difference.pairs,
        "ties": [difference.ties_broken, difference.ties_made],
        "groups": difference.groups,
        "dead": [difference.dead_before, difference.dead_after],
        "shown": {name: len(changed_rows(difference, "taught", name)) for name in SHOWN},
        "code": [_file(change) for change in difference.code],
    }


def changed_rows(difference: Difference, order: str, shown: str) -> NDArray[np.intp]:
    """The changed rows of a kind, in an order: `taught` by the change of the advantage, `fell` and `rose` by total."""
    rows = difference.order
    gain = _gain(difference, rows)
    if shown == "better":
        rows = rows[gain > SAME]
    elif shown == "worse":
        rows = rows[gain < -SAME]
    elif shown == "flips":
        both = difference.before.advantages[rows] * difference.after.advantages[rows]
        rows = rows[both < -(SAME**2)]
    if order in ("fell", "rose"):
        gain = _gain(difference, rows)
        rows = rows[np.argsort(gain if order == "fell" else -gain, kind="stable")]
    return rows


def compared_rows(
    difference: Difference, samples: Samples, rows: NDArray[np.intp], start: int, count: int
) -> list[dict[str, Any]]:
    """A window of `rows`, each with what it was and what it is."""
    part = replace(difference, order=rows[max(0, start) : max(0, start) + min(count, MAX_WINDOW)])
    part.__dict__["_ranks"] = difference._ranks
    return [
        {
            "row": change.row,
            "group": change.group,
            "label": samples.labels[change.row],
            "text": preview(completion_text(samples.completions[change.row])),
            "scores": [[name, *_pair(pair)] for name, pair in change.scores.items()],
            "total": _pair(change.total),
            "advantage": _pair(change.advantage),
            "rank": _pair(change.rank),
            "flips": change.flips,
        }
        for change in part.changed()
    ]


def _gain(difference: Difference, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """The change of the total; a total that came or went counts as that from or to 0."""
    before = np.nan_to_num(difference.before.totals[rows])
    return np.asarray(np.nan_to_num(difference.after.totals[rows]) - before)


def _change(change: Change) -> dict[str, Any]:
    return {
        "name": change.name,
        "better": change.better,
        "worse": change.worse,
        "equal": change.equal,
        "lost": change.lost,
        "gained": change.gained,
        "mean": _pair((change.mean_before, change.mean_after)),
    }


def _pair(pair: tuple[float, float]) -> list[Cell]:
    return [None if np.isnan(value) else cell(value) for value in pair]


def _file(change: FileChange) -> dict[str, Any]:
    """A changed file; each line of its diff with its kind."""
    kinds = {"+": "more", "-": "less", "@": "place"}
    lines = [line for line in change.diff.splitlines() if not line.startswith(("---", "+++"))]
    return {
        "name": change.name,
        "lines": [[kinds.get(line[:1], ""), line] for line in lines[:MAX_DIFF_LINES]],
        "more": max(0, len(lines) - MAX_DIFF_LINES),
    }
