"""Whether a reward gives the same rows the same scores: in another call, process, order and company.

One mistake shows in many ways (a running mean moves every later call and every larger batch), so the calls are
made once and read in order: the first way in which the scores move names the cause, and the checks of the laws
report only their own. Calls are made in fresh processes where an earlier call could have left something.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from rewards.contract import CallResult, Status

if TYPE_CHECKING:
    from workbench.checks.subject import RewardSubject

Cause = Literal["random", "clock", "state", "memory", "order", "company", "group", "copies", "extra"]
"""Why scores move: chance, the time of day, earlier calls, a remembered score, the place in the batch, the other
rows, the other rows of the prompt (in a reward that does not say so), copies of the row, an unknown column."""

ROWS = 24
REPEATS = 3
SECONDS = 2.0
"""Seconds after which no further look is begun."""
ALONE = 8
"""Rows scored by themselves."""
HOUR, DAY = 3_600.0, 86_400.0
CLOCKS = (61.0, 3 * DAY + 7 * HOUR + 1)
"""Seconds by which the clock is set forward."""
MORE_CLOCKS = (5 * HOUR + 7, 12 * DAY + 2 * HOUR + 31 * 60, 45 * DAY + 16 * HOUR + 11 * 60)
"""The same for a few rows: what is read of a clock may be the same by chance at one time or two."""
FEW = 6


@dataclass(frozen=True)
class Steadiness:
    """What was found: the cause, and the row that shows it with its two scores; `cause` is None where nothing moved.

    `varies` says that the reward declares itself not deterministic, so that no two calls can be compared.
    """

    cause: Cause | None = None
    row: int | None = None
    first: float | None = None
    then: float | None = None
    moved: int = 0
    tried: int = 0
    varies: bool = False

    @property
    def reliable(self) -> bool:
        """Whether a score says something about the completion alone, so that other checks can compare scores."""
        return not self.varies and self.cause in (None, "group", "extra", "copies")


def read_steadiness(subject: RewardSubject) -> Steadiness:
    """Call the reward over some rows in several ways; stops at the first that moves a score."""
    rows = _rows(subject)
    if not subject.description.entry.deterministic:
        return Steadiness(varies=True)
    if not rows:
        return Steadiness()
    subject.bench.renew()
    calls = _Calls(subject, rows)
    first = calls.scores(rows)
    looks: tuple[_Look, ...] = (
        _repeats,
        _clocks,
        _other_order,
        _between,
        _alone,
        _remembered,
        _copies,
        _extra_column,
    )
    enough = time.perf_counter() + SECONDS * (0.4 if subject.options.quick else 1.0)
    for look in looks:
        if time.perf_counter() > enough:
            break
        found = look(calls, first)
        if found is not None:
            subject.bench.renew()
            return found
    return Steadiness(tried=len(rows))


class _Calls:
    """Calls over rows, and the comparison of two of them."""

    def __init__(self, subject: RewardSubject, rows: Sequence[int]) -> None:
        self.subject = subject
        self.rows = list(rows)
        assert subject.batch is not None
        self.groups = subject.batch.groups
        self.by_group = subject.description.entry.scope == "group"

    def scores(
        self, rows: Sequence[int], columns: dict[str, list[Any]] | None = None
    ) -> npt.NDArray[np.float64]:
        """Scores along `rows`: NaN where there is none, and in rows that failed."""
        return plain_scores(self.subject.call(rows, columns=columns))

    def compare(
        self,
        cause: Cause,
        first: npt.NDArray[np.float64],
        then: npt.NDArray[np.float64],
        rows: Sequence[int],
    ) -> Steadiness | None:
        """The finding where the same rows have other scores; the one with the shortest text shows it."""
        moved = [place for place in range(len(rows)) if differ(first[place], then[place])]
        if not moved:
            return None
        place = min(moved, key=lambda p: (len(self.subject.text(rows[p])), p))
        return Steadiness(cause, rows[place], float(first[place]), float(then[place]), len(moved), len(rows))


_Look = Callable[[_Calls, npt.NDArray[np.float64]], "Steadiness | None"]


def plain_scores(result: CallResult) -> npt.NDArray[np.float64]:
    """The scores of a call; NaN in rows without a number."""
    known = (result.status == Status.NUMBER) | (result.status == Status.INFINITE)
    return np.where(known, result.scores, np.nan)


def differ(one: float, other: float) -> bool:
    """Whether two scores are not the same number: two abstentions are alike, a number and none are not."""
    if np.isnan(one) or np.isnan(other):
        return bool(np.isnan(one) != np.isnan(other))
    if one == other:
        return False  # two infinities have no difference
    return bool(abs(one - other) > 1e-9 + 1e-6 * max(abs(one), abs(other)))


def _rows(subject: RewardSubject) -> list[int]:
    """Rows to compare: of several prompts and scores, whole groups where the reward compares them."""
    rows = subject.few(min(ROWS, max(4, subject.affordable(SECONDS / 12))))
    if subject.description.entry.scope != "group" or subject.batch is None:
        return rows
    groups = subject.batch.groups
    wanted = list(dict.fromkeys(groups[row] for row in rows))
    chosen: list[int] = []
    for name in wanted:
        members = [row for row in subject.usable if groups[row] == name]
        if chosen and len(chosen) + len(members) > 2 * ROWS:
            break
        chosen += members
    return chosen


def _repeats(calls: _Calls, first: npt.NDArray[np.float64]) -> Steadiness | None:
    """The same call again, in this process and in fresh ones."""
    rows = calls.rows
    cheap = calls.subject.base.seconds < 0.2
    again = [calls.scores(rows) for _ in range(REPEATS * 2 if cheap else 2)]
    calls.subject.bench.renew()
    fresh = calls.scores(rows)
    found = calls.compare("random", first, fresh, rows)
    if found is not None:
        return found
    moved = [calls.compare("state", first, scores, rows) for scores in again]
    seen = [item for item in moved if item is not None]
    if not seen:
        return None
    by_chance = _by_chance(calls)
    return by_chance if by_chance is not None else seen[0]


def _by_chance(calls: _Calls) -> Steadiness | None:
    """The first call of a fresh process, with the global generators in two states."""
    rows, found = calls.rows, []
    for seed in (1, 2, 3):
        calls.subject.bench.renew()
        got = calls.subject.probe("with_seed", len(rows), rows=rows, seed=seed)
        if got is None:
            return None
        known = np.isin(np.asarray(got[1]), (Status.NUMBER, Status.INFINITE))
        found.append(np.where(known, np.asarray(got[0], dtype=float), np.nan))
    pairs = (calls.compare("random", found[0], other, rows) for other in found[1:])
    return next((pair for pair in pairs if pair is not None), None)


def _clocks(calls: _Calls, first: npt.NDArray[np.float64]) -> Steadiness | None:
    """The same call at other times of day."""
    if "time" not in calls.subject.source.text:
        return None
    for times, count in ((CLOCKS, len(calls.rows)), ((0.0, *MORE_CLOCKS), FEW)):
        rows = calls.rows[:count]
        seen = calls.subject.probe("at_other_times", len(times) * len(rows), rows=rows, seconds=list(times))
        told = [
            np.where(
                np.isin(status, (Status.NUMBER, Status.INFINITE)), np.asarray(scores, dtype=float), np.nan
            )
            for scores, status in seen or []
        ]
        if times[0] == 0.0 and told:  # fewer rows may have other scores for want of company
            first = told.pop(0)
        for then in told:
            found = calls.compare("clock", first, then, rows)
            if found is not None:
                return found
    return None


def _other_order(calls: _Calls, first: npt.NDArray[np.float64]) -> Steadiness | None:
    """The same rows the other way round, in a fresh process, whole groups where they are compared; and moved up by one.

    Groups of equal size keep their places among each other when they are turned around; moved up by one, the first row
    stands last, and a reward that takes so many rows in a row for a group has others together.
    """
    rows = calls.rows
    backwards = list(reversed(range(len(rows))))
    if calls.by_group:
        names = list(dict.fromkeys(calls.groups[row] for row in rows))
        backwards = [p for name in reversed(names) for p in backwards if calls.groups[rows[p]] == name]
    if len(rows) < 2:
        return None
    calls.subject.bench.renew()
    then = calls.scores([rows[place] for place in backwards])
    turned = np.full(len(rows), np.nan)
    turned[backwards] = then
    found = calls.compare("order", first, turned, rows) or _moved_up(calls, first)
    return _kept(calls, first, found) if found is not None else None


def _moved_up(calls: _Calls, first: npt.NDArray[np.float64]) -> Steadiness | None:
    """The first row behind all others; where groups are compared its own one, which is torn, says nothing."""
    rows = calls.rows
    kept = [place for place, row in enumerate(rows) if calls.groups[row] != calls.groups[rows[0]]]
    kept = kept if calls.by_group and kept else list(range(len(rows)))
    calls.subject.bench.renew()
    then = np.roll(calls.scores([*rows[1:], rows[0]]), 1)
    return calls.compare("order", first[kept], then[kept], [rows[place] for place in kept])


def _kept(calls: _Calls, first: npt.NDArray[np.float64], found: Steadiness) -> Steadiness:
    """The same finding as one of memory where the row alone still scores what an earlier call gave it."""
    assert found.row is not None
    again = calls.scores([found.row])
    calls.subject.bench.renew()
    calls.scores(calls.rows)
    after = calls.scores([found.row])
    calls.subject.bench.renew()
    alone = calls.scores([found.row])
    memory = calls.compare("memory", after, alone, [found.row])
    if memory is None or not differ(float(again[0]), float(after[0])):
        return found
    return replace(found, cause="memory", first=float(after[0]), then=float(alone[0]))


def _between(calls: _Calls, first: npt.NDArray[np.float64]) -> Steadiness | None:
    """The rows again after a call with other completions of the same prompts: A, B, A."""
    rows = calls.rows
    if calls.by_group or len(rows) < 3:
        return None
    calls.scores(list(reversed(rows[1:])))
    return calls.compare("state", first, calls.scores(rows), rows)


def _alone(calls: _Calls, first: npt.NDArray[np.float64]) -> Steadiness | None:
    """Each row by itself, and each group by itself."""
    rows = calls.rows
    if len(rows) < 2:
        return None
    names = list(dict.fromkeys(calls.groups[row] for row in rows))
    for name in names[:4] if len(names) > 1 else []:
        places = [place for place, row in enumerate(rows) if calls.groups[row] == name]
        apart = calls.scores([rows[place] for place in places])
        found = calls.compare("company", first[places], apart, [rows[place] for place in places])
        if found is not None:
            return found
    if calls.by_group:
        return None
    step = max(1, len(rows) // ALONE)
    some = sorted({*range(0, len(rows), step), len(rows) - 1})[-ALONE:]
    apart = np.array([calls.scores([rows[place]])[0] for place in some])
    found = calls.compare("group", first[some], apart, [rows[place] for place in some])
    if found is None:
        return None
    undeclared = len(names) < len(rows) and "scope" not in calls.subject.description.declared
    return _among_others(calls, found) if undeclared else replace(found, cause="company")


def _among_others(calls: _Calls, found: Steadiness) -> Steadiness:
    """The same finding, as one of company where rows of other prompts alone move the row's score too.

    So it is where nothing that the reward reads says which rows belong together: neither the prompts nor a column that
    is the same throughout each group.
    """
    assert found.row is not None
    own = calls.groups[found.row]
    others = [row for row in calls.rows if calls.groups[row] != own]
    alone = calls.scores([found.row])[:1]
    among = calls.scores([found.row, *others])[:1]
    moved = calls.compare("company", among, alone, [found.row]) if others else None
    if moved is not None:
        return replace(moved, moved=found.moved, tried=found.tried)
    return found if _knows_groups(calls) else replace(found, cause="company")


def _knows_groups(calls: _Calls) -> bool:
    """Whether the reward's code can tell which rows are of one prompt, or hands all it gets on to other code."""
    subject, source = calls.subject, calls.subject.source
    handed_on = any(
        keyword.arg is None
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
    )
    if subject.batch is None or not source.text or "prompts" in source.text or handed_on:
        return True
    for name in subject.reads:
        values: dict[str, set[str]] = {}
        for row in calls.rows:
            values.setdefault(calls.groups[row], set()).add(str(subject.batch.columns[name][row]))
        if all(len(held) == 1 for held in values.values()) and len(values) > 1:
            return True
    return False


