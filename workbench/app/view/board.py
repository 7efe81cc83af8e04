"""A board: one scored version of the rewards over all rows, in the form the page asks questions of.

It is made once a run, from the score table and the samples, and never changes afterwards; sorting, filtering
and every number on the page are read from it.
"""

from __future__ import annotations

import os
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rewards.contract import Status, completion_text
from rewards.groups import GroupStatistics, group_statistics
from workbench.app.view.numbers import Cell, cell

if TYPE_CHECKING:
    from workbench.scoring import ScoreTable

WORD = string.ascii_letters + string.digits
Bounds = tuple[float, float]

SAME = 1e-9
"""Scores that differ by at most this are the same."""

ABOUT_ROWS = ("texts", "members", "short_groups")
"""What a board finds out about its rows whatever they score."""

CUSTOMARY: tuple[Bounds, ...] = ((0.0, 1.0), (-1.0, 0.0), (-1.0, 1.0))
"""Ranges a reward without a declared one is taken to have, if its scores fit."""


@dataclass(frozen=True)
class Column:
    """One reward as a column.

    `weight` is the one in force, `own` the one it was declared with (None: the same). `low` and `high` bound its
    colour scale, `declared` if the author gave them; `file` is where it is defined, as the project names it.
    """

    name: str
    weight: float
    low: float
    high: float
    declared: bool
    seconds: float | None = None
    file: str | None = None
    own: float | None = None

    @property
    def declared_weight(self) -> float:
        """The weight it was declared with."""
        return self.weight if self.own is None else self.own

    def to_json(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "name": self.name,
            "weight": cell(self.weight),
            "own": cell(self.declared_weight),
            "low": cell(self.low),
            "high": cell(self.high),
            "declared": self.declared,
            "file": self.file,
        }


