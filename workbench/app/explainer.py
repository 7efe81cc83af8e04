"""Partial credit of single rows from a process that stays warm while one version of the code is shown.

The first row of a version pays for loading it, the next ones take milliseconds. One thread at a time explains;
`stop` may come from any, and a row that takes long makes way for the next one asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rewards.running import Runner, Worker
from workbench.app.leash import Leash
from workbench.samples import Samples
from workbench.tokenizing import Tokenizer

if TYPE_CHECKING:
    from workbench.explained_calls import Calls

PATIENCE_S = 0.4
"""Seconds a row under way is waited for before it makes way."""


@dataclass(frozen=True)
class _Warm:
    target: str
    worker: Worker
    calls: dict[int, list[int]]
    known: Calls


class Explainer:
    """Explains rows of the target it was asked for last without loading it again."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._leash = Leash(runner)
        self._warm: _Warm | None = None
        self._busy = threading.Lock()

    def explain(
        self, target: str, samples: Samples, row: int, tokenizer: Tokenizer | None
    ) -> Mapping[str, Any]:
        """The row as `explain --format json` prints it.

        Raises:
            RewardWorkbenchError: the target cannot be loaded.
            Stopped: `stop` was called meanwhile.
        """
        with self._turn():
            if self._warm is None or self._warm.target != target or self._leash.is_cut:
                self._discard()
                self._leash = Leash(self._runner)
            leash = self._leash
            with leash.watched():
                warm = self._warm or self._load(leash, target, samples, tokenizer)
                rewards = [
                    warm.known.explain(reward, row, warm.calls[row]).to_json()
                    for reward in warm.worker.description.rewards
                ]
        return {"row": row, "rewards": rewards}

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for a row under way, not long: whoever asked for it has gone on to another."""
        if not self._busy.acquire(timeout=PATIENCE_S):
            self.stop()
            self._busy.acquire()
        try:
            yield
        finally:
            self._busy.release()

    def _load(self, leash: Leash, target: str, samples: Samples, tokenizer: Tokenizer | None) -> _Warm:
        from workbench.explained_calls import Calls

        worker = leash.worker(target, samples.batch(tokenizer))
        calls = {number: rows for rows in samples.step_rows() for number in rows}
        self._warm = _Warm(target, worker, calls, Calls(worker))
        return self._warm

    def _discard(self) -> None:
        warm, self._warm = self._warm, None
        if warm is not None:
            warm.worker.kill()

    def stop(self) -> None:
        """End an explanation under way; the next row starts a new process."""
        self._leash.cut()

    def close(self) -> None:
        """End the process."""
        self.stop()
        with self._busy:
            self._discard()
