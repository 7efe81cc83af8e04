"""A crew: one lasting worker process for each reward, called together, for training.

The time of a call is that of the slowest reward, not the sum. Rewards that keep something together
(`rewards.running.sharing`) have one process, in which they are called in order, as the trainer would.

A process keeps what a reward keeps between calls (a cache, a schedule), as it would in the trainer itself; one that
hung or died is replaced by a fresh one. Everything a reward says crosses the boundary: scores, errors, credits,
`log_extra`, `log_metric`, what it prints; and the trainer's live state crosses the other way.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from rewards.contract import Batch, CallResult
from rewards.rewardset import SetDescription
from rewards.running.child import StateUpdate
from rewards.running.runner import Runner
from rewards.running.sharing import chains, state_of
from rewards.running.worker import Worker


@dataclass
class _Post:
    """One reward's worker and how much of the trainer's log it knows."""

    worker: Worker
    known: int = 0
    generation: int = 0


class Crew:
    """Workers for the rewards of a target. A context manager.

    Args:
        target: see `rewards.targets`.
        names: the rewards to call, in the order of the results; none: all of them.
        runner: forks the workers; None: a spawned template of its own.

    Raises:
        LoadError, TargetError, ManifestError: the target cannot be loaded.
    """

    def __init__(
        self, target: str | Path, names: Sequence[str] = (), *, runner: Runner | None = None
    ) -> None:
        self._stack = ExitStack()
        try:
            own = runner or self._stack.enter_context(Runner(spawn=True))
            first = self._stack.enter_context(own.worker(target))
            self.description: SetDescription = first.description
            self.names = list(names) or self.description.names
            for name in self.names:
                self.description.reward(name)
            self._chains = chains(self.names, state_of(first))
            self._pool = self._stack.enter_context(ThreadPoolExecutor(len(self._chains), "rewards"))
            others = [self._pool.submit(own.worker, target) for _ in self._chains[1:]]
            workers = [first, *(self._stack.enter_context(other.result()) for other in others)]
            self._posts: dict[str, _Post] = {}
            for chain, worker in zip(self._chains, workers, strict=True):
                self._posts.update(dict.fromkeys(chain, _Post(worker)))
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all processes."""
        self._stack.close()

    def call_all(
        self, batch: Batch, trainer_state: Any = None, *, record_credits: bool = True
    ) -> list[CallResult]:
        """Every reward once with `batch`, all at the same time; results in the order of `names`.

        Never raises for what a reward does. `trainer_state` is TRL's live state, None outside training.
        """
        calls = [
            self._pool.submit(self._call_chain, chain, batch, trainer_state, record_credits)
            for chain in self._chains
        ]
        results = {name: result for call in calls for name, result in call.result().items()}
        return [results[name] for name in self.names]

    def _call_chain(
        self, chain: list[str], batch: Batch, trainer_state: Any, record_credits: bool
    ) -> dict[str, CallResult]:
        return {name: self._call(name, batch, trainer_state, record_credits) for name in chain}

    def _call(self, name: str, batch: Batch, trainer_state: Any, record_credits: bool) -> CallResult:
        post = self._posts[name]
        update = None if trainer_state is None else functools.partial(self._update, post, trainer_state)
        return post.worker.call(name, batch, trainer_state=update, record_credits=record_credits)

    @staticmethod
    def _update(post: _Post, state: Any, fresh: bool) -> StateUpdate:
        if fresh:
            return StateUpdate(plain_fields(state), 0, list(getattr(state, "log_history", ())))
        if post.generation != post.worker.generation:  # a fresh process knows nothing yet
            post.known, post.generation = 0, post.worker.generation
        history = list(getattr(state, "log_history", ()))
        known = min(post.known, len(history))
        post.known = len(history)
        return StateUpdate(plain_fields(state), known, history[known:])


def plain_fields(state: Any) -> dict[str, Any]:
    """The attributes of a trainer's state that are plain numbers, texts or truth values."""
    return {
        name: value
        for name, value in vars(state).items()
        if not name.startswith("_") and (value is None or isinstance(value, (bool, int, float, str)))
    }
