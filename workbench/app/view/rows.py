"""The table: which rows, in which order, and the window of them that is on screen.

The page never gets more than a window; sorting, filtering and searching happen here, on the arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.app.view.board import SAME, Board
from workbench.app.view.numbers import cell

MAX_WINDOW = 200
PREVIEW = 160
LABELS = ("right", "partial", "wrong", "hack")


@dataclass(frozen=True)
class View:
    """What the visitor asked to see.

    `sort` is "row", "group", "total", "advantage" or "reward:NAME"; `within` is a bar of a histogram: rows whose
    score by this reward ("total": whose total) lies from `low` to `high`, both included if `closed`.
    """

    sort: str = "row"
    down: bool = False
    chip: str = "all"
    search: str = ""
    preview: str = "tail"
    within: Bar | None = None


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram, as a filter."""

    name: str
    low: float
    high: float
    closed: bool = True


def chips(board: Board) -> list[dict[str, Any]]:
    """The filter chips with their counts; a chip for every label that occurs."""
    found = [
        {"key": "all", "name": "All", "count": len(board)},
        {"key": "changed", "name": "Changed", "count": _count(board, "changed")},
        {"key": "errors", "name": "Errors", "count": _count(board, "errors")},
        {"key": "none", "name": "None", "count": _count(board, "none")},
        {"key": "dead", "name": "Dead groups", "count": _count(board, "dead")},
        {"key": "pinned", "name": "Pinned", "count": _count(board, "pinned")},
    ]
    if any(board.expected):
        found.append({"key": "off", "name": "Unexpected", "count": _count(board, "off")})
    for label in LABELS:
        count = sum(1 for there in board.labels if there == label)
        if count:
            found.append({"key": f"label:{label}", "name": label, "count": count})
    return found


def order(board: Board, view: View) -> NDArray[np.intp]:
    """The rows that `view` shows, in its order; rows without a value come last either way."""
    chosen = np.flatnonzero(_chosen(board, view.chip) & _within(board, view.within))
    if view.search:
        wanted = view.search.casefold()
        texts, ids = board.texts, board.ids
        chosen = np.array(
            [row for row in chosen if wanted in texts[row].casefold() or wanted == ids[row].casefold()],
            dtype=np.intp,
        )
    keys = _keys(board, view.sort)
    if keys is None or not len(chosen):
        return chosen[::-1] if view.down else chosen
    values = keys[chosen]
    ranked = np.argsort(-values if view.down else values, kind="stable")  # NaN sorts last both ways
    return np.asarray(chosen[ranked], dtype=np.intp)


def window(board: Board, view: View, rows: NDArray[np.intp], start: int, count: int) -> list[list[Any]]:
    """The rows `start` to `start + count` of `rows`, each `[row, group, label, preview, cells, total, advantage]`."""
    start = max(0, start)
    return [
        [
            int(row),
            board.short_groups[row],
            board.labels[row],
            preview(board.texts[row], view.preview, view.search),
            board.cells(int(row)),
            cell(board.totals[row]) if not np.isnan(board.totals[row]) else None,
            cell(board.advantages[row]),
        ]
        for row in rows[start : start + min(max(0, count), MAX_WINDOW)]
    ]


def preview(text: str, part: str = "tail", search: str = "") -> str:
    """One line of `text`: its end, its beginning, or the surroundings of what was searched for.

    >>> preview("one\\ntwo", "head")
    'one⏎two'
    """
    if search:
        at = text.casefold().find(search.casefold())
        if at >= 0:
            begin = max(0, at - 30)
            return ("…" if begin else "") + _line(text[begin : begin + PREVIEW])
    if part == "head":
        return _line(text[:PREVIEW]) + ("…" if len(text) > PREVIEW else "")
    return ("…" if len(text) > PREVIEW else "") + _line(text[-PREVIEW:])


def _line(text: str) -> str:
    return " ".join(text.replace("\r\n", "\n").replace("\n", "⏎").split())


def _chosen(board: Board, chip: str) -> NDArray[np.bool_]:
    if chip == "errors":
        return board.failed
    if chip == "none":
        return board.abstained
    if chip == "dead":
        return board.dead
    if chip == "changed":
        return board.changed if board.changed is not None else np.zeros(len(board), dtype=bool)
    if chip == "off":
        return board.disagreeing
    if chip == "pinned":
        found = np.zeros(len(board), dtype=bool)
        found[[row for row in board.pinned if row < len(board)]] = True
        return found
    if chip.startswith("label:"):
        return np.array([label == chip[6:] for label in board.labels], dtype=bool)
    return np.ones(len(board), dtype=bool)


def _count(board: Board, chip: str) -> int:
    return int(_chosen(board, chip).sum())


def _within(board: Board, bar: Bar | None) -> NDArray[np.bool_]:
    if bar is None:
        return np.ones(len(board), dtype=bool)
    values = _keys(board, "total" if bar.name == "total" else f"reward:{bar.name}")
    if values is None:
        return np.zeros(len(board), dtype=bool)
    with np.errstate(invalid="ignore"):
        high = values <= bar.high + SAME if bar.closed else values < bar.high
        return np.asarray((values >= bar.low - (SAME if bar.closed else 0.0)) & high)


def _keys(board: Board, sort: str) -> NDArray[np.float64] | None:
    if sort == "total":
        return board.totals
    if sort == "advantage":
        return board.advantages
    if sort == "group":
        place = {name: float(index) for index, name in enumerate(board.members)}
        return np.array([place[group] for group in board.groups])
    if sort.startswith("reward:") and sort[7:] in board.names:
        return board.scores[:, board.names.index(sort[7:])]
    return None
