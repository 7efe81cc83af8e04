"""The calls of one scoring, spread over worker processes.

Each reward and call is a task; tasks run in `jobs` processes at the same time and each process has the target
loaded on its own. A call is only split into parts where the reward *declares* that a score depends on its own
row alone (`scope = "row"` in the manifest or the mark): everything else is called with all rows at once, as in
training, whatever the number of processes. A reward that keeps something between its calls, or shares it with
others, is called in one process, in order (`rewards.running.sharing`). So the number of processes never changes
a score.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rewards.contract import Batch, CallResult, merge_results
from rewards.rewardset import RewardDescription, SetDescription
from rewards.running import GivenUp, Runner, Worker
from rewards.running.sharing import chains, state_of
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
    state = state_of(worker) if jobs > 1 else dict.fromkeys(description.names, frozenset[str]())
    tasks = [
        task for reward in description.rewards for number, rows in enumerate(wanted[reward.name])
        for task in _tasks(
            reward, number, rows, 1 if state[reward.name] else jobs, whole=len(calls) == 1 and rows is calls[0]
        )
    ]  # fmt: skip
    work = _Work(_in_chains(tasks, description.names, state), apart, _Report(tasks, progress))
    extra = min(jobs, work.pending.qsize()) - 1
    if extra <= 0:
        work.go_on(worker)
    else:
        _share_out(work, runner, worker, extra)
    return _joined(wanted, tasks, work.results)


def _share_out(work: _Work, runner: Runner, worker: Worker, extra: int) -> None:
    """Do the work in `worker` and in up to `extra` more; whatever ends it early ends their processes too."""
    with ThreadPoolExecutor(extra) as pool:
        helpers = [pool.submit(work.join_in, runner, worker.target, worker.batch) for _ in range(extra)]
        try:
            work.go_on(worker)
            work.finished.set()
            for helper in helpers:
                helper.result()
        except BaseException:
            work.stop()
            raise


class _Work:
    """What is to be done, and what was done; for several threads, each with a worker of its own."""

    def __init__(self, units: list[list[_Task]], apart: Collection[str], report: _Report) -> None:
        self.pending: queue.SimpleQueue[list[_Task]] = queue.SimpleQueue()
        for unit in units:
            self.pending.put(unit)
        self.apart = apart
        self.report = report
        self.results: dict[tuple[str, int, int], CallResult] = {}
        self.finished = threading.Event()
        self._lock = threading.Lock()
        self._helpers: set[Worker] = set()
        self._stopped = False

    def go_on(self, worker: Worker) -> None:
        """Take what is pending, unit by unit, until there is none."""
        while not self._stopped:
            try:
                unit = self.pending.get_nowait()
            except queue.Empty:
                return
            for task in unit:
                if task.reward in self.apart:
                    result = call_timed(worker, task.reward, task.rows)
                else:
                    result = worker.call(task.reward, rows=None if task.whole else task.rows)
                self.results[task.reward, task.call, task.part] = result
                self.report.done(task.reward)

    def join_in(self, runner: Runner, target: str, batch: Batch) -> None:
        """Go on in a process of its own, unless all is done soon."""
        if self.finished.wait(PATIENCE_S) or self.pending.empty():
            return
        with runner.worker(target, batch) as own:
            with self._lock:
                self._helpers.add(own)
            try:
                self.go_on(own)
            except GivenUp:
                return
            finally:
                with self._lock:
                    self._helpers.discard(own)

    def stop(self) -> None:
        """Nothing more is begun, and what the helpers are at is ended."""
        with self._lock:
            self._stopped = True
            self.finished.set()
            for helper in self._helpers:
                helper.give_up()


def _in_chains(
    tasks: list[_Task], names: Sequence[str], state: Mapping[str, frozenset[str]]
) -> list[list[_Task]]:
    """The tasks as units: those of rewards that keep something stay together and in order, others are free."""
    units: list[list[_Task]] = []
    for chain in chains(names, state):
        own = [task for task in tasks if task.reward in chain]
        units += [own] if state[chain[0]] and own else [[task] for task in own]
    return units


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
