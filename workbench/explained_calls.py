"""The calls that explanations are of: first scored under the deadlines of `score`, then traced under longer ones.

What `score` says is what `explain` says. Where the explaining process makes the call in time, its own scores are
those; where the call hangs or ends the process, it is made as `score` makes it, which finds the rows at fault. Those
are not called again, and the others are traced in a call without them. A trace that is lost costs no score.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from rewards.contract import CallResult, Status, failed_result
from rewards.errors import WorkerDied, WorkerError, WorkerTimeout
from rewards.rewardset import RewardDescription
from rewards.running import Worker
from rewards.running.calling import ROW_ALLOWANCE_S, read_result
from rewards.running.runner import load_timeout
from rewards.tracing.explaining import SLOWER
from rewards.tracing.explanation import RewardExplanation, strict

EXPLAINER = "rewards.tracing.explaining:explain_in_worker"

TRACING_S = 20.0
"""Seconds a trace may take on top of `SLOWER` times the call, once for the row alone and once inside the call."""

TRACES_LOST = 3
"""Rows of one call whose traces were lost after which the others are not traced."""

_LOST = (Status.TIMEOUT, Status.DIED)


@dataclass
class _Call:
    """One reward on rows that are called together.

    `result` is what `score` gives; `rows` are those of them that hang or end nothing; `seconds` is what the explaining
    process `generation` took for a call with those; `lost` counts traces, `why` says why no more is made.
    """

    reward: RewardDescription
    result: CallResult
    places: dict[int, int]
    rows: list[int]
    seconds: float = 0.0
    generation: int = 0
    lost: int = 0
    why: str | None = None


class Calls:
    """Explains rows of a worker; every call is scored once, however many of its rows are asked for.

    Args:
        worker: holds the target and the rows.
        explainer: the function that explains inside the worker; `load_in_worker` and `scores_in_worker` stand beside.
    """

    def __init__(self, worker: Worker, explainer: str = EXPLAINER) -> None:
        self.worker = worker
        self._explainer = explainer
        self._module = explainer.partition(":")[0]
        self._known: dict[tuple[str, int, int], _Call] = {}
        self._generation = 0
        self._loading_s = 0.0
        self._not_loaded: str | None = None

    def scored(self, reward: RewardDescription, together: list[int]) -> CallResult:
        """What `score` gives for a reward on rows that are called together."""
        return self._call(reward, together).result

    def explain(self, reward: RewardDescription, row: int, together: list[int]) -> RewardExplanation:
        """One reward on one row; `together` are the rows that are called with it."""
        call = self._call(reward, together)
        at = call.places[row]
        if call.result.status[at] in _LOST:
            return _untraced(call, at)
        why = call.why or self._called(call)
        if why is not None:
            return _untraced(call, at, why)
        seconds = float(round(TRACING_S + self._loading_s + 2 * SLOWER * call.seconds))
        try:
            answer = self.worker.run(
                self._explainer, timeout_s=seconds, reward=reward.name, row=row, rows=self._rows(call.rows)
            )
        except WorkerError as error:
            call.lost += 1
            why = f"there are no credits: the recorded call {_ending(error, seconds)}"
            call.why = why if call.lost >= TRACES_LOST else None
            return _untraced(call, at, why)
        explained = RewardExplanation.from_json(answer)
        bare = _untraced(call, at, "the recorded call did not give this score")
        return explained if explained.score == bare.score else bare

    def _call(self, reward: RewardDescription, together: list[int]) -> _Call:
        key = (reward.name, together[0], len(together))  # no row is called with others than these
        if key not in self._known:
            self._known[key] = self._made(reward, together)
        return self._known[key]

    def _made(self, reward: RewardDescription, together: list[int]) -> _Call:
        """Score a call: in the explaining process where that is done soon, else as `score` does."""
        places = {row: at for at, row in enumerate(together)}
        most = reward.timeout_s * len(together)
        soon = reward.timeout_s + ROW_ALLOWANCE_S * len(together)
        if reward.entry.cost == "paid":  # so that it is not paid for twice
            soon = most
        why = self._loaded()
        result = None
        if why is None:
            try:
                result = self._plain(reward, together, min(most, soon))
                return _Call(reward, result, places, together, result.seconds, self.worker.generation)
            except (WorkerTimeout, WorkerDied) as error:
                if len(together) == 1:
                    status = Status.TIMEOUT if isinstance(error, WorkerTimeout) else Status.DIED
                    result = failed_result(1, status, _ending(error, most), seconds=most)
            except WorkerError:
                pass  # what it is, the ordinary call tells
        if result is None:
            result = self.worker.call(reward.name, rows=self._rows(together))
        rows = [row for row, status in zip(together, result.status, strict=True) if status not in _LOST]
        return _Call(reward, result, places, rows, why=why)

    def _called(self, call: _Call) -> str | None:
        """See that the explaining process has made this call, without the rows at fault; why it has not, else None."""
        why = self._loaded()
        if why is not None or call.generation == self.worker.generation:
            return why
        most = call.reward.timeout_s * len(call.rows)
        try:
            call.seconds = self._plain(call.reward, call.rows, most).seconds
        except WorkerError as error:
            call.why = f"there are no credits: called once more, it {_ending(error, most)}"
            return call.why
        call.generation = self.worker.generation
        return None

    def _loaded(self) -> str | None:
        """See that the worker's process has loaded the target for explaining; why it has not, else None."""
        if not self.worker.alive:
            self.worker.restart()
        if self._not_loaded is None and self._generation != self.worker.generation:
            began, most = time.monotonic(), 2 * load_timeout()  # it is loaded twice
            try:
                self.worker.run(f"{self._module}:load_in_worker", timeout_s=most)
                self._generation, self._loading_s = self.worker.generation, time.monotonic() - began
            except WorkerError as error:
                self._not_loaded = f"there are no credits: loading the file once more {_ending(error, most)}"
        return self._not_loaded

    def _plain(self, reward: RewardDescription, rows: list[int], seconds: float) -> CallResult:
        """A call that is not recorded, in the explaining process."""
        answer = self.worker.run(
            f"{self._module}:scores_in_worker", timeout_s=seconds, reward=reward.name, rows=self._rows(rows)
        )
        return read_result(self.worker, answer, len(rows))

    def _rows(self, rows: list[int]) -> list[int] | None:
        return None if len(rows) == len(self.worker.batch) else rows


def _untraced(call: _Call, at: int, *notes: str) -> RewardExplanation:
    """The score, or the failure, and nothing of how it came about."""
    status = Status(int(call.result.status[at]))
    number = None if status.failed or status == Status.ABSTAINED else strict(float(call.result.scores[at]))
    return RewardExplanation(
        name=call.reward.name,
        score=number,
        credits=(),
        lines=(),
        exact=False,
        error=call.result.errors.get(at),
        notes=notes,
    )


def _ending(error: WorkerError, seconds: float) -> str:
    if isinstance(error, WorkerTimeout):
        return f"took over {seconds:g} s and was ended"
    if isinstance(error, WorkerDied):
        return f"ended its process: {error}"
    return f"failed: {error}"
