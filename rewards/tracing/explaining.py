"""Explaining rows: call, record, compare with the score that counts, and read out the credits.

The score shown is always the one that `score` gives, from a call with all rows and without recording. A row
is recorded alone where it and others have the same score alone, else inside the whole call: an equal score alone may
be chance (`1.0 if length < mean`), several that differ are not. A reward that draws random numbers
is recorded in a call that draws the same ones, with all rows. Where no recorded call gives the scores that count,
its credits would be those of another call, and none are shown.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from rewards.conditions import call_where, rows_concerned
from rewards.contract import (
    Batch,
    CallResult,
    Reward,
    Status,
    call,
    completion_text,
    is_async,
)
from rewards.copying import own_copy
from rewards.repeating import call_rows_apart, calling_scope
from rewards.rewardset import RewardSet, defined_in
from rewards.running.child import encode_result
from rewards.tracing.arrays import holds_numbers, is_array, is_given_up, lost
from rewards.tracing.ceiling import most_of
from rewards.tracing.dice import Dice
from rewards.tracing.elements import array_item, one_answer
from rewards.tracing.explanation import Credit, Line, Reader, RewardExplanation, strict
from rewards.tracing.importable import traceable
from rewards.tracing.looking import has, look
from rewards.tracing.nodes import FILES
from rewards.tracing.performing import watched
from rewards.tracing.provenance import Origin, plain
from rewards.tracing.recorder import recording
from rewards.tracing.rewrite import instrument
from rewards.tracing.state import STATE, Seen

NOT_FOLLOWED = "the score came by a way that is not followed (an array changed as a whole, other code)"
"""The note of an explanation whose credits are not known for want of a trace; told apart by being this very text."""

SLOWER = 25
"""Times slower than an ordinary call above which the reader is told."""

OTHERS = 6
"""Rows of other scores that are called alone too, before one is taken to stand alone."""

_OTHERS_S = 0.2
"""Seconds after which no more of them are called."""

_CALL_S = 1e-3
"""Calls quicker than this are taken to last so long: nobody waits for 25 times as much."""

TargetLoader = Callable[..., RewardSet]
"""Loads the set anew each time it is called; takes `transform=`."""


class _Captured(functools.partial):  # type: ignore[type-arg]
    """The reward itself to everyone who asks, keeping the object that it returns."""

    returned: Any = None
    seen: Seen | None = None

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        if is_async(self.func):
            return self._awaited(**keywords)
        return self._keep(super().__call__(*args, **keywords))

    async def _awaited(self, **keywords: Any) -> Any:
        return self._keep(await super().__call__(**keywords))

    def _keep(self, returned: Any) -> Any:
        if inspect.isgenerator(returned) or isinstance(returned, (map, filter, zip)):
            self.seen = []
            return watched(returned, self.seen)
        self.returned = returned
        return returned

    def origin(self, row: int) -> Origin | None:
        """Where the value returned for a row came from."""
        if self.seen is not None:
            value, origin = self.seen[row] if row < len(self.seen) else (None, None)
        else:
            returned = self.returned
            if has(returned, "tolist"):
                return array_item(returned, row)
            if not isinstance(returned, (list, tuple)) or row >= len(returned):
                return None
            value = returned[row]
            if is_given_up(returned):
                return lost(value, 0)
            origin = STATE.item(returned, row, value) or _from_array(returned, row)
        if isinstance(origin, Origin):
            return origin
        if STATE.left_at == 0:  # nothing that is followed ran
            return lost(value, 0)
        return STATE.identified(value) or Origin("load", value, STATE.left_at)


def _from_array(returned: Any, row: int) -> Origin | None:
    """The origin of an item of a list that an array or Series was turned into."""
    made = STATE.identified(returned)
    if made is None or made.op != "call":
        return None
    function, arguments, _ = made.parts
    source = look(function, "__self__")
    source = plain(arguments[0]) if not holds_numbers(source) and arguments else source
    if is_given_up(source):
        return lost(returned[row], made.node)
    return array_item(source, row) if is_array(source) else None


class Run:
    """One recorded call to a reward; what it left behind can be read for every row of the call.

    Args:
        rewards: the traced set.
        name: the reward.
        batch: the rows of the call; the reward gets a copy.
        dice: the random numbers it is to draw.
    """

    def __init__(self, rewards: RewardSet, name: str, batch: Batch, dice: Dice | None = None) -> None:
        self.name = name
        function = traceable(rewards.function(name))
        self.captured = _Captured(function)
        self.batch = own_copy(batch)
        self.file = _file_of(rewards, name)
        self.function_name = _function_name(function)
        self.deterministic = rewards.entry(name).deterministic
        self.most = _most(self.file, function, rewards.entry(name).params, batch.columns)
        if dice is not None:
            dice.again()
        began = time.perf_counter()
        with recording():
            self.result = call(
                self.captured, self.batch, params=rewards.entry(name).params, record_credits=True
            )
        self.seconds = time.perf_counter() - began
        self._state = dict(STATE.__dict__)
        self._hits = [(file, list(file.hits)) for file in FILES]

    def restore(self) -> None:
        """Bring back what this call recorded."""
        STATE.__dict__.update(self._state)
        for file, hits in self._hits:
            file.hits[:] = hits


class Explainer:
    """Explains rows of one target; keeps the loaded sets and the scores of whole calls.

    Args:
        load: loads the set (`functools.partial(RewardSet.load, target)`).
    """

    def __init__(self, load: TargetLoader) -> None:
        self.load = load
        self.plain = load(transform=None)
        self.traced = load(transform=instrument)
        self._batch: Batch | None = None
        self._whole: dict[tuple[str, tuple[int, ...]], CallResult] = {}
        self._dice: dict[tuple[str, tuple[int, ...]], Dice] = {}
        self._kept: tuple[tuple[str, tuple[int, ...]], Run] | None = None
        self._apart: dict[tuple[str, tuple[int, ...]], bool] = {}

    def explain(
        self, name: str, batch: Batch, row: int, rows: Sequence[int] | None = None
    ) -> RewardExplanation:
        """Why the reward `name` gave a row its score.

        Args:
            name: the reward.
            batch: all rows.
            row: the row's number in the batch.
            rows: the rows that are called together; None for all.
        """
        together = tuple(rows) if rows is not None else tuple(range(len(batch)))
        entry = self.plain.entry(name)
        concerned = self._concerned(entry.when, batch, together)
        if row not in concerned:
            return _abstained(name, entry.when)
        at = concerned.index(row)
        whole = self._scores(name, batch, concerned)
        one = len(concerned) == 1
        if one or (entry.deterministic and not self._dice[name, concerned].rolled):
            run = Run(self.traced, name, batch.rows([row]), self._dice[name, concerned] if one else None)
            alone = self._read(run, 0, whole, at)
            if one or (alone.same and self._stand_alone(name, batch, concerned, whole)):
                return self._finish(alone, whole, at, len(concerned), alone=True)
        inside = self._read(self._inside(name, batch, concerned), at, whole, at)
        return self._finish(inside, whole, at, len(concerned), alone=False)

    def scores(self, name: str, batch: Batch, rows: Sequence[int] | None = None) -> CallResult:
        """The ordinary call that the explanations of these rows are compared with; made once."""
        together = tuple(rows) if rows is not None else tuple(range(len(batch)))

        when = self.plain.entry(name).when
        concerned = self._concerned(when, batch, together)
        if len(concerned) == len(together):
            return self._scores(name, batch, together)
        return call_where(when, batch.rows(together), lambda _: self._scores(name, batch, concerned))

    def _stand_alone(self, name: str, batch: Batch, together: tuple[int, ...], whole: CallResult) -> bool:
        """Whether rows have the scores of the whole call where they are called alone: some of each score are tried."""
        key = (name, together)
        if key not in self._apart:
            entry, known = self.traced.entry(name), np.flatnonzero(whole.status == Status.NUMBER)
            rows = known[np.unique(whole.scores[known], return_index=True)[1]]
            if self._scope(name) == "row" or len(rows) == 1:
                rows = rows[:0]
            began, apart = time.perf_counter(), True
            for at in rows[np.linspace(0, len(rows) - 1, min(OTHERS, len(rows))).astype(int)]:
                if not apart or time.perf_counter() - began > _OTHERS_S:
                    break
                one = own_copy(batch.rows([together[at]]))
                alone = call(traceable(self.traced.function(name)), one, params=entry.params)
                apart = _same_score(alone, 0, whole, int(at))
            self._apart[key] = apart
        return self._apart[key]

    def _concerned(self, when: Mapping[str, Any], batch: Batch, together: tuple[int, ...]) -> tuple[int, ...]:
        """The rows a reward is called with."""
        if not when:
            return together
        return tuple(together[at] for at in rows_concerned(when, batch.rows(together)))

    def _inside(self, name: str, batch: Batch, together: tuple[int, ...]) -> Run:
        """The recorded call with all rows; kept, because the next row will ask for it again."""
        key = (name, together)
        if self._kept is None or self._kept[0] != key:
            self._kept = None  # make room first
            traced = self.load(transform=instrument)
            self._kept = (key, Run(traced, name, batch.rows(together), self._dice[key]))
        return self._kept[1]

    def _scores(self, name: str, batch: Batch, together: tuple[int, ...]) -> CallResult:
        if batch is not self._batch:
            self._batch, self._kept = batch, None
            self._whole.clear()
            self._dice.clear()
            self._apart.clear()
        key = (name, together)
        if key not in self._whole:
            self._dice[key] = dice = Dice()
            self._whole[key] = call_rows_apart(
                self.plain.function(name),
                batch.rows(together),
                scope=self._scope(name),
                params=self.plain.entry(name).params,
            )
            dice.thrown()
        return self._whole[key]

    def _scope(self, name: str) -> str:
        """Which rows a reward is called with: "row" and "group" as declared, else "call"."""
        index = self.plain.index(name)
        declared = self.plain.declared[index] if self.plain.declared else ()
        return calling_scope(self.plain.entries[index].scope, declared)

    def _read(self, run: Run, at: int, whole: CallResult, row: int) -> _Recorded:
        """What a recorded call gave for its row `at`, which is `row` of the whole call."""
        run.restore()
        result = run.result
        same = _same_score(result, at, whole, row)
        if same and len(result.scores) == len(whole.scores):  # one that differs elsewhere is another call
            same = np.array_equal(result.scores, whole.scores, equal_nan=True)
        columns = [values[at] for values in run.batch.columns.values()]
        reader = Reader(
            STATE,
            completion_text(run.batch.completions[at]),
            run.file,
            run.function_name,
            [value for value in columns if isinstance(value, str)],
            alone=len(run.batch) == 1,
            most=run.most,
        )
        credits: tuple[Credit, ...] = ()
        missed: tuple[Credit, ...] = ()
        if same and result.status[at] == Status.NUMBER:
            with one_answer():
                origin = run.captured.origin(at)
                STATE.lost = origin is None
                if origin is not None:
                    credits, missed = reader.credits(origin)
            if len(credits) <= 1 and result.credits:
                named = _named(result.credits[at], float(result.scores[at]), run.file)
                if not {one.name for one in named} <= {one.name for one in credits}:
                    credits, missed, STATE.lost = named, (), False
        return _Recorded(run, at, same, credits, missed, reader.lines())

    def _finish(
        self, recorded: _Recorded, whole: CallResult, at: int, rows: int, *, alone: bool
    ) -> RewardExplanation:
        status = Status(int(whole.status[at]))
        score = None if status.failed or status == Status.ABSTAINED else strict(float(whole.scores[at]))
        total = sum(credit.points for credit in recorded.credits)
        adds_up = isinstance(score, float) and abs(total - score) <= 1e-9 * max(1.0, abs(score))
        sure = recorded.same and recorded.deterministic and not recorded.gave_up and not recorded.lost
        exact = sure and (adds_up or status == Status.ABSTAINED)
        return RewardExplanation(
            name=recorded.name,
            score=score,
            credits=recorded.credits if status == Status.NUMBER else (),
            lines=recorded.lines,
            exact=exact,
            missed=recorded.missed,
            error=whole.errors.get(at),
            alone=alone,
            notes=tuple(_notes(recorded, whole, rows if not alone else 1, rows)),
            most=recorded.most,
        )


class _Recorded:
    """What one recorded call gave for one row."""

    def __init__(
        self,
        run: Run,
        at: int,
        same: bool,
        credits: tuple[Credit, ...],
        missed: tuple[Credit, ...],
        lines: tuple[Line, ...],
    ) -> None:
        self.name = run.name
        self.deterministic = run.deterministic
        self.score = run.result.scores[at]
        self.same = same
        self.credits = credits
        self.missed = missed
        self.lines = lines
        self.most = run.most
        self.error = run.result.errors.get(at)
        self.seconds = run.seconds
        self.gave_up = STATE.gave_up
        self.lost = STATE.lost


def _named(credits: list[dict[str, Any]], score: float, main: Path | None) -> tuple[Credit, ...]:
    """Named credits given in code that is not followed, where they make up the score."""
    if not credits or abs(sum(credit["points"] for credit in credits) - score) > 1e-9 * max(1.0, abs(score)):
        return ()
    return tuple(_recorded_credit(credit, main) for credit in credits)


def _recorded_credit(credit: dict[str, Any], main: Path | None) -> Credit:
    file = Path(credit["file"])
    here = main is not None and file.name == main.name and file.resolve() == main
    return Credit(
        credit["name"],
        credit["points"],
        credit["of"],
        credit["line"] if here else None,
        spans=tuple((start, end) for start, end in credit["spans"]),
        place=None if here else f"{file.name}:{credit['line']}",
        note=credit["note"],
    )


def _notes(recorded: _Recorded, whole: CallResult, called: int, rows: int) -> list[str]:
    notes = []
    if not recorded.same:
        notes.append(
            f"the recorded call failed where the ordinary one did not: {recorded.error}"
            if recorded.error is not None
            else "no recorded call gave this score, which changes from call to call or by being recorded: no credits"
        )
    elif not recorded.deterministic:
        notes.append("declared as not deterministic: another call may come to these scores in another way")
    if recorded.lost and not recorded.gave_up:
        notes.append(NOT_FOLLOWED)
    if recorded.gave_up:
        notes.append("too many steps to follow: values were followed only at the beginning")
    if called > 1:
        notes.append(
            f"the score depends on the other rows: recorded in a call with all {called}; hits count all rows"
        )
    usual = max(whole.seconds / max(1, rows) * called, _CALL_S)
    if recorded.seconds > SLOWER * usual:
        notes.append(
            f"recording took {recorded.seconds:.2g} s, {recorded.seconds / usual:.0f} times an ordinary call"
        )
    return notes


def _same_score(one: CallResult, at: int, other: CallResult, row: int) -> bool:
    if one.status[at] != other.status[row]:
        return False
    left, right = one.scores[at], other.scores[row]
    return bool(left == right or (left != left and right != right))


def _abstained(name: str, when: Mapping[str, Any]) -> RewardExplanation:
    """A row that a reward's `when` does not fit."""
    condition = ", ".join(f"{column} = {value!r}" for column, value in when.items())
    return RewardExplanation(
        name, None, (), (), exact=True, notes=(f"abstains: it applies where {condition}",)
    )


