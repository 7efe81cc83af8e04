"""A crew: one lasting worker process for each reward, called together, for training.

The time of a call is that of the slowest reward, not the sum. Rewards that keep something together
(`rewards.running.sharing`) have one process, in which they are called in order, as the trainer would. Rewards that keep
nothing and turn out to take next to no time share one request: waking a process costs more than they do.

A process keeps what a reward keeps between calls (a cache, a schedule), as it would in the trainer itself; one that
hung or died is replaced by a fresh one. Everything a reward says crosses the boundary: scores, errors, credits,
`log_extra`, `log_metric`, what it prints; and the trainer's live state crosses the other way.
"""

from __future__ import annotations

import functools
import pickle
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from rewards.contract import Batch, CallResult
from rewards.errors import ShortfallError, WorkerError
from rewards.rewardset import SetDescription
from rewards.running.calling import PendingCall, read_result
from rewards.running.child import StateUpdate
from rewards.running.runner import Runner
from rewards.running.sharing import chains, state_of
from rewards.running.worker import Worker

AT_ONCE_S = 0.05
"""Seconds in which most rewards have answered: only for those that take longer a thread is worth its wakening."""

QUICK_S = 0.002
"""A call that takes less is over before a process of its own has woken up."""

QUICK_CALLS = 3
"""Calls in a row that were quick, until a reward is called together with other quick ones."""

_CALLS = "rewards.running.child:call_rewards"


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
            state = state_of(first)
            self._chains = chains(self.names, state)
            self._quick_calls = {name: 0 for name in self.names if not state[name]}
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
        chains = [
            self._pool.submit(self._call_chain, chain, batch, trainer_state, record_credits)
            for chain in self._chains
            if len(chain) > 1
        ]
        quick = [name for name, calls in self._quick_calls.items() if calls >= QUICK_CALLS]
        alone = [chain[0] for chain in self._chains if len(chain) == 1]
        if len(quick) < 2:
            quick = []
        begun = self._begin_all(
            [name for name in alone if name not in quick], batch, trainer_state, record_credits
        )
        together = self._call_together(quick, batch, trainer_state, record_credits) if quick else {}
        if together is None:
            self._quick_calls.clear()  # it may happen again: from now on each is called alone
            together = self._results(self._begin_all(quick, batch, trainer_state, record_credits))
        results = {**self._results(begun), **together}
        for chain in chains:
            results.update(chain.result())
        self._same_code()
        for name, calls in self._quick_calls.items():
            self._quick_calls[name] = calls + 1 if results[name].seconds < QUICK_S else 0
        return [results[name] for name in self.names]

    def _call_together(
        self, names: list[str], batch: Batch, trainer_state: Any, record_credits: bool
    ) -> dict[str, CallResult] | None:
        """Several rewards in one process and one request; None where it went wrong, whatever it was.

        Each gets rows of its own, so that one that changes them does so for itself, as it does in its own process.
        """
        post = self._posts[names[0]]
        patience = max(self.description.reward(name).timeout_s for name in names)
        if not post.worker.alive:
            return None
        state = None if trainer_state is None else self._update(post, trainer_state, fresh=False)
        try:
            post.worker.begin(
                _CALLS,
                timeout_s=patience,
                rewards=names,
                rows=pickle.dumps(batch, protocol=pickle.HIGHEST_PROTOCOL),
                trainer_state=state,
                record_credits=record_credits,
            )
            answers = post.worker.answer(patience)
            return {name: read_result(post.worker, answers[name], len(batch)) for name in names}
        except (WorkerError, LookupError, TypeError):  # it hangs, died, or answered what is no answer
            post.worker.kill()
            return None

    def _begin_all(
        self, names: Sequence[str], batch: Batch, trainer_state: Any, record_credits: bool
    ) -> dict[str, PendingCall]:
        return {name: self._begin(name, batch, trainer_state, record_credits) for name in names}

    def _results(self, begun: dict[str, PendingCall]) -> dict[str, CallResult]:
        """The results of calls that go on at the same time; an answer that is there at once needs no thread."""
        until = time.monotonic() + AT_ONCE_S
        results: dict[str, CallResult] = {}
        later: dict[str, Future[CallResult]] = {}
        for name, call in begun.items():
            if call.answered(until):
                results[name] = call.result()
            else:
                later[name] = self._pool.submit(call.result)
        return {**results, **{name: result.result() for name, result in later.items()}}

    def _same_code(self) -> None:
        """ShortfallError where a process that was replaced has read other code than the run began with."""
        for name, post in self._posts.items():
            if post.worker.loaded.fingerprint != self.description.fingerprint:
                raise ShortfallError(
                    f"the process of reward '{name}' had to be replaced, and the reward set {post.worker.target} has "
                    "changed since the run began: put its files back as they were and resume, or start again"
                )

    def _call_chain(
        self, chain: list[str], batch: Batch, trainer_state: Any, record_credits: bool
    ) -> dict[str, CallResult]:
        return {name: self._begin(name, batch, trainer_state, record_credits).result() for name in chain}

    def _begin(self, name: str, batch: Batch, trainer_state: Any, record_credits: bool) -> PendingCall:
        post = self._posts[name]
        update = None if trainer_state is None else functools.partial(self._update, post, trainer_state)
        return post.worker.begin_call(name, batch, trainer_state=update, record_credits=record_credits)

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
