"""What changes between two score tables of the same rows: other code, another version, other weights.

What matters is what the policy would be taught: a score that rises everywhere alike changes nothing, an advantage
that changes its sign teaches the opposite. So beside the rows that are better, worse and equal stand sign flips
of advantages, rows whose rank in their group changes, pairs whose order turns, and groups without spread.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rewards.errors import UsageError
from rewards.groups import group_statistics
from rewards.signal import ranks_inside
from workbench.scoring import json_number

if TYPE_CHECKING:
    from workbench.scoring import ScoreTable

Floats = npt.NDArray[np.float64]

SAME = 1e-9
"""Two numbers that differ by at most this are equal."""

_PAIRS = 1 << 22
"""Pairs compared at a time."""


@dataclass(frozen=True)
class Change:
    """One reward, or the total, in rows: `better`, `worse`, `equal`; `lost` a number they had, `gained` one."""

    name: str
    better: int
    worse: int
    equal: int
    lost: int
    gained: int
    mean_before: float
    mean_after: float

    @property
    def changed(self) -> int:
        """Rows whose score is not what it was."""
        return self.better + self.worse + self.lost + self.gained


@dataclass(frozen=True)
class RowChange:
    """One row: each pair is (before, after); NaN where there is no number.

    `rank`: of its total in its group, 1 the best, ties share the mean. `flips`: its advantage changes sign.
    """

    row: int
    id: str
    group: str
    scores: dict[str, tuple[float, float]]
    total: tuple[float, float]
    advantage: tuple[float, float]
    rank: tuple[float, float]
    flips: bool


@dataclass(frozen=True)
class FileChange:
    """A file of the code that differs, as a unified diff."""

    name: str
    diff: str


@dataclass(frozen=True)
class Difference:
    """The change from `before` to `after`, two tables of the same rows.

    `rewards` are those that both have; `flips` counts advantages that change sign, `silenced` those that become 0,
    `woken` those that were 0; `ranks` rows whose rank by total in their group changes; `turned` of `pairs` pairs
    in groups change their order. `order` has the changed rows, what changes the advantage most first.
    """

    old: str
    new: str
    before: ScoreTable
    after: ScoreTable
    rewards: tuple[Change, ...]
    total: Change
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    flips: int
    silenced: int
    woken: int
    ranks: int
    turned: int
    pairs: int
    groups: int
    dead_before: int
    dead_after: int
    order: npt.NDArray[np.intp]
    code: tuple[FileChange, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.after)

    @property
    def notes(self) -> list[str]:
        """What a reader of the scores of either side has to know, each said once."""
        return list(dict.fromkeys([*self.before.notes, *self.after.notes]))

    @cached_property
    def _ranks(self) -> tuple[Floats, Floats]:
        return (
            ranks_inside(-self.before.totals, self.before.group_codes),
            ranks_inside(-self.after.totals, self.after.group_codes),
        )

    def changed(self, most: int | None = None) -> list[RowChange]:
        """The changed rows, those first whose advantage changes most; `most` limits how many."""
        names = [change.name for change in self.rewards]
        places = [(self.before.names.index(name), self.after.names.index(name)) for name in names]
        old_rank, new_rank = self._ranks
        return [
            RowChange(
                row=int(row),
                id=self.after.ids[row],
                group=self.after.groups[row],
                scores={
                    name: (float(self.before.scores[row, old]), float(self.after.scores[row, new]))
                    for name, (old, new) in zip(names, places, strict=True)
                },
                total=(float(self.before.totals[row]), float(self.after.totals[row])),
                advantage=(float(self.before.advantages[row]), float(self.after.advantages[row])),
                rank=(float(old_rank[row]), float(new_rank[row])),
                flips=bool(self.before.advantages[row] * self.after.advantages[row] < -(SAME**2)),
            )
            for row in self.order[:most]
        ]

    def to_json(self) -> dict[str, Any]:
        """The object of `diff --format json`."""
        return {
            "old": self.old,
            "new": self.new,
            "rows": len(self),
            "rewards": [_change_json(change) for change in self.rewards],
            "total": _change_json(self.total),
            "only_old": list(self.only_old),
            "only_new": list(self.only_new),
            "advantages": {"sign_flips": self.flips, "silenced": self.silenced, "woken": self.woken},
            "ranks": {"rows": self.ranks, "pairs_turned": self.turned, "pairs": self.pairs},
            "groups": {"count": self.groups, "dead_before": self.dead_before, "dead_after": self.dead_after},
            "code": [{"file": change.name, "diff": change.diff} for change in self.code],
            "changed": [_row_json(row) for row in self.changed()],
        }


def compare(
    before: ScoreTable,
    after: ScoreTable,
    *,
    old: str = "before",
    new: str = "after",
    code: Sequence[FileChange] = (),
) -> Difference:
    """What changes from one table to another of the same rows.

    Rewards are compared by name; where each side has only one reward, that one with that one.

    Raises:
        UsageError: the tables have different rows.
    """
    if before.groups != after.groups:
        raise UsageError(
            f"{old} has {len(before)} rows and {new} {len(after)}: they are not the same samples"
        )
    if len(before.names) == len(after.names) == 1 and before.names != after.names:
        before = _renamed(before, after.names[0])
    common = [name for name in after.names if name in before.names]
    flips, silenced, woken = _signs(before.advantages, after.advantages)
    turned, pairs = turned_pairs(before.totals, after.totals, after.groups)
    ranks = ~_equal(
        ranks_inside(before.totals, before.group_codes), ranks_inside(after.totals, after.group_codes)
    )
    return Difference(
        old=old,
        new=new,
        before=before,
        after=after,
        rewards=tuple(
            _change(
                name, before.scores[:, before.names.index(name)], after.scores[:, after.names.index(name)]
            )
            for name in common
        ),
        total=_change("total", before.totals, after.totals),
        only_old=tuple(name for name in before.names if name not in common),
        only_new=tuple(name for name in after.names if name not in common),
        flips=flips,
        silenced=silenced,
        woken=woken,
        ranks=int(ranks.sum()),
        turned=turned,
        pairs=pairs,
        groups=len(set(after.groups)),
        dead_before=_dead(before),
        dead_after=_dead(after),
        order=_order(before, after, common),
        code=tuple(code),
    )


def _renamed(table: ScoreTable, name: str) -> ScoreTable:
    reward = table.description.rewards[0]
    entry = reward.entry.model_copy(update={"name": name})
    rewards = (replace(reward, entry=entry),)
    return replace(table, description=replace(table.description, rewards=rewards))


def _equal(before: Floats, after: Floats) -> npt.NDArray[np.bool_]:
    """Where two columns say the same; infinities and NaN equal themselves."""
    both_nan = np.isnan(before) & np.isnan(after)
    with np.errstate(invalid="ignore"):
        near = np.abs(before - after) <= SAME
    return np.asarray(both_nan | near | (before == after))


def _change(name: str, before: Floats, after: Floats) -> Change:
    equal = _equal(before, after)
    had, has = ~np.isnan(before), ~np.isnan(after)
    both = had & has & ~equal
    return Change(
        name=name,
        better=int((both & (after > before)).sum()),
        worse=int((both & (after < before)).sum()),
        equal=int(equal.sum()),
        lost=int((had & ~has).sum()),
        gained=int((has & ~had).sum()),
        mean_before=_mean(before),
        mean_after=_mean(after),
    )


def _mean(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else math.nan


def _signs(before: Floats, after: Floats) -> tuple[int, int, int]:
    """Advantages that change sign, that become 0, that were 0."""
    old, new = (np.where(np.abs(values) <= SAME, 0.0, np.sign(values)) for values in (before, after))
    return (
        int((old * new < 0).sum()),
        int(((old != 0) & (new == 0)).sum()),
        int(((old == 0) & (new != 0)).sum()),
    )


def _dead(table: ScoreTable) -> int:
    found = group_statistics(table.scores, list(table.weights), table.group_codes)
    return int((found.zero_spread & (found.size > 1)).sum())


def _order(before: ScoreTable, after: ScoreTable, names: Sequence[str]) -> npt.NDArray[np.intp]:
    """The changed rows by how much their advantage changes, then their total."""
    taught = np.abs(np.nan_to_num(after.advantages) - np.nan_to_num(before.advantages))
    with np.errstate(invalid="ignore"):
        paid = np.nan_to_num(np.abs(after.totals - before.totals), nan=0.0)
    changed = (taught > SAME) | ~_equal(before.totals, after.totals)
    for name in names:
        changed |= ~_equal(
            before.scores[:, before.names.index(name)], after.scores[:, after.names.index(name)]
        )
    rows = np.flatnonzero(changed)
    return rows[np.lexsort((rows, -paid[rows], -taught[rows]))]


def turned_pairs(before: Floats, after: Floats, groups: Sequence[str]) -> tuple[int, int]:
    """Pairs of rows of one group whose order by total turns round, and all pairs inside groups.

    Pairs with a total that is no number on either side are left out.
    """
    members: dict[str, list[int]] = {}
    known = ~(np.isnan(before) | np.isnan(after))
    for row in np.flatnonzero(known).tolist():
        members.setdefault(groups[row], []).append(row)
    by_size: dict[int, list[list[int]]] = {}
    for rows in members.values():
        by_size.setdefault(len(rows), []).append(rows)
    turned = pairs = 0
    for size, same in by_size.items():
        pairs += len(same) * size * (size - 1) // 2
        step = max(1, _PAIRS // (size * size))
        for start in range(0, len(same), step):
            rows_of = np.array(same[start : start + step])
            turned += _turned(before[rows_of], after[rows_of])
    return turned, pairs


def _turned(before: Floats, after: Floats) -> int:
    """Pairs of (groups, size) tables that are in one order before and in the other after."""
    with np.errstate(invalid="ignore"):
        old = before[:, :, None] - before[:, None, :]
        new = after[:, :, None] - after[:, None, :]
    return int((((old > SAME) & (new < -SAME)) | ((old < -SAME) & (new > SAME))).sum()) // 2


def _change_json(change: Change) -> dict[str, Any]:
    return {
        "name": change.name,
        "better": change.better,
        "worse": change.worse,
        "equal": change.equal,
        "lost": change.lost,
        "gained": change.gained,
        "mean": _pair((change.mean_before, change.mean_after)),
    }


def _row_json(row: RowChange) -> dict[str, Any]:
    return {
        "row": row.row,
        "id": row.id,
        "group": row.group,
        "scores": {name: _pair(pair) for name, pair in row.scores.items()},
        "total": _pair(row.total),
        "advantage": _pair(row.advantage),
        "rank": _pair(row.rank),
        "flips": row.flips,
    }


def _pair(values: tuple[float, float]) -> list[float | str | None]:
    return [json_number(value, nan=None) for value in values]