def _file_of(rewards: RewardSet, name: str) -> Path | None:
    """The file whose lines are shown: a package may offer a function that another of its files defines."""
    named = defined_in(rewards.function(name), rewards.files[rewards.index(name)])
    return Path(named).resolve() if named is not None else None


def _most(
    file: Path | None, function: Reward, params: Mapping[str, Any], columns: Iterable[str]
) -> float | None:
    """The most a function of a file can give, where its code says so; None for what wraps or binds one."""
    found = [one for one in FILES if one.path == file]
    if not found or type(function) is not FunctionType or function.__closure__ is not None:
        return None
    return most_of(found[-1], function.__name__, function.__code__.co_firstlineno, params, columns)


def _function_name(function: Reward) -> str:
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    return str(look(inner, "__name__") or type(inner).__name__)


_last: tuple[Any, Explainer] | None = None


def _explainer(context: Any) -> Explainer:
    global _last
    if _last is None or _last[0] is not context:
        _last = (context, Explainer(functools.partial(RewardSet.load, context.target)))
    return _last[1]


def explain_in_worker(context: Any, reward: str, row: int, rows: list[int] | None = None) -> dict[str, Any]:
    """`Explainer.explain` inside a worker, for its own target and rows; the sets stay loaded between calls."""
    return _explainer(context).explain(reward, context.batch, row, rows).to_json()


def load_in_worker(context: Any) -> None:
    """Load the worker's target for `explain_in_worker`, where this process has not yet."""
    _explainer(context)


def scores_in_worker(context: Any, reward: str, rows: list[int] | None = None) -> dict[str, Any]:
    """The call that `explain_in_worker` compares with, encoded; made where it was not yet."""
    return encode_result(_explainer(context).scores(reward, context.batch, rows))


def explain_row(
    load: TargetLoader, name: str, batch: Batch, row: int, rows: Sequence[int] | None = None
) -> RewardExplanation:
    """Why the reward `name` of a target gave a row its score. Runs the user's code: only in workers and tests.

    Args:
        load: loads the target's set, with `transform=` as `RewardSet.load` takes it.
        name: the reward.
        batch: all rows; it is not changed.
        row: the row's number.
        rows: the rows that `score` calls together with it; None for all.

    Raises:
        TargetError: the target has no such reward.
        LoadError: the user's file failed to load.
    """
    return Explainer(load).explain(name, batch, row, rows)
