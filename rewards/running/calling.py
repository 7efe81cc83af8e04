"""Calls with deadlines that lose no row and change no score.

A reward is called as in training: once, with all rows. A whole call may take as long as its rows may together
(`timeout_s` for each), so a slow reward is left to finish. Where it takes suspiciously long, or ended its process,
the rows are looked at one by one (groups whole where a reward compares them), each with a deadline of its own: in
a second process while the first goes on. A row that hangs or ends the process alone is at fault.

What the others get depends on what the reward declares. With `scope = "row"` (or "group") a row's (a group's) score
is its own affair, and what it got alone is its score. Without a declaration the others are called together once
more, without the rows at fault: a reward that compares rows still sees them all, and a note says so.
"""

from __future__ import annotations

import contextlib
import socket
import time
from typing import TYPE_CHECKING, Any

from rewards.contract import Batch, CallResult, Status, failed_result, merge_results
from rewards.errors import RewardWorkbenchError, WorkerDied, WorkerError, WorkerTimeout
from rewards.repeating import calling_scope, units_of, without_the_failed
from rewards.running.child import decode_result
from rewards.running.worker import wait_for

if TYPE_CHECKING:
    from rewards.running.worker import Worker

ROW_ALLOWANCE_S = 0.02
"""Seconds for each row, on top of the deadline of one completion, after which a whole call is looked into."""

GIVE_UP_AFTER = 6
"""Rows, spread over the call, that have to hang before any was scored until others only get short turns."""

SHORT_TURNS = 100
"""Rows that get a short turn, in no more time than the first ones had; the rest is not tried if none is scored."""

SHORT = 50
"""A short turn is this part of a row's time, and 50 ms at least: a row that does not hang is mostly quick."""

_LAST = max(Status)

_CALL = "rewards.running.child:call_reward"
_CALL_UNITS = "rewards.running.child:call_units"


def call_alone(worker: Worker, reward: str, rows: list[int]) -> list[CallResult]:
    """Each of a worker's rows in a call of its own, each with its deadline; results in the order of `rows`."""
    call = PendingCall(worker, reward, None, rows, None, {})
    search = _Search(call, worker, [[position] for position in range(len(rows))], in_order=True)
    search.finish()
    return [search.outcomes[position] for position in range(len(rows))]


