"""The memory a reward may take: a limit for each, of a process that several may share.

What counts is what the process grows by while the reward is called, over all its calls. So a reward cannot use up
what another was granted, and does not pay for what another keeps.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator

from rewards.reward_model import RewardModel
from rewards.rewardset import RewardSet

_MIB = 1 << 20
_MOST = 1 << 62
"""Bytes above which a limit is none."""


class Memory:
    """The limits of a loaded set's rewards in this process."""

    def __init__(self, rewardset: RewardSet) -> None:
        self._granted = {
            entry.name: None
            if isinstance(function, RewardModel) and "memory_mb" not in keys
            else entry.memory_mb
            for entry, function, keys in zip(
                rewardset.entries, rewardset.functions, rewardset.declared, strict=True
            )
        }
        self._taken = dict.fromkeys(self._granted, 0)
        self._usual = _largest(list(self._granted.values()))
        _limit(self._usual)

    @contextlib.contextmanager
    def limited_to(self, reward: str) -> Iterator[None]:
        """Let the process grow by what this reward has left; it gets MemoryError where it wants more.

        A reward model without a stated `memory_mb` is not limited: its size is the model's affair.
        """
        granted = self._granted[reward]
        before = address_space()
        if before is None:
            yield
            return
        _limit(None if granted is None else before + max(0, granted * _MIB - self._taken[reward]))
        try:
            yield
        finally:
            _limit(self._usual)
            self._taken[reward] += (address_space() or before) - before


def _largest(granted: list[int | None]) -> int | None:
    """The bytes of address space for what is no call to one reward; None for no limit."""
    now = address_space()
    if now is None or any(one is None for one in granted):
        return None
    return now + max((one for one in granted if one is not None), default=0) * _MIB


def address_space() -> int | None:
    """Bytes of address space this process has; None where that cannot be asked."""
    try:
        # twice a call: Python's own files cost four times as much
        file = os.open("/proc/self/statm", os.O_RDONLY)
        try:
            return int(os.read(file, 32).split(maxsplit=1)[0]) * resource.getpagesize()
        finally:
            os.close(file)
    except OSError:
        return None


def _limit(size: int | None) -> None:
    """Limit the address space, as far as this process may; None: not at all."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    soft = hard if size is None or size >= _MOST else size
    if hard != resource.RLIM_INFINITY and soft != hard:
        soft = min(soft, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
