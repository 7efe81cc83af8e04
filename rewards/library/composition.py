"""Rewards made of other rewards: asking the parts, adding up what they say, keeping their credits.

A rule (`rewards.library.shaping` has them) decides which part is asked about which rows and what a row's score is
made of; everything else is the same for all and stands here. A composed reward is an object in TRL's call form: it
takes the columns its parts require, passes every other one through, is awaited where one of the parts is, can be
pickled when its parts can, and has a `__name__` of its own.

A row's score is always a sum of parts, each a multiple of what an inner reward gave and a correction; so the named
credits of the inner rewards can be handed on, multiplied, and still add up. An inner reward without named credits
stands as one credit under its own name.

A part answers for itself: it gets what its `@reward` mark binds (`params`, `when`), not what a manifest says about
it elsewhere; `functools.partial` binds the rest.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from rewards.contract import (
    SUPPLIED,
    Batch,
    Reward,
    Status,
    TrainerState,
    is_async,
    read_scores,
    signature,
    trl_name,
    unwrap,
)
from rewards.credits import NamedCredit, Recording, active_recording, recording
from rewards.marks import MARK, mark_of

Score = float | None
Credits = list[NamedCredit]
Place = tuple[str, int]
Bounds = tuple[float, float]

NEAR = 1e-9
"""Scores this near are equal: sums of shares such as 0.1 + 0.2 are no exact numbers."""


@dataclass(frozen=True)
class Ask:
    """A question to one part: which rows (None: all), and other texts than the call's to judge."""

    part: int
    rows: tuple[int, ...] | None = None
    completions: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Answer:
    """What a part said of each row of the whole call.

    None where it abstained or was not asked, NaN as it came; `credits` are the named ones of each row, empty where
    nobody records; `returned` is the very object that a call about all rows returned; `place` is the file and line of
    the reward.
    """

    name: str
    scores: list[Score]
    place: Place
    credits: list[Credits] = field(default_factory=list)
    returned: Any = None

    def known(self, row: int) -> float | None:
        """The score of a row as a number; None where there is none."""
        score = self.scores[row]
        return score if score is not None and score == score else None


@dataclass(frozen=True)
class Term:
    """Points of one row: `factor` times the score in `answer`, and `rest` for what that leaves (`label`).

    Without an answer `rest` is all there is; `about` names the answer that decided so.
    """

    factor: float = 0.0
    answer: Answer | None = None
    rest: float = 0.0
    label: str = ""
    about: Answer | None = None


Terms = list[Term] | None
"""What a row's score is made of; None: no opinion."""

Steps = Generator[list[Ask], list[Answer], list[Terms]]


@dataclass(frozen=True)
class Call:
    """One call to a composed reward: its rows and everything that was passed with them."""

    completions: list[Any]
    keywords: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.completions)

    @property
    def state(self) -> Any:
        """The trainer's live state; outside training, that before the first step."""
        state = self.keywords.get("trainer_state")
        return state if state is not None else TrainerState()

    def log_metric(self, name: str, value: float) -> None:
        """Hand a number to the trainer's log, where there is one."""
        log = self.keywords.get("log_metric")
        if callable(log):
            log(name, value)


class Rule(Protocol):
    """How scores become a score: yields questions, gets their answers, returns the terms of every row."""

    def steps(self, call: Call) -> Steps:
        """The questions one after another; those in one list may be answered at the same time."""