class PendingCall:
    """One call to a reward, and what it takes to give every row its score or its fault.

    `begin` sends it, `result` waits for what comes of it; both do what `Worker.call` says.
    """

    def __init__(
        self,
        worker: Worker,
        reward: str,
        batch: Batch | None,
        rows: list[int] | None,
        timeout_s: float | None,
        options: dict[str, Any],
    ) -> None:
        self.worker = worker
        self.reward = reward
        self.batch = batch
        self.rows = rows
        self.options = options
        self.source = batch if batch is not None else worker.batch
        self.numbers = rows if rows is not None else list(range(len(self.source)))
        description = worker.description.reward(reward)
        self.entry = description.entry
        self.limit = timeout_s if timeout_s is not None else description.timeout_s
        self.scope = calling_scope(description.entry.scope, description.declared)
        self._refused: WorkerError | None = None

    def begin(self) -> PendingCall:
        """Send the request. Its worker can do nothing else until `result` has given the answer."""
        try:
            self.ask(self.rows)
        except WorkerError as error:  # the process is gone: `result` finds out why
            self._refused = error
        return self

    def answered(self, until: float) -> bool:
        """Whether there is an answer that only has to be read; waits for it until `until` (of `time.monotonic`)."""
        if not self.worker.alive or not wait_for(self.worker.sockets, until):
            return False
        try:
            return bool(self.worker.sockets[0].recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except OSError:  # nothing to read: its process has ended
            return False

    def result(self) -> CallResult:
        """The result of what was begun."""
        number = len(self.numbers)
        search: _Search | None = None
        try:
            try:
                if self._refused is not None:
                    raise self._refused
                if number > 1 and self._seems_stuck():
                    search = self._search_beside()
                if search is None:
                    return read_result(self.worker, self.worker.answer(self._most(number)), number)
                found = self._race(search)
                if found is not None:
                    return found
            except WorkerError as error:
                if number <= 1:
                    return _failure(error, number, self.limit)
                if search is not None and search.done and self.scope == "call":
                    return _failure(error, number, self._most(number))  # no row hangs alone: all of them do
            search = search or _Search(self, self.worker, self._units())
            search.finish()
            search.close()
            return self._settled(search)
        finally:
            if search is not None:
                search.close()

    # ------------------------------------------------------------------------------------- one call

    def ask(self, rows: list[int] | None) -> None:
        """Send the request for a call with these rows of the source; None: all."""
        batch, given = self.batch, rows
        if batch is not None:
            batch, given = (batch if rows is None else batch.rows(rows)), None
        options = self.told(self.worker)
        self.worker.begin(
            _CALL, timeout_s=self._most(1), reward=self.reward, rows=given, batch=batch, **options
        )

    def told(self, worker: Worker) -> dict[str, Any]:
        """The options as this process needs them: what it has to be told depends on what it knows."""
        if not worker.alive:
            worker.restart()
        state = self.options.get("trainer_state")
        if not callable(state):
            return self.options
        return {**self.options, "trainer_state": state(worker is not self.worker)}

    def _most(self, rows: int) -> float:
        return self.limit * max(1, rows)

    # ------------------------------------------------------------------------------------- a slow one

    def _seems_stuck(self) -> bool:
        """Wait for as long as a call may take without being looked into; whether it is still at work then."""
        soft = self.limit + ROW_ALLOWANCE_S * len(self.numbers)
        until = time.monotonic() + min(soft, self._most(len(self.numbers)))
        return not wait_for(self.worker.sockets, until)

    def _search_beside(self) -> _Search | None:
        """A search in a second process; None where one would cost money or load a model a second time."""
        rewards = self.worker.description.rewards
        if self.entry.cost == "paid" or any(reward.entry.runs == "warm" for reward in rewards):
            return None
        try:
            return _Search(self, self.worker.sibling(self.source), self._units())
        except RewardWorkbenchError:  # it loads no more: the call itself may still end well
            return None

    def _race(self, search: _Search) -> CallResult | None:
        """Let the call and the search go on until one of them knows; None where a row is at fault.

        Raises:
            WorkerTimeout, WorkerDied: the call took longer than its rows may together, or ended its process.
        """
        most = self._most(len(self.numbers))
        end = time.monotonic() + most
        while not search.faults:
            if search.done and self.scope != "call":
                break
            until = end if search.done else min(end, search.deadline)
            ready = wait_for([*self.worker.sockets, *([] if search.done else search.worker.sockets)], until)
            if any(one in ready for one in self.worker.sockets):
                return read_result(self.worker, self.worker.answer(most), len(self.numbers))
            if time.monotonic() >= end:
                self.worker.kill()
                raise WorkerTimeout(f"no answer after {most:g} s", kind="WorkerTimeout")
            search.step()
        self.worker.kill()
        return None

    # ------------------------------------------------------------------------------------- what is left

    def _units(self) -> list[list[int]]:
        """Positions among the call's rows that have to stay in one call."""
        groups = [self.source.groups[number] for number in self.numbers] if self.source.groups else []
        return units_of(len(self.numbers), groups, self.scope)

    def _settled(self, search: _Search) -> CallResult:
        """The result where some rows may be at fault, all of which are known."""
        number = len(self.numbers)
        if self.scope != "call":
            return merge_results(number, ((search.units[at], one) for at, one in search.outcomes.items()))
        good = sorted(row for at in search.outcomes if at not in search.faults for row in search.units[at])
        parts = [(search.units[at], fault) for at, fault in search.faults.items()]
        if good:
            parts.append((good, self._together(good)))
        return without_the_failed(merge_results(number, parts), good)

    def _together(self, positions: list[int]) -> CallResult:
        most = self._most(len(positions))
        try:
            self.ask([self.numbers[position] for position in positions])
            return read_result(self.worker, self.worker.answer(most), len(positions))
        except WorkerError as error:
            return _failure(error, len(positions), most)


class _Search:
    """Calls units of rows one after another in a process, which tells of each; those that hang or end it are faults.

    `outcomes` has the result of each unit that was tried, by its number; `faults` those of them that are at fault.
    """

    def __init__(
        self, call: PendingCall, worker: Worker, units: list[list[int]], *, in_order: bool = False
    ) -> None:
        self.call = call
        self.worker = worker
        self.units = units
        self.left = list(range(len(units))) if in_order else _spread(len(units))
        self.outcomes: dict[int, CallResult] = {}
        self.faults: dict[int, CallResult] = {}
        self.deadline = 0.0
        self._asked = False
        self._timeouts = 0
        self._turns: int | None = None  # short turns that are left, None while there are none
        self._turns_end = 0.0
        self._put_off: list[int] = []

    @property
    def done(self) -> bool:
        """Whether every unit has its outcome."""
        return not self.left and not self._put_off

    def finish(self) -> None:
        """Go on until all is known."""
        while not self.done:
            self.step()

    def close(self) -> None:
        """End the process, where it is the search's own."""
        if self.worker is not self.call.worker:
            self.worker.kill()
            self.call.worker.helper = None

    def step(self) -> None:
        """Wait for the next outcome, at most until the deadline of the unit that is tried now."""
        if self.done:
            return
        try:
            if not self._asked:
                self._ask()
            part, last = self.worker.part(max(0.0, self.deadline - time.monotonic()))
            if last:
                raise WorkerDied("it ended before its rows did", code=0)
            self._learn(read_result(self.worker, part, len(self.units[self.left[0]])))
            self._read_the_end()
            if self._turns is not None:  # not all of them hang: those put off get their whole time
                self._turns, self.left, self._put_off = None, [*self.left, *self._put_off], []
                self._stop_asking()
            self._timeouts = 0
        except WorkerError as error:
            self._asked = False
            if self._turns is not None and isinstance(error, WorkerTimeout):
                self._put_off.append(self.left.pop(0))
                self._turns -= 1
            else:
                self._timeouts = self._timeouts + 1 if isinstance(error, WorkerTimeout) else 0
                at = self.left[0]
                self.faults[at] = _failure(error, len(self.units[at]), self._limit(at))
                self._learn(self.faults[at])
            self._consider_giving_up()

    def _read_the_end(self) -> None:
        """After the last unit that was asked for: so that the next answer is not taken for this one's end."""
        if self.left:
            return
        with contextlib.suppress(WorkerError):  # the process is gone, and every outcome is here
            if not self.worker.part(self.call.limit)[1]:
                self.worker.kill()

    def _ask(self) -> None:
        call = self.call
        units = [[call.numbers[position] for position in self.units[at]] for at in self.left]
        batch = None
        if call.batch is not None and self.worker is call.worker:
            chosen = [row for unit in units for row in unit]
            places = iter(range(len(chosen)))
            batch, units = call.batch.rows(chosen), [[next(places) for _ in unit] for unit in units]
        options = call.told(self.worker)
        self.worker.begin(
            _CALL_UNITS,
            timeout_s=self._limit(self.left[0]),
            reward=call.reward,
            units=units,
            batch=batch,
            **options,
        )
        self._asked = True
        self.deadline = time.monotonic() + self._limit(self.left[0])

    def _stop_asking(self) -> None:
        """Begin anew with what is left, in another order than was asked for."""
        if self._asked and self.left:
            self.worker.kill()
        self._asked = False

    def _limit(self, at: int) -> float:
        whole = self.call.limit * len(self.units[at])
        return whole if self._turns is None else min(whole, max(0.05, whole / SHORT))

    def _learn(self, outcome: CallResult) -> None:
        self.outcomes[self.left.pop(0)] = outcome
        if self.left:
            self.deadline = time.monotonic() + self._limit(self.left[0])

    def _consider_giving_up(self) -> None:
        """Where every row hung so far: first short turns, then no more."""
        if self._turns is None:
            if self._timeouts >= GIVE_UP_AFTER and len(self.outcomes) == len(self.faults):
                self._turns = SHORT_TURNS
                self._turns_end = time.monotonic() + GIVE_UP_AFTER * max(1.0, self.call.limit)
            return
        if self.left and self._turns > 0 and time.monotonic() < self._turns_end:
            return
        why = f"not run: {GIVE_UP_AFTER} calls in a row took over {self.call.limit:g} s"
        for at in (*self.left, *self._put_off):
            self.outcomes[at] = self.faults[at] = failed_result(len(self.units[at]), Status.TIMEOUT, why)
        self.left, self._put_off = [], []


def read_result(worker: Worker, values: Any, rows: int) -> CallResult:
    """A worker's answer to a call with so many rows.

    Raises:
        WorkerError: it is no such answer; the worker is gone.
    """
    try:
        result = decode_result(values)
        if not result.scores.shape == result.status.shape == (rows,) or result.status.max(initial=0) > _LAST:
            raise ValueError
    except Exception:  # noqa: BLE001  # it was written in a process that ran somebody's code
        worker.kill()
        raise WorkerError("its process answered what is no result", kind="BadAnswer") from None
    return result


def _spread(number: int) -> list[int]:
    """0 to `number` - 1 so that every beginning of it is spread over the whole.

    >>> _spread(8)
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    width = max(1, (number - 1).bit_length())
    return sorted(range(number), key=lambda value: f"{value:0{width}b}"[::-1])


def _failure(error: WorkerError, rows: int, limit: float) -> CallResult:
    if isinstance(error, WorkerTimeout):
        return failed_result(rows, Status.TIMEOUT, f"took over {limit:g} s and was ended", seconds=limit)
    if isinstance(error, WorkerDied):
        return failed_result(rows, Status.DIED, f"ended its process: {error}")
    return failed_result(rows, Status.RAISED, f"{error.kind}: {error}")
