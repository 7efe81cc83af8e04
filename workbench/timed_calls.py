"""Rows of a reward called one by one in a worker, with the time of each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rewards.contract import CallResult, merge_results
from rewards.errors import WorkerError
from rewards.running.child import call_reward, decode_result, encode_result

if TYPE_CHECKING:
    from rewards.running import Worker

SECONDS_EACH = "\0seconds"
"""The name under which `CallResult.extra` has the seconds of each row, infinite for rows on which it printed."""

ALLOWANCE_S = 0.02
"""Seconds each row adds to the deadline, as in a whole call."""

_HERE = "workbench.timed_calls:rows_in_worker"


def call_timed(worker: Worker, reward: str, rows: list[int]) -> CallResult:
    """As `worker.call`, but row by row; where the worker is lost on the way, an ordinary call without times."""
    if not worker.alive:
        worker.restart()
    limit = worker.description.reward(reward).timeout_s + ALLOWANCE_S * len(rows)
    try:
        return decode_result(worker.run(_HERE, timeout_s=limit, reward=reward, rows=rows))
    except WorkerError:
        return worker.call(reward, rows=rows)


def rows_in_worker(context: Any, reward: str, rows: list[int]) -> dict[str, Any]:
    """Runs in the worker."""
    results = [decode_result(call_reward(context, reward, rows=[row])) for row in rows]
    merged = merge_results(len(rows), (([place], result) for place, result in enumerate(results)))
    merged.extra[SECONDS_EACH] = [math.inf if result.printed else result.seconds for result in results]
    return encode_result(merged)