class _Part:
    """An inner reward, its declaration, and how it is called."""

    def __init__(self, function: Reward) -> None:
        self.function = function
        self.name = trl_name(function)
        self.mark = mark_of(function)
        self.awaited = is_async(function)
        self.by_group = self.mark.get("scope") == "group"
        self.options = _options(function)
        self.place = _place(function)

    def rows(self, ask: Ask, call: Call) -> list[int]:
        """The rows a question is about; a part that compares the completions of a group is told all of them."""
        every = range(len(call))
        asked = list(every if ask.rows is None or self.by_group else ask.rows)
        when = self.mark.get("when")
        if not when:
            return asked
        from rewards.conditions import rows_concerned  # loads numpy

        columns = {name: value for name, value in call.keywords.items() if isinstance(value, list)}
        concerned = set(rows_concerned(when, Batch([], call.completions, columns=columns)))
        return [row for row in asked if row in concerned]

    def keywords(self, ask: Ask, call: Call, rows: Sequence[int]) -> dict[str, Any]:
        """The keywords of a call about `rows`."""
        texts = list(ask.completions) if ask.completions is not None else call.completions
        keywords = {**call.keywords, **self.mark.get("params", {})}
        if ask.completions is not None:
            keywords.pop("completion_ids", None)  # they belong to other texts
        if len(rows) < len(call):
            for name, value in keywords.items():
                if isinstance(value, list) and len(value) == len(call) and name not in self.options:
                    keywords[name] = [value[row] for row in rows]
            texts = [texts[row] for row in rows]
            log = keywords.get("log_extra")
            if callable(log):
                keywords["log_extra"] = _spread_log(log, rows, len(call))
        return {**keywords, "completions": texts}

    def answer(self, returned: Any, rows: Sequence[int], total: int) -> Answer:
        """What a call about `rows` returned, as an answer for all rows.

        Raises:
            TypeError, ValueError: it is no list of one number for each row asked about.
        """
        numbers, status, errors = read_scores(returned, len(rows))
        for row, why in errors.items():
            wrong: type[Exception] = ValueError if status[row] == Status.WRONG_COUNT else TypeError
            raise wrong(f"reward '{self.name}' {why}")
        scores: list[Score] = [None] * total
        for row, number, state in zip(rows, numbers.tolist(), status, strict=True):
            scores[row] = None if state == Status.ABSTAINED else number
        return Answer(self.name, scores, self.place, returned=returned if len(rows) == total else None)


def _spread_log(log: Callable[..., None], rows: Sequence[int], total: int) -> Callable[..., None]:
    """`log_extra` for a call about some rows: what it logs is filled up with None for the others."""

    def log_extra(column: str, values: Sequence[Any]) -> None:
        told = list(values)
        if len(told) == len(rows):
            filled: list[Any] = [None] * total
            for row, value in zip(rows, told, strict=True):
                filled[row] = value
            told = filled
        log(column, told)

    return log_extra


def _place(function: Any) -> Place:
    """File and line of a reward; of a composed one, those of its first part."""
    while isinstance(unwrap(function), _Composed):
        function = unwrap(function).parts[0]
    code = getattr(inspect.unwrap(unwrap(function)), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)


def _options(function: Reward) -> frozenset[str]:
    """Keyword-only parameters with a default: settings, which a list of the same length does not make columns."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    return frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is not p.empty)


class _Composed:
    """What the two forms share. `parts` are the inner rewards, `rule` combines them, `mark` declares the whole."""

    def __init__(self, name: str, parts: Sequence[Reward], rule: Rule, mark: Mapping[str, Any]) -> None:
        self.__name__ = self.__qualname__ = name
        self.parts = tuple(parts)
        self.rule = rule
        self._parts = [_Part(part) for part in parts]
        setattr(self, MARK, dict(mark))
        self.__signature__ = _signature(self.parts, getattr(rule, "columns", ()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.__name__, self.parts, self.rule, getattr(self, MARK))

    def __repr__(self) -> str:
        return f"<reward {self.__name__}>"

    def _call(self, completions: list[Any], completion_ids: Any, columns: dict[str, Any]) -> Call:
        if completion_ids is not None:
            columns = {**columns, "completion_ids": completion_ids}
        return Call(list(completions), columns)

    def _ask(self, ask: Ask, call: Call) -> Answer:
        part = self._parts[ask.part]
        rows = part.rows(ask, call)
        if not rows:
            return Answer(part.name, [None] * len(call), part.place)
        keywords = part.keywords(ask, call, rows)
        if active_recording() is None:
            return part.answer(part.function(**keywords), rows, len(call))
        with recording(len(rows), keywords["completions"]) as record:
            answer = part.answer(part.function(**keywords), rows, len(call))
        return _credited(answer, record, rows)

    async def _ask_awaited(self, ask: Ask, call: Call) -> Answer:
        part = self._parts[ask.part]
        if not part.awaited:  # in a thread: what it takes must not hold up other rewards on the event loop
            return await asyncio.to_thread(self._ask, ask, call)
        rows = part.rows(ask, call)
        if not rows:
            return Answer(part.name, [None] * len(call), part.place)
        keywords = part.keywords(ask, call, rows)
        if active_recording() is None:
            return part.answer(await part.function(**keywords), rows, len(call))
        with recording(len(rows), keywords["completions"]) as record:
            answer = part.answer(await part.function(**keywords), rows, len(call))
        return _credited(answer, record, rows)


def _credited(answer: Answer, record: Recording, rows: Sequence[int]) -> Answer:
    """The answer with the named credits of each row."""
    placed: list[Credits] = [[] for _ in answer.scores]
    record.by_row([answer.scores[row] for row in rows])  # finds the rows of those that did not know theirs
    for one in record.credits:
        if one.row is not None:
            placed[rows[one.row]].append(one)
    return replace(answer, credits=placed)


class Composed(_Composed):
    """A composed reward all of whose parts are ordinary functions."""

    def __call__(self, completions: list[Any], completion_ids: Any = None, **columns: Any) -> list[Score]:
        """One score a completion, made of those of the parts."""
        call = self._call(completions, completion_ids, columns)
        steps = self.rule.steps(call)
        asks = next(steps)
        while True:
            try:
                asks = steps.send([self._ask(ask, call) for ask in asks])
            except StopIteration as stop:
                return _totals(stop.value)


class ComposedAsync(_Composed):
    """A composed reward with a part that has to be awaited."""

    async def __call__(
        self, completions: list[Any], completion_ids: Any = None, **columns: Any
    ) -> list[Score]:
        """One score a completion, made of those of the parts, which are asked at the same time where they can be."""
        call = self._call(completions, completion_ids, columns)
        steps = self.rule.steps(call)
        asks = next(steps)
        while True:
            answers = await asyncio.gather(*(self._ask_awaited(ask, call) for ask in asks))
            try:
                asks = steps.send(list(answers))
            except StopIteration as stop:
                return _totals(stop.value)


Shaped = Composed | ComposedAsync
"""What comes out: a reward in TRL's call form."""


