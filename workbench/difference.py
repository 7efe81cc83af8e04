"""What changes between two score tables of the same rows: other code, another version, other weights.

What matters is what the policy would be taught: a score that rises everywhere alike changes nothing, an advantage
that changes its sign teaches the opposite. So beside the rows that are better, worse and equal stand sign flips
of advantages, rows whose rank in their group changes, pairs whose order turns, and groups without spread.

Rows are the same where prompt and completion are: group names, ids and numbers say nothing, other samples have them
too. Texts are only read where the tables do not hold the same objects, digests only made where the order differs.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rewards.errors import UsageError
from rewards.groups import beyond_float32, group_statistics
from rewards.signal import ranks_inside
from workbench.samples.form import speech
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
    """One reward, or the total, in rows: `better`, `worse`, `equal`; `lost` a number they had, `gained` one.

    Better is more, and less of a reward whose weight is below 0 (`less_is_better`). `was` is the name it had before.
    """

    name: str
    better: int
    worse: int
    equal: int
    lost: int
    gained: int
    mean_before: float
    mean_after: float
    was: str
    less_is_better: bool = False

    @property
    def both_names(self) -> str:
        """Its name; `old -> new` where that is another one than before."""
        return self.name if self.was == self.name else f"{self.was} -> {self.name}"

    @property
    def changed(self) -> int:
        """Rows whose score is not what it was."""
        return self.better + self.worse + self.lost + self.gained


@dataclass(frozen=True)
class RowChange:
    """One row: each pair is (before, after); NaN where there is no number.

    `rank`: in its group by what the trainer ranks by, the total in most modes (`rewards.groups.ranked_by`), 1 the
    best, ties share the mean. `flips`: its advantage changes sign.
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
    `woken` those that were 0; `ranks` rows whose rank in their group changes. Of `pairs` pairs in groups
    `turned` change their order, `ties_broken` were equal before, `ties_made` are equal now; the others stand as they
    did. `order` has the changed rows, what changes the advantage most first.
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
    ties_broken: int
    ties_made: int
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
        return _ranks(self.before), _ranks(self.after)

    def changed(self, most: int | None = None) -> list[RowChange]:
        """The changed rows, those first whose advantage changes most; `most` limits how many."""
        names = [change.name for change in self.rewards]
        places = [
            (self.before.names.index(change.was), self.after.names.index(change.name))
            for change in self.rewards
        ]
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
            "ranks": {
                "rows": self.ranks,
                "pairs_turned": self.turned,
                "ties_broken": self.ties_broken,
                "ties_made": self.ties_made,
                "pairs": self.pairs,
            },
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

    Rewards are compared by name; where each side has only one reward, that one with that one. Rows that come in
    another order are put into that of `after`.

    Raises:
        UsageError: the tables have different rows.
    """
    before = in_order_of(before, after, old=old, new=new)
    if len(before.names) == len(after.names) == 1:
        common = {before.names[0]: after.names[0]}
    else:
        common = {name: name for name in after.names if name in before.names}
    flips, silenced, woken = _signs(before.advantages, after.advantages)
    pairs = compared_pairs(before.ranked, after.ranked, after.groups)
    ranks = ~_equal(_ranks(before), _ranks(after))
    return Difference(
        old=old,
        new=new,
        before=before,
        after=after,
        rewards=tuple(
            _change(
                now,
                before.scores[:, before.names.index(was)],
                after.scores[:, after.names.index(now)],
                was,
                less_is_better=after.weights[after.names.index(now)] < 0,
            )
            for was, now in common.items()
        ),
        total=_change("total", before.totals, after.totals),
        only_old=tuple(name for name in before.names if name not in common),
        only_new=tuple(name for name in after.names if name not in common.values()),
        flips=flips,
        silenced=silenced,
        woken=woken,
        ranks=int(ranks.sum()),
        turned=pairs.turned,
        ties_broken=pairs.broken,
        ties_made=pairs.made,
        pairs=pairs.all,
        groups=len(set(after.groups)),
        dead_before=_dead(before),
        dead_after=_dead(after),
        order=_order(before, after, common),
        code=tuple(code),
    )


# ------------------------------------------------------------------------------------------------- the same rows


def in_order_of(
    before: ScoreTable, after: ScoreTable, *, old: str = "before", new: str = "after"
) -> ScoreTable:
    """`before` with its rows in the order of `after`; itself where that is so.

    Groups may have other names, but must hold the same rows.

    Raises:
        UsageError: the rows of one are not those of the other.
    """
    if len(before) != len(after):
        raise UsageError(
            f"{old} has {len(before)} rows and {new} {len(after)}: they are not the same samples"
        )
    known = before.completions is not None and after.completions is not None
    if known and not (
        _alike(before.completions, after.completions) and _alike(before.prompts, after.prompts)
    ):
        return _matched(before, after, old, new)
    if before.groups != after.groups and not np.array_equal(before.group_codes, after.group_codes):
        raise UsageError(f"{old} and {new} group their rows differently: they are not the same samples")
    return before


def _alike(one: Any, other: Any) -> bool:
    """Whether two columns are equal, at once where they hold the same objects; False where that cannot be told."""
    try:
        return one is other or bool(one == other)
    except ValueError:  # arrays among the parts of a message
        return False


def _matched(before: ScoreTable, after: ScoreTable, old: str, new: str) -> ScoreTable:
    """`before` in the order of `after`, group by group: two groups match where they hold the same rows."""
    digests = _digests(before), _digests(after)
    lacking = sum((Counter(digests[1]) - Counter(digests[0])).values())
    if lacking:
        raise UsageError(
            f"{lacking} of the {len(after)} completions of {new} are not among those of {old}: they are not the same "
            "samples"
        )
    theirs, ours = (_by_content(table, known) for table, known in zip((before, after), digests, strict=True))
    if {content: len(groups) for content, groups in theirs.items()} != {
        content: len(groups) for content, groups in ours.items()
    }:
        raise UsageError(f"{old} and {new} group their rows differently: they are not the same samples")
    order = [0] * len(after)
    for content, groups in ours.items():
        for group, same in zip(groups, theirs[content], strict=True):
            for row, there in zip(group, same, strict=True):
                order[row] = there
    return before if order == list(range(len(after))) else before.reordered(order)


def _by_content(table: ScoreTable, digests: Sequence[bytes]) -> dict[tuple[bytes, ...], list[list[int]]]:
    """For each content of a group (the digests of its rows, in order) the groups that have it, rows in that order."""
    members: dict[int, list[int]] = {}
    for row, code in enumerate(table.group_codes.tolist()):
        members.setdefault(code, []).append(row)
    found: dict[tuple[bytes, ...], list[list[int]]] = {}
    for rows in members.values():
        rows.sort(key=lambda row: (digests[row], row))
        found.setdefault(tuple(digests[row] for row in rows), []).append(rows)
    return found


def _digests(table: ScoreTable) -> list[bytes]:
    """A digest of what was scored in each row: the prompt's words and the completion, in either form."""
    prompts = {id(prompt): str(speech(prompt, "text", "user")) for prompt in table.prompts or ()}
    found = []
    for prompt, completion in zip(table.prompts or (), table.completions or (), strict=True):
        asked = prompts[id(prompt)]
        both = f"{len(asked)} {asked}{_content(completion)}"
        found.append(hashlib.blake2b(both.encode("utf-8", "surrogatepass"), digest_size=16).digest())
    return found


