"""Calls with deadlines that lose no row.

A whole call that hangs or kills its process says nothing about which row did it. The process is replaced and
the rows are called one by one (groups whole where a reward compares them); the row that hangs or kills is
named, its neighbours keep their scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rewards.contract import Batch, CallResult, Status, failed_result, merge_results
from rewards.errors import WorkerDied, WorkerError, WorkerTimeout
from rewards.running.child import decode_result

if TYPE_CHECKING:
    from rewards.running.runner import Worker

ROW_ALLOWANCE_S = 0.02
"""Seconds a whole call gets for each row, on top of the deadline of one completion."""

GIVE_UP_AFTER = 4
"""Timeouts in a row after which the remaining rows are not tried any more."""

_CALL = "rewards.running.child:call_reward"


def call_with_deadlines(
    worker: Worker,
    reward: str,
    batch: Batch | None,
    rows: list[int] | None,
    *,
    timeout_s: float | None,
    **options: Any,
) -> CallResult:
    """See `Worker.call`."""
    description = worker.description.reward(reward)
    limit = timeout_s if timeout_s is not None else description.timeout_s
    numbers = rows if rows is not None else list(range(len(batch if batch is not None else worker.batch)))
    source = batch if batch is not None else worker.batch
    if not worker.alive:
        worker.restart()
    try:
        return _ask(worker, reward, batch, rows, limit + ROW_ALLOWANCE_S * len(numbers), options)
    except WorkerError as error:
        if len(numbers) <= 1:
            return _failure(error, len(numbers), limit)
    units = _units(source, numbers, description.entry.scope)
    return _one_by_one(worker, reward, batch, numbers, units, limit, options)


def _ask(
    worker: Worker,
    reward: str,
    batch: Batch | None,
    rows: list[int] | None,
    limit: float,
    options: dict[str, Any],
) -> CallResult:
    if not worker.alive:
        worker.restart()
    if batch is not None:
        batch, rows = (batch if rows is None else batch.rows(rows)), None
    state = options.get("trainer_state")
    if callable(state):  # what a process has to be told depends on what it knows, and it may be a fresh one
        options = {**options, "trainer_state": state()}
    answer = worker.run(_CALL, timeout_s=limit, reward=reward, rows=rows, batch=batch, **options)
    return decode_result(answer)


def _units(source: Batch, numbers: list[int], scope: str) -> list[list[int]]:
    """Positions among `numbers` that have to stay in one call."""
    if scope != "group" or not source.groups:
        return [[position] for position in range(len(numbers))]
    units: dict[str, list[int]] = {}
    for position, number in enumerate(numbers):
        units.setdefault(source.groups[number], []).append(position)
    return list(units.values())


def _one_by_one(
    worker: Worker,
    reward: str,
    batch: Batch | None,
    numbers: list[int],
    units: list[list[int]],
    limit: float,
    options: dict[str, Any],
) -> CallResult:
    parts: list[tuple[list[int], CallResult]] = []
    timeouts = 0
    for unit in units:
        if timeouts >= GIVE_UP_AFTER:
            why = f"not run: {GIVE_UP_AFTER} calls in a row took over {limit:g} s"
            parts.append((unit, failed_result(len(unit), Status.TIMEOUT, why)))
            continue
        try:
            rows = [numbers[position] for position in unit]
            parts.append((unit, _ask(worker, reward, batch, rows, limit * len(unit), options)))
            timeouts = 0
        except WorkerError as error:
            parts.append((unit, _failure(error, len(unit), limit)))
            timeouts = timeouts + 1 if isinstance(error, WorkerTimeout) else 0
    return merge_results(len(numbers), parts)


def _failure(error: WorkerError, rows: int, limit: float) -> CallResult:
    if isinstance(error, WorkerTimeout):
        return failed_result(rows, Status.TIMEOUT, f"took over {limit:g} s and was ended", seconds=limit)
    if isinstance(error, WorkerDied):
        return failed_result(rows, Status.DIED, f"ended its process: {error}")
    return failed_result(rows, Status.RAISED, f"{error.kind}: {error}")