@dataclass(frozen=True)
class Board:
    """Scores of n rows by k rewards and what the rows are.

    `scores` is (n, k) float64 with NaN where there is no number, `status` (n, k) of `Status`, `errors` maps
    (row, reward) to its sentence. `prompts` and `completions` are as in the samples, `values` the other columns.
    `table` is the score table it was made from. `expected` and `pinned` are what people said of the rows,
    `changed` marks rows that score otherwise than in the saved file (None: that is not known).
    """

    columns: list[Column]
    scores: NDArray[np.float64]
    status: NDArray[np.uint8]
    errors: Mapping[tuple[int, str], str]
    totals: NDArray[np.float64]
    advantages: NDArray[np.float64]
    groups: list[str]
    labels: list[str | None]
    ids: list[str]
    prompts: Sequence[Any]
    completions: Sequence[Any]
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    aggregation: str = "sum_then_normalize"
    scale_rewards: str = "group"
    printed: str = ""
    notes: tuple[str, ...] = ()
    table: ScoreTable | None = field(default=None, repr=False)
    expected: Sequence[Mapping[str, float | None] | None] = ()
    pinned: frozenset[int] = frozenset()
    changed: NDArray[np.bool_] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.completions)

    @property
    def names(self) -> list[str]:
        """The rewards, in the order of their columns."""
        return [column.name for column in self.columns]

    @cached_property
    def texts(self) -> list[str]:
        """The text each row is judged by."""
        return [completion_text(completion) for completion in self.completions]

    @cached_property
    def statistics(self) -> GroupStatistics:
        """Mean and spread of the totals in each group."""
        weights = [column.weight for column in self.columns]
        return group_statistics(self.scores, weights, self.groups, aggregation=self.aggregation)

    @cached_property
    def members(self) -> dict[str, list[int]]:
        """Group name to its rows."""
        found: dict[str, list[int]] = {}
        for row, group in enumerate(self.groups):
            found.setdefault(group, []).append(row)
        return found

    @cached_property
    def short_groups(self) -> list[str]:
        """The groups' names without what all of them begin with, for a narrow column."""
        cut = len(shared_beginning(list(self.members)))
        return [group[cut:] for group in self.groups]

    @cached_property
    def dead(self) -> NDArray[np.bool_]:
        """(n,): True for rows of a group that teaches nothing because its totals are all equal."""
        found = self.statistics
        dead = dict(zip(found.names, found.zero_spread & (found.size > 1), strict=True))
        return np.fromiter(map(dead.__getitem__, self.groups), dtype=bool, count=len(self.groups))

    @cached_property
    def failed(self) -> NDArray[np.bool_]:
        """(n,): True where a reward raised, ran out of time, or returned what is no usable number."""
        worst = (self.status >= Status.WRONG_TYPE) | (self.status == Status.INFINITE)
        return np.asarray(worst.any(axis=1), dtype=bool)

    @cached_property
    def abstained(self) -> NDArray[np.bool_]:
        """(n,): True where a reward gave None or NaN."""
        none = (self.status == Status.ABSTAINED) | (self.status == Status.NAN)
        return np.asarray(none.any(axis=1), dtype=bool)

    @cached_property
    def total_bounds(self) -> Bounds:
        """The range totals can have: the weighted ranges of the rewards, added up."""
        low = sum(min(c.weight * c.low, c.weight * c.high) for c in self.columns)
        high = sum(max(c.weight * c.low, c.weight * c.high) for c in self.columns)
        return (low, high) if low < high else (low, low + 1.0)

    @cached_property
    def disagreeing(self) -> NDArray[np.bool_]:
        """(n,): True where a score is another than the one that is expected of the row."""
        found = np.zeros(len(self), dtype=bool)
        for row, wanted in enumerate(self.expected):
            for name, value in (wanted or {}).items():
                if name in self.names:
                    score = self.scores[row, self.names.index(name)]
                    right = np.isnan(score) if value is None else abs(score - value) <= SAME
                    found[row] |= not right
        return found

    def knowing(self, other: Board | None) -> Board:
        """This board, with what `other` found out about the rows themselves where it has the same ones."""
        if (
            other is not None
            and other.completions is self.completions
            and (other.groups is self.groups or other.groups == self.groups)
        ):
            kept = vars(other)
            vars(self).update({name: kept[name] for name in ABOUT_ROWS if name in kept})
        return self

    def reweighted(self, weights: Mapping[str, float]) -> Board:
        """The same scores under these weights; nothing is scored again. Names that are no reward are passed over."""
        factors = {c.name: weights.get(c.name, c.declared_weight) for c in self.columns}
        if self.table is None or all(factors[c.name] == c.weight for c in self.columns):
            return self
        table = self.table.reweighted(factors)
        columns = [replace(c, weight=factors[c.name], own=c.declared_weight) for c in self.columns]
        return replace(self, columns=columns, totals=table.totals, advantages=table.advantages, table=table)

    def differs(self, base: Board) -> NDArray[np.bool_] | None:
        """(n,): True for rows whose scores or total are others than on `base`; None if those are other rows."""
        if len(base) != len(self) or base.ids != self.ids:
            return None
        found = ~_equal(self.totals, base.totals)
        for at, name in enumerate(self.names):
            if name in base.names:
                there = base.names.index(name)
                found |= ~_equal(self.scores[:, at], base.scores[:, there])
                found |= self.status[:, at] != base.status[:, there]
        return found

    def cells(self, row: int) -> list[Cell]:
        """The row's scores, one a reward, as the page shows them."""
        return [cell(self.scores[row, index], self.status[row, index]) for index in range(len(self.columns))]


def _equal(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        same = (np.abs(one - other) <= SAME) | (one == other)
    return np.asarray(same | (np.isnan(one) & np.isnan(other)))


def shared_beginning(names: Sequence[str]) -> str:
    """What all names begin with, up to a border between letters and what is none.

    >>> shared_beginning(["problem-10", "problem-12"]), shared_beginning(["a", "ab"]), shared_beginning(["x"])
    ('problem-', '', '')
    """
    if len(names) < 2:
        return ""
    return os.path.commonprefix(list(names)).rstrip(WORD)  # noqa: RUF071  # names, not paths


def bounds(scores: NDArray[np.float64], declared: Bounds | None) -> Bounds:
    """The range a reward's colours run over: the declared one, else a customary one, else what is there.

    >>> bounds(np.array([0.0, 0.25]), None), bounds(np.array([-3.0, 1.0]), None)
    ((0.0, 1.0), (-3.0, 3.0))
    """
    if declared is not None and declared[0] < declared[1]:
        return declared
    finite = scores[np.isfinite(scores)]
    if not len(finite):
        return 0.0, 1.0
    least, most = float(finite.min()), float(finite.max())
    for low, high in CUSTOMARY:
        if low <= least and most <= high:
            return low, high
    if least >= 0:
        return 0.0, most
    if most <= 0:
        return least, 0.0
    reach = max(-least, most)
    return -reach, reach