def compose(name: str, parts: Sequence[Any], rule: Rule, **mark: Any) -> Shaped:
    """A reward that combines `parts` by `rule`.

    Args:
        name: what TRL logs it under.
        parts: the inner rewards.
        rule: picklable.
        mark: what it declares (`rewards.marks.reward`); cost, scope, determinism, process and time are taken from
            the parts.

    Raises:
        TypeError: a part is no reward.

    >>> from rewards.library import max_length
    >>> from rewards.library.shaping import clip
    >>> clip(max_length, -0.5, 0.0)
    <reward max_length_clipped>
    """
    for part in parts:
        if not callable(part) or isinstance(part, type):
            raise TypeError(f"{name}: {part!r} ({type(part).__name__}) is no reward function")
        problem = signature(part).problem
        if problem:
            raise TypeError(f"{name}: '{trl_name(part)}' cannot be called as a reward: {problem}")
    declared = {**_inherited(parts), **{key: value for key, value in mark.items() if value is not None}}
    form = ComposedAsync if any(is_async(part) for part in parts) else Composed
    return form(name, parts, rule, declared)


def declared_range(function: Reward) -> tuple[float, float] | None:
    """What a reward promises to return; None where its mark does not say."""
    found = mark_of(function).get("range")
    return (float(found[0]), float(found[1])) if found is not None else None


def _inherited(parts: Sequence[Reward]) -> dict[str, Any]:
    """What a whole is because one of its parts is."""
    marks = [mark_of(part) for part in parts]
    inherited: dict[str, Any] = {}
    for key, value in (("scope", "group"), ("cost", "paid"), ("runs", "warm"), ("deterministic", False)):
        if any(mark.get(key) == value for mark in marks):
            inherited[key] = value
    stated = [mark["timeout_s"] for mark in marks if "timeout_s" in mark]
    if stated:
        usual = 60.0 if any(is_async(part) for part in parts) else 5.0
        inherited["timeout_s"] = max(usual, sum(stated))
    memory = [mark["memory_mb"] for mark in marks if "memory_mb" in mark]
    return {**inherited, "memory_mb": max(memory)} if memory else inherited