def _remembered(calls: _Calls, first: npt.NDArray[np.float64]) -> Steadiness | None:
    """Rows that are the first of their process: a score kept under the prompt alone would have hidden theirs."""
    rows = calls.rows
    if calls.by_group or calls.subject.base.seconds > 1.0:
        return None
    seen: set[str] = set()
    later: list[int] = []
    for place, row in enumerate(rows):
        if calls.groups[row] in seen:
            later.append(place)
        seen.add(calls.groups[row])
    for place in later[-3:]:
        calls.subject.bench.renew()
        alone = calls.scores([rows[place]])
        found = calls.compare("memory", first[[place]], alone, [rows[place]])
        if found is not None:
            return found
    return None


def _copies(calls: _Calls, first: npt.NDArray[np.float64]) -> Steadiness | None:
    """Every row twice in one call."""
    rows = calls.rows
    if calls.by_group:
        return None
    doubled = calls.scores([row for row in rows for _ in range(2)])
    found = calls.compare("copies", doubled[0::2], doubled[1::2], rows)
    if found is not None:
        return found
    found = calls.compare("company", first, doubled[0::2], rows)
    undeclared = "scope" not in calls.subject.description.declared
    return _among_others(calls, replace(found, cause="group")) if found is not None and undeclared else found


def _extra_column(calls: _Calls, first: npt.NDArray[np.float64]) -> Steadiness | None:
    """A column more, as other data sets have it."""
    if not calls.subject.description.signature.keywords:
        return None
    extra = {"data_source_note": [f"note {place}" for place in range(len(calls.rows))]}
    return calls.compare("extra", first, calls.scores(calls.rows, columns=extra), calls.rows)


__all__ = ["Cause", "Steadiness", "differ", "plain_scores", "read_steadiness"]
