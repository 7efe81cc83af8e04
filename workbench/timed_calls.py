"""Rows of a reward called one by one in a worker, with the time of each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rewards.contract import CallResult, merge_results
from rewards.running.calling import call_alone

if TYPE_CHECKING:
    from rewards.running import Worker

SECONDS_EACH = "\0seconds"
"""The name under which `CallResult.extra` has the seconds of each row, infinite for rows on which it printed."""


def call_timed(worker: Worker, reward: str, rows: list[int]) -> CallResult:
    """As `worker.call` for a reward that declares `scope = "row"`, but row by row."""
    results = call_alone(worker, reward, rows)
    merged = merge_results(len(rows), (([place], result) for place, result in enumerate(results)))
    merged.extra[SECONDS_EACH] = [math.inf if result.printed else result.seconds for result in results]
    return merged
