"""The scores of a set over the samples in one table, as the trainer adds them up; what the checks of a set look at."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rewards.groups import Aggregation, Scaling, advantages, ranked_by, totals
from workbench.checks.subject import RewardSubject, SetSubject

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """Rows that every member of a set scored or abstained on, with totals.

    `rows` are rows of the samples, `groups` the number of each row's prompt from 0; `scores` is (rows, members), NaN
    where a member abstained or gave no finite number; `weights` are the set's; `totals` is (rows,), NaN where all
    abstained.
    """

    members: tuple[RewardSubject, ...]
    rows: tuple[int, ...]
    groups: npt.NDArray[np.intp]
    scores: Floats
    weights: Floats
    totals: Floats
    aggregation: Aggregation
    scaling: Scaling

    def __len__(self) -> int:
        return len(self.rows)

    @functools.cached_property
    def added(self) -> Floats:
        """The scores as they are added up: an abstention counts as 0, a row on which all abstain stays NaN."""
        none = np.isnan(self.scores)
        return np.where(none & ~none.all(axis=1, keepdims=True), 0.0, self.scores)

    @functools.cached_property
    def ranked(self) -> Floats:
        """(rows,) what a group is ranked by: equal where training is taught no difference."""
        return ranked_by(self.scores, self.weights, self.groups, aggregation=self.aggregation)

    @functools.cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many rows each group has."""
        return np.bincount(self.groups)

    @functools.cached_property
    def several(self) -> int:
        """How many groups have two rows or more."""
        return int((self.sizes > 1).sum())

    def advantages(self, aggregation: Aggregation | None = None, scaling: Scaling | None = None) -> Floats:
        """(rows,) advantages, in the set's own modes or in others."""
        return advantages(
            self.scores,
            self.weights,
            self.groups,
            aggregation=aggregation or self.aggregation,
            scale_rewards=scaling or self.scaling,
        )

    def lengths(self) -> Floats:
        """(rows,) characters of each completion."""
        return np.array([len(self.members[0].text(row)) for row in self.rows], dtype=float)

    def labels(self) -> list[str | None]:
        """The label of each row."""
        samples = self.members[0].samples
        return [samples.labels[row] if samples is not None else None for row in self.rows]

    def shortest(self, places: Sequence[int]) -> int:
        """The place among `places` with the shortest completion."""
        return min(places, key=lambda place: (len(self.members[0].text(self.rows[place])), place))


def read_table(subject: SetSubject) -> Table | None:
    """The table of a set; None where no row has a score of every member, or all weights are 0."""
    members = subject.members
    if not members or subject.batch is None:
        return None
    everything = set(range(len(subject.batch)))
    rows = sorted(set.intersection(*(everything - (set(m.concerned) - set(m.usable)) for m in members)))
    weights = np.array([member.description.entry.weight for member in members], dtype=float)
    if not rows or not weights.any():
        return None
    scores = np.column_stack([member.column(rows) for member in members])
    scores = np.where(np.isfinite(scores), scores, np.nan)
    numbers: dict[str, int] = {}
    groups = np.array(
        [numbers.setdefault(subject.batch.groups[row], len(numbers)) for row in rows], dtype=np.intp
    )
    described = subject.description
    return Table(
        tuple(members),
        tuple(rows),
        groups,
        scores,
        weights,
        totals(scores, weights),
        described.aggregation,
        described.scale_rewards,
    )


__all__ = ["Floats", "Table", "read_table"]