def _content(said: Any) -> str:
    """A text, or a chat as text; a chat of one message is what it says, as samples can be read as either."""
    if isinstance(said, Sequence) and len(said) == 1 and isinstance(said[0], Mapping):
        said = said[0].get("content")
    return (
        said if isinstance(said, str) else json.dumps(said, sort_keys=True, ensure_ascii=False, default=repr)
    )


# ------------------------------------------------------------------------------------------------ what changes


def _ranks(table: ScoreTable) -> Floats:
    """The rank of each row in its group, 1 the best."""
    return ranks_inside(-table.ranked, table.group_codes)


def _equal(before: Floats, after: Floats) -> npt.NDArray[np.bool_]:
    """Where two columns say the same; infinities and NaN equal themselves."""
    both_nan = np.isnan(before) & np.isnan(after)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(before - after) <= SAME
    return np.asarray(both_nan | near | (before == after))


def _change(
    name: str, before: Floats, after: Floats, was: str = "", *, less_is_better: bool = False
) -> Change:
    equal = _equal(before, after)
    had, has = ~np.isnan(before), ~np.isnan(after)
    both = had & has & ~equal
    more, less = int((both & (after > before)).sum()), int((both & (after < before)).sum())
    return Change(
        name=name,
        better=less if less_is_better else more,
        worse=more if less_is_better else less,
        equal=int(equal.sum()),
        lost=int((had & ~has).sum()),
        gained=int((has & ~had).sum()),
        mean_before=_mean(before),
        mean_after=_mean(after),
        was=was or name,
        less_is_better=less_is_better,
    )