def _signature(parts: Sequence[Reward], columns: Sequence[str]) -> inspect.Signature:
    """`completions`, the columns the parts need, those they read if there, and everything else."""
    kind = inspect.Parameter.KEYWORD_ONLY
    facts = [signature(part, mark_of(part).get("params")) for part in parts]
    required = dict.fromkeys((*columns, *(name for fact in facts for name in fact.required)))
    optional = {
        name: inspect.signature(part).parameters[name].default
        for part, fact in zip(parts, facts, strict=True)
        for name in fact.optional
        if name not in required
    }
    return inspect.Signature(
        [
            inspect.Parameter("completions", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *(inspect.Parameter(name, kind) for name in required if name not in SUPPLIED),
            *(inspect.Parameter(name, kind, default=default) for name, default in optional.items()),
            inspect.Parameter("columns", inspect.Parameter.VAR_KEYWORD),
        ]
    )


# ------------------------------------------------------------------------------- what a whole declares


def like(reward: Reward) -> dict[str, Any]:
    """Kind and weight of the reward that a whole is mainly about."""
    mark = mark_of(reward)
    return {"kind": mark.get("kind"), "weight": mark.get("weight")}


def abstains(*rewards: Reward) -> bool | None:
    """True where one of the rewards may have no opinion, which makes it true of the whole; else None."""
    return True if any(mark_of(one).get("abstains") or mark_of(one).get("when") for one in rewards) else None


def range_of(who: str, reward: Reward, given: Bounds | None) -> Bounds:
    """The given range of a reward, else its declared one.

    Raises:
        ValueError: there is neither, or it has no width.
    """
    span = given if given is not None else declared_range(reward)
    if span is None:
        raise ValueError(
            f"{who}: '{trl_name(reward)}' declares no range; mark it with @reward(range=(0.0, 1.0)) or give the range"
        )
    return bounds(who, f"the range of '{trl_name(reward)}'", span)


def bounds(who: str, what: str, span: Sequence[float]) -> Bounds:
    """`span` as two floats.

    Raises:
        ValueError: they are not finite, or not in order.
    """
    low, high = (finite(who, what, end) for end in span)
    if not low < high:
        raise ValueError(f"{who}: {what} = ({low:g}, {high:g}) must have its low end below its high end")
    return (low, high)


def finite(who: str, what: str, value: Any) -> float:
    """`value` as a float.

    Raises:
        ValueError: it is no finite number.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{who}: {what}={value!r} ({type(value).__name__}) must be a finite number")
    return float(value)


# --------------------------------------------------------------------------------- adding up, and credits


def _totals(rows: Sequence[Terms]) -> list[Score]:
    record = active_recording()
    if record is not None:
        for row, terms in enumerate(rows):
            record.credits += [one for term in terms or [] for one in _handed_on(term, row)]
        returned = _handed_through(rows)
        if returned is not None:
            return returned
    return [None if terms is None else _total(row, terms) for row, terms in enumerate(rows)]


def _handed_through(rows: Sequence[Terms]) -> list[Score] | None:
    """The very list of an inner reward where nothing was done to it: whoever follows values can follow it on."""
    answers = {id(terms[0].answer): terms[0] for terms in rows if terms is not None and len(terms) == 1}
    alike = len(answers) == 1 and all(terms is not None and len(terms) == 1 for terms in rows)
    term = next(iter(answers.values())) if alike else Term()
    returned = term.answer.returned if term.answer is not None else None
    plain = all(terms is None or (terms[0].factor, terms[0].rest) == (1.0, 0.0) for terms in rows)
    return returned if plain and isinstance(returned, list) else None


def _total(row: int, terms: list[Term]) -> Score:
    total: float | None = None
    for term in terms:
        points = term.rest
        if term.answer is not None:
            score = term.answer.scores[row]
            if score is None or not math.isfinite(score):
                return score
            points = score if (term.factor, term.rest) == (1.0, 0.0) else term.factor * score + term.rest
        total = points if total is None else total + points
    return 0.0 if total is None else total


def _handed_on(term: Term, row: int) -> Credits:
    """The named credits of a row that one term stands for."""
    handed: Credits = []
    if term.answer is not None:
        score = term.answer.known(row)
        if score is None:
            return []
        named = term.answer.credits[row] if term.answer.credits else []
        if named and abs(sum(one.points for one in named) - score) <= 1e-9 * max(1.0, abs(score)):
            handed += [_times(one, term.factor, row) for one in named]
        else:
            handed.append(_credit(term.answer.name, term.factor * score, term.answer, row))
    if term.rest or term.answer is None:
        handed.append(_credit(term.label or "the rest", term.rest, term.answer or term.about, row))
    return handed


def _credit(name: str, points: float, about: Answer | None, row: int) -> NamedCredit:
    file, line = about.place if about is not None else ("", 0)
    return NamedCredit(name, points, None, (), None, line, row, file)


def _times(one: NamedCredit, factor: float, row: int) -> NamedCredit:
    of = one.of * factor if one.of is not None else None
    return replace(one, points=one.points * factor, of=of, row=row)
