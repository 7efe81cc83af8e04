"""The checks' side of the process boundary: calls and probes with a deadline, in a worker that may be lost.

A worker that was ended at its deadline or died is replaced by the next call, so a hanging or dying reward
costs one answer and never the rest of the checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rewards.errors import WorkerDied, WorkerTimeout

if TYPE_CHECKING:
    from rewards.contract import Batch, CallResult
    from rewards.rewardset import SetDescription
    from rewards.running import Runner, Worker


class Bench:
    """Runs a target's rewards and our probes in a worker process.

    Args:
        runner: starts the workers.
        target: the target string they load.
        batch: the samples' rows, inherited by each worker; None without samples.
    """

    def __init__(self, runner: Runner, target: str, batch: Batch | None) -> None:
        self._runner = runner
        self._target = target
        self._batch = batch
        self._worker: Worker | None = None

    @property
    def target(self) -> str:
        """The target that the workers load."""
        return self._target

    @property
    def description(self) -> SetDescription:
        """The loaded set, without its functions; LoadError, TargetError where it cannot be loaded."""
        return self._ready().description

    def call(
        self, reward: str, batch: Batch | None = None, *, rows: Sequence[int] | None = None, timeout_s: float
    ) -> CallResult:
        """One call of a reward over `batch` (None: the samples' rows); `timeout_s` is for each row.

        Rows that raise, hang or end the process are told apart from their neighbours in the status.
        """
        chosen = list(rows) if rows is not None else None
        return self._ready().call(reward, batch, rows=chosen, timeout_s=timeout_s)

    def probe(self, function: str, *, timeout_s: float, **arguments: Any) -> Any:
        """Run `module:function` in the worker and return its value.

        Raises:
            WorkerTimeout, WorkerDied: the reward hung or ended the process; the worker is replaced.
            WorkerError: the probe itself failed.
        """
        try:
            return self._ready().run(function, timeout_s=timeout_s, **arguments)
        except (WorkerTimeout, WorkerDied):
            self.renew()
            raise

    def renew(self) -> None:
        """End the worker; the next call starts from freshly loaded code, without what earlier calls left."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None

    close = renew

    def _ready(self) -> Worker:
        if self._worker is None:
            self._worker = self._runner.worker(self._target, self._batch)
        return self._worker


__all__ = ["Bench"]
