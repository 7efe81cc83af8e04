"""The calls of one scoring, spread over worker processes.

Each reward and call is a task; tasks run in `jobs` processes at the same time and each process has the target
loaded on its own. A call is only split into parts where the reward *declares* that a score depends on its own
row alone (`scope = "row"` in the manifest or the mark): everything else is called with all rows at once, as in
training, whatever the number of processes. So the number of processes never changes a score.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rewards.contract import CallResult, merge_results
from rewards.rewardset import RewardDescription, SetDescription
from rewards.running import Runner, Worker
from workbench.timed_calls import call_timed

Progress = Callable[[str, int, int], None]
"""Called with a reward's name, the calls done and the calls to do."""

PARTS = 4
"""Parts a process gets of a call that may be split: small, so that an uneven one keeps nobody waiting."""

PATIENCE_S = 0.05
"""Seconds before a second process joins in: what is done by then is not worth loading the target again."""

SMALLEST_PART = 16
"""Rows below which a part is not worth a message."""


@dataclass(frozen=True)
class _Task:
    reward: str
    call: int
    part: int
    rows: list[int]
    whole: bool


def run_calls(
    runner: Runner,
    worker: Worker,
    description: SetDescription,
    calls: list[list[int]],
    *,
    left: Mapping[str, list[list[int]]] | None = None,
    apart: Collection[str] = (),
    jobs: int = 1,
    progress: Progress | None = None,
) -> dict[str, list[CallResult]]:
    """Every reward on every call; the results of each reward in the order of `calls`.

    Args:
        runner: forks further workers.
        worker: one that is there already; its rows are what `calls` numbers.
        description: the rewards to call.
        calls: row numbers of each call.
        left: for each reward, the rows of each call that are wanted; None: all.
        apart: rewards to call row by row, with the seconds of each (`workbench.timed_calls`).
        jobs: processes at the same time.
        progress: told after each task.
    """
    wanted = {name: left[name] if left is not None else calls for name in description.names}
    tasks = [
        task for reward in description.rewards for number, rows in enumerate(wanted[reward.name])
        for task in _tasks(reward, number, rows, jobs, whole=len(calls) == 1 and rows is calls[0])
    ]  # fmt: skip
    pending: queue.SimpleQueue[_Task] = queue.SimpleQueue()
    for task in tasks:
        pending.put(task)
    report = _Report(tasks, progress)
    results: dict[tuple[str, int, int], CallResult] = {}
    finished = threading.Event()

    def work(own: Worker) -> None:
        while True:
            try:
                task = pending.get_nowait()
            except queue.Empty:
                return
            if task.reward in apart:
                result = call_timed(own, task.reward, task.rows)
            else:
                result = own.call(task.reward, rows=None if task.whole else task.rows)
            results[task.reward, task.call, task.part] = result
            report.done(task.reward)

    def join_in() -> None:
        if not finished.wait(PATIENCE_S) and not pending.empty():
            with runner.worker(worker.target, worker.batch) as own:
                work(own)

    extra = min(jobs, len(tasks)) - 1
    if extra <= 0:
        work(worker)
    else:
        with ThreadPoolExecutor(extra) as pool:
            helpers = [pool.submit(join_in) for _ in range(extra)]
            try:
                work(worker)
            finally:
                finished.set()
            for helper in helpers:
                helper.result()
    return _joined(wanted, tasks, results)


def _tasks(reward: RewardDescription, call: int, rows: list[int], jobs: int, *, whole: bool) -> list[_Task]:
    if not rows:
        return []
    splits = reward.entry.scope == "row" and "scope" in reward.declared
    parts = min(jobs * PARTS, len(rows) // SMALLEST_PART) if splits and jobs > 1 else 1
    if parts <= 1:
        return [_Task(reward.name, call, 0, rows, whole)]
    bounds = [len(rows) * part // parts for part in range(parts + 1)]
    return [
        _Task(reward.name, call, part, rows[bounds[part] : bounds[part + 1]], False) for part in range(parts)
    ]


def _joined(
    wanted: Mapping[str, list[list[int]]],
    tasks: list[_Task],
    results: dict[tuple[str, int, int], CallResult],
) -> dict[str, list[CallResult]]:
    own: dict[str, list[list[_Task]]] = {name: [[] for _ in calls] for name, calls in wanted.items()}
    for task in tasks:
        own[task.reward][task.call].append(task)
    return {
        name: [_whole(rows, parts, results) for rows, parts in zip(wanted[name], by_call, strict=True)]
        for name, by_call in own.items()
    }


def _whole(
    rows: list[int], tasks: list[_Task], results: dict[tuple[str, int, int], CallResult]
) -> CallResult:
    found = [results[task.reward, task.call, task.part] for task in tasks]
    if len(found) == 1:
        return found[0]
    ends = list(itertools.accumulate(len(task.rows) for task in tasks))
    positions = [list(range(end - len(task.rows), end)) for task, end in zip(tasks, ends, strict=True)]
    return merge_results(len(rows), zip(positions, found, strict=True))


class _Report:
    """Counts finished tasks of each reward and tells them, one thread at a time."""

    def __init__(self, tasks: list[_Task], progress: Progress | None) -> None:
        self.total: dict[str, int] = {}
        for task in tasks:
            self.total[task.reward] = self.total.get(task.reward, 0) + 1
        self.finished = dict.fromkeys(self.total, 0)
        self.progress = progress
        self.lock = threading.Lock()
        for name in self.total:
            self._tell(name)

    def done(self, name: str) -> None:
        with self.lock:
            self.finished[name] += 1
            self._tell(name)

    def _tell(self, name: str) -> None:
        if self.progress is not None:
            self.progress(name, self.finished[name], self.total[name])
