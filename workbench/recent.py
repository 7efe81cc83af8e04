"""The scores of the rows at hand, kept in memory from one scoring to the next: for whoever edits one of several
rewards.

Kept are whole calls, by the reward's code (`workbench.repeatable`) and for one batch of rows, the last one; other rows
begin anew. What may be kept is what `workbench.score_cache` would keep, save that nothing is too quick to be worth it.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rewards.contract import Batch, CallResult
from rewards.repeating import calling_scope
from rewards.rewardset import RewardDescription, SetDescription
from workbench.repeatable import Look, looks
from workbench.score_cache import CUT_S, KEEPABLE

MOST = 32
"""Calls of rewards that are kept; of more, those used longest ago go. Each is nine bytes a row and what was logged."""

_Key = tuple[str, str]


class Recent:
    """What `workbench.scoring.score` takes as `cache` where the same rows are scored again and again."""

    note: str | None = None

    def __init__(self) -> None:
        self._batch: weakref.ref[Batch] | None = None
        self._calls: list[list[int]] = []
        self._kept: OrderedDict[_Key, list[CallResult]] = OrderedDict()

    def memory(
        self,
        description: SetDescription,
        batch: Batch,
        calls: list[list[int]],
        loaded: SetDescription | None = None,
        since: int | None = None,
    ) -> RecentMemory:
        """What one scoring has to call, and what it knows.

        `loaded` is all that its process loads, `since` (`time.time_ns`) when it began to.
        """
        if self._batch is None or self._batch() is not batch or self._calls != calls:
            self._batch, self._calls = weakref.ref(batch), calls
            self._kept.clear()
        memory = RecentMemory(self._kept, calls, since)
        found = looks(description, loaded)
        for reward in description.rewards:
            memory.prepare(reward, found[reward.name])
        return memory


@dataclass
class RecentMemory:
    """See `workbench.score_cache.Memory`."""

    kept: OrderedDict[_Key, list[CallResult]]
    calls: list[list[int]]
    since: int | None = None
    left: dict[str, list[list[int]]] = field(default_factory=dict)
    reused: dict[str, int] = field(default_factory=dict)
    apart: frozenset[str] = frozenset()
    _keys: dict[str, tuple[_Key, Look]] = field(default_factory=dict)
    _known: dict[str, list[CallResult]] = field(default_factory=dict)

    def prepare(self, reward: RewardDescription, found: Look) -> None:
        """Find out whether this reward has to be called."""
        self.left[reward.name], self.reused[reward.name] = self.calls, 0
        if found.why_not is not None:
            return
        key = (found.digest, calling_scope(reward.entry.scope, reward.declared))
        self._keys[reward.name] = key, found
        if key in self.kept:
            self.kept.move_to_end(key)
            self._known[reward.name] = self.kept[
                key
            ]  # held here: what other rewards give now may push it out
            self.left[reward.name] = [[] for _ in self.calls]
            self.reused[reward.name] = sum(map(len, self.calls))

    def whole(self, reward: RewardDescription, fresh: list[CallResult]) -> list[CallResult]:
        """The reward's results, called now or known; keeps what may be kept."""
        if reward.name in self._known:
            return self._known[reward.name]
        if reward.name not in self._keys:
            return fresh
        key, found = self._keys[reward.name]
        if _may_be_kept(fresh, found) and not (self.since and found.changed_since(self.since)):
            self.kept[key] = fresh
            while len(self.kept) > MOST:
                self.kept.popitem(last=False)
        return fresh


def _may_be_kept(results: Sequence[CallResult], found: Look) -> bool:
    return all(
        np.isin(result.status, KEEPABLE).all()
        and not (result.printed or result.notes or result.metrics)
        and not (found.deadlines and result.seconds >= CUT_S)
        and not found.concerns(result.reads)
        for result in results
    )
