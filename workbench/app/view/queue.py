"""The labelling queue: which unlabelled rows tell most, and what the labels say of the rewards so far.

A row tells much where the rewards disagree about it, where it is among the best paid (there training leads), or
where its total lies near the border between what was labelled right and wrong.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.app.view.board import Board
from workbench.app.view.numbers import cell
from workbench.app.view.row import row_detail
from workbench.separation import Separation, separation

NEXT = 2
"""Rows sent at a time: the one to label and the one after it."""

AGAIN = 0.75
"""What a row is worth for each better one of its group before it: other prompts tell more."""

BEST = 0.05
"""Share of the rows that count as best paid."""

CONSIDERED = 1_000
"""Rows that are ranked; nobody labels more in one go, and the next label ranks them anew."""

DECIDED = ("right", "wrong", "hack")


@dataclass(frozen=True)
class Candidate:
    """A row to label: `worth` in [0, 1], and why."""

    row: int
    worth: float
    why: str


def candidates(board: Board) -> list[Candidate]:
    """The unlabelled rows whose label tells most, up to `CONSIDERED` of them, the best first."""
    free = np.array([label is None for label in board.labels], dtype=bool)
    if not free.any():
        return []
    parts = [_disagreement(board), _best_paid(board), _near(board)]
    worth = np.array([values for values, _ in parts])
    chosen = worth.argmax(axis=0)
    rows = np.flatnonzero(free)
    rows = rows[np.argsort(-worth.max(axis=0)[rows], kind="stable")][:CONSIDERED]
    seen: dict[str, int] = {}
    found = []
    for row in rows.tolist():
        before = seen[board.groups[row]] = seen.get(board.groups[row], -1) + 1
        kind = int(chosen[row])
        found.append(Candidate(row, float(worth[kind, row]) * AGAIN**before, parts[kind][1]))
    return sorted(found, key=lambda candidate: -candidate.worth)


def queue_view(board: Board, skipped: Collection[int]) -> dict[str, Any]:
    """JSON of the queue: the next rows in full, how many are left, the AUC of every reward so far."""
    best = candidates(board)
    waiting = [candidate for candidate in best if candidate.row not in skipped] or best
    left = list(board.labels).count(None)
    return {
        "left": left,
        "labelled": len(board) - left,
        "rows": len(board),
        "next": [{**row_detail(board, each.row), "why": each.why} for each in waiting[:NEXT]],
        "separation": [
            _told("total", separation(board.totals, board.labels, board.groups)),
            *(
                _told(name, separation(board.scores[:, at], board.labels, board.groups))
                for at, name in enumerate(board.names)
            ),
        ],
    }


def _told(name: str, found: Separation) -> dict[str, Any]:
    return {
        "name": name,
        "auc": None if np.isnan(found.auc) else cell(found.auc),
        "low": cell(found.low),
        "high": cell(found.high),
        "right": found.right,
        "wrong": found.wrong,
        "prompts": found.prompts,
    }


def _disagreement(board: Board) -> tuple[NDArray[np.float64], str]:
    """How far apart the rewards that count are, each on its own scale."""
    heard = [at for at, column in enumerate(board.columns) if column.weight != 0]
    if len(heard) < 2:
        return np.zeros(len(board)), ""
    low = np.array([board.columns[at].low for at in heard])
    high = np.array([board.columns[at].high for at in heard])
    scaled = np.clip((board.scores[:, heard] - low) / (high - low), 0.0, 1.0)
    known = np.isfinite(scaled)
    most = np.where(known, scaled, -np.inf).max(axis=1)
    least = np.where(known, scaled, np.inf).min(axis=1)
    return np.where(known.sum(axis=1) > 1, most - least, 0.0) * 0.95, "the rewards disagree about it"


def _best_paid(board: Board) -> tuple[NDArray[np.float64], str]:
    """1 for the best paid rows, falling to 0 within the best tenth."""
    totals = np.where(np.isfinite(board.totals), board.totals, -np.inf)
    if not np.isfinite(totals).any() or totals.max() == totals[np.isfinite(totals)].min():
        return np.zeros(len(board)), ""
    rank = np.empty(len(board))
    rank[np.argsort(-totals, kind="stable")] = np.arange(len(board))
    return np.clip(1.0 - rank / max(1.0, 2 * BEST * len(board)), 0.0, 1.0), "it is among the best paid"


def _near(board: Board) -> tuple[NDArray[np.float64], str]:
    """How near the total lies to the border between right and wrong; 0 everywhere while there is no border."""
    border = _border(board)
    low, high = board.total_bounds
    if border is None:
        return np.zeros(len(board)), ""
    away = np.abs(board.totals - border) / (high - low)
    return np.where(np.isfinite(away), np.clip(0.9 - 4 * away, 0.0, 1.0), 0.0), "its total is near the border"


def _border(board: Board) -> float | None:
    """The total that parts the rows labelled right from the others best, by balanced accuracy."""
    known = np.array([label in DECIDED for label in board.labels], dtype=bool) & np.isfinite(board.totals)
    right = np.array([label == "right" for label in board.labels], dtype=bool)[known]
    totals = board.totals[known]
    if not right.any() or right.all():
        return None
    values = np.unique(totals)
    cuts = (values[:-1] + values[1:]) / 2
    if not len(cuts):
        return None
    above = totals[None, :] > cuts[:, None]
    accuracy = above[:, right].mean(axis=1) - above[:, ~right].mean(axis=1)
    return float(cuts[int(accuracy.argmax())])
