"""What a desk shows: the last good board, with the weights in force and what people said of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rewards.errors import UsageError
from workbench.app.shelf import Rows
from workbench.app.view.board import Board
from workbench.app.weighing import Weighing


class NothingScored(UsageError):
    """A desk is asked for scores before its first run has ended."""


@dataclass(frozen=True)
class Shown:
    """The last good result: `folder` is the mirror it was scored from, which explanations are made from too.

    `saved` if the files on disk said the same. `edition` changes whenever the board does: with a run, with weights,
    with what is said of a row. `kept` holds what pages computed of the scores.
    """

    run: int
    board: Board
    seconds: float
    folder: Path
    target: str
    sources: Mapping[str, str]
    rows: Rows
    saved: bool = False
    edition: int = 0
    explained: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)


def dressed(shown: Shown, weighing: Weighing, base: Board | None) -> Board:
    """The board under the weights in force, with labels, expected scores and pins, and what differs from `base`."""
    board, samples = shown.board, shown.rows.samples
    if len(samples) == len(board):
        table = board.table and replace(board.table, labels=samples.labels)
        pinned = shown.rows.pinned
        board = replace(board, labels=samples.labels, expected=samples.expected, pinned=pinned, table=table)
    board = board.reweighted(weighing.factors(board.names))
    return replace(board, changed=board.differs(base) if base is not None else None)


def base_after(base: Board | None, old: Shown | None, new: Shown) -> Board:
    """What "changed" is measured by: the scores of the saved file; where it was saved elsewhere, those before."""
    if new.saved and old is not None and old.saved and old.sources != new.sources:
        return old.board.reweighted({})
    if base is None or (new.saved and (old is None or not old.saved)):
        return new.board
    return base