def _mean(values: Floats) -> float:
    finite = values[np.isfinite(beyond_float32(values))]
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
    mode = table.description.aggregation
    found = group_statistics(table.scores, list(table.weights), table.group_codes, aggregation=mode)
    return int((found.zero_spread & (found.size > 1)).sum())


def _order(before: ScoreTable, after: ScoreTable, names: Mapping[str, str]) -> npt.NDArray[np.intp]:
    """The changed rows by how much their advantage changes, then their total."""
    taught = np.abs(np.nan_to_num(after.advantages) - np.nan_to_num(before.advantages))
    with np.errstate(invalid="ignore", over="ignore"):
        paid = np.nan_to_num(np.abs(after.totals - before.totals), nan=0.0)
    changed = (taught > SAME) | ~_equal(before.totals, after.totals)
    for was, now in names.items():
        changed |= ~_equal(before.scores[:, before.names.index(was)], after.scores[:, after.names.index(now)])
    rows = np.flatnonzero(changed)
    return rows[np.lexsort((rows, -paid[rows], -taught[rows]))]


class Pairs(NamedTuple):
    """Pairs of rows of one group: `turned` in their order, ties `broken` and `made`, and `all` that were compared."""

    turned: int
    broken: int
    made: int
    all: int


def compared_pairs(before: Floats, after: Floats, groups: Sequence[str]) -> Pairs:
    """What becomes of the order of the pairs inside groups, by what they are ranked by before and after.

    Pairs with a row that has no number on either side are left out.
    """
    members: dict[str, list[int]] = {}
    known = ~(np.isnan(before) | np.isnan(after))
    for row in np.flatnonzero(known).tolist():
        members.setdefault(groups[row], []).append(row)
    by_size: dict[int, list[list[int]]] = {}
    for rows in members.values():
        by_size.setdefault(len(rows), []).append(rows)
    counts = np.zeros(3, dtype=np.int64)
    pairs = 0
    for size, same in by_size.items():
        pairs += len(same) * size * (size - 1) // 2
        step = max(1, _PAIRS // (size * size))
        for start in range(0, len(same), step):
            rows_of = np.array(same[start : start + step])
            counts += _counted(before[rows_of], after[rows_of])
    turned, broken, made = (int(count) for count in counts)
    return Pairs(turned, broken, made, pairs)


def _counted(before: Floats, after: Floats) -> tuple[int, int, int]:
    """Of (groups, size) tables: pairs that turn, that were equal and are no more, that are equal and were not."""
    old, new = _signs_of_pairs(before), _signs_of_pairs(after)
    return (
        int((old * new < 0).sum()) // 2,
        int(((old == 0) & (new != 0)).sum()) // 2,
        int(((old != 0) & (new == 0)).sum()) // 2,
    )


def _signs_of_pairs(values: Floats) -> npt.NDArray[np.int8]:
    """(groups, size, size): which of two is larger, 0 where they are equal, infinities among them."""
    one, other = values[:, :, None], values[:, None, :]
    return (one > other).astype(np.int8) - (one < other).astype(np.int8)


def _change_json(change: Change) -> dict[str, Any]:
    return {
        "name": change.name,
        **({"was": change.was} if change.was != change.name else {}),
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
