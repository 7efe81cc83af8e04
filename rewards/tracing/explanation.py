"""What an explanation of one score says, and how it is read out of a recording."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from rewards.credits import spans_of
from rewards.tracing.attribution import Part, formula_test, parts_of
from rewards.tracing.bounds import is_setting
from rewards.tracing.elements import as_test
from rewards.tracing.evidence import Evidence, Spans
from rewards.tracing.missed import Missed, missed_of
from rewards.tracing.nodes import FILES, NODES
from rewards.tracing.places import Places
from rewards.tracing.provenance import Origin, admitting, plain
from rewards.tracing.state import State, tests_of
from rewards.writable import writable

_LABEL = 48
_SHOWN = 80
_MOST_MISSED = 24
_SMALL = 1e-9


@dataclass(frozen=True)
class Credit:
    """One part of a score.

    `of`: the most it can give, where the code says so; `line`: the line of the reward's file that gave it;
    `condition`, `value`: the test that decided it, as written, and what it gave; `spans`: the places in the
    completion, in characters, `approximate` where they were searched for; `compared`: the two things that a
    comparison compared; `place`: file and line, where another file gave it; `note`: as given to `credit`.
    """

    name: str
    points: float
    of: float | None
    line: int | None
    condition: str | None = None
    value: Any = None
    spans: tuple[tuple[int, int], ...] = ()
    approximate: bool = False
    compared: tuple[str, str] | None = None
    place: str | None = None
    note: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The credit as `explain --format json` prints it; what says nothing is left out at the end."""
        values: dict[str, Any] = {
            "name": self.name,
            "points": strict(self.points),
            "of": strict(self.of),
            "line": self.line,
            "condition": self.condition,
            "value": self.value,
            "spans": [list(span) for span in self.spans],
        }
        if self.approximate:
            values["approximate"] = True
        if self.compared is not None:
            values["compared"] = list(self.compared)
        if self.place is not None:
            values["place"] = self.place
        if self.note is not None:
            values["note"] = self.note
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Credit:
        """Read what `to_json` gave."""
        compared = values.get("compared")
        return cls(
            **{
                **values,
                "points": float(values["points"]),
                "spans": tuple((start, end) for start, end in values["spans"]),
                "compared": (compared[0], compared[1]) if compared else None,
            }
        )


@dataclass(frozen=True)
class Line:
    """One line that ran: how often, and the last values it gave to variables."""

    line: int
    hits: int
    values: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready."""
        return {"line": self.line, "hits": self.hits, "values": self.values}


@dataclass(frozen=True)
class RewardExplanation:
    """Why one reward gave one row its score.

    `score` is what `score` shows: None where the reward abstained or failed (then `error` says why), the text
    "nan", "inf" or "-inf"; `exact`: the credits add up to it; `missed`: what did not pay and would have;
    `lines`: the lines of the reward's file that ran; `alone`: the row was called alone; `notes`: limits of
    this explanation; `most`: the most the reward can give any row, where its code says so.
    """

    name: str
    score: float | str | None
    credits: tuple[Credit, ...]
    lines: tuple[Line, ...]
    exact: bool
    missed: tuple[Credit, ...] = ()
    error: str | None = None
    alone: bool = True
    notes: tuple[str, ...] = ()
    most: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The reward as `explain --format json` prints it."""
        values: dict[str, Any] = {
            "name": self.name,
            "score": self.score,
            "credits": [credit.to_json() for credit in self.credits],
            "lines": [line.to_json() for line in self.lines],
            "exact": self.exact,
        }
        if self.missed:
            values["missed"] = [credit.to_json() for credit in self.missed]
        if self.error is not None:
            values["error"] = self.error
        if not self.alone:
            values["alone"] = False
        if self.notes:
            values["notes"] = list(self.notes)
        if self.most is not None:
            values["most"] = self.most
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> RewardExplanation:
        """Read what `to_json` gave."""
        return cls(
            **{
                **values,
                "credits": tuple(Credit.from_json(credit) for credit in values["credits"]),
                "missed": tuple(Credit.from_json(credit) for credit in values.get("missed", ())),
                "lines": tuple(Line(**line) for line in values["lines"]),
                "notes": tuple(values.get("notes", ())),
            }
        )


def _limit(part: Part) -> float | None:
    """What the part could have given at most (taken, for a penalty); None where it gave more than was written."""
    if part.of is not None and part.points * part.of > 0 and abs(part.points) > abs(part.of) + _SMALL:
        return None
    return part.of


def strict(value: float | None) -> float | str | None:
    """A number as strict JSON, to the last digit."""
    if value is None or math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")


class Reader:
    """Reads one score out of a recording.

    Args:
        state: the recording.
        completion: the text the spans count in.
        main: the reward's own file; amounts given in other files stand at the line that called for them.
        entry: the name of the reward's function, which is no name for a part of its score.
        foreign: texts of other columns, which are not to be searched for in the completion.
        alone: the reward was called with this row only.
        most: the most the reward can give, where its code says so.
    """

    def __init__(
        self,
        state: State,
        completion: str,
        main: Path | None,
        entry: str,
        foreign: Iterable[str] = (),
        *,
        alone: bool = True,
        most: float | None = None,
    ) -> None:
        self.state = state
        self.most = most
        self.alone = alone
        self.main = main
        self.entry = entry
        self.evidence = Evidence(Places(completion, state, foreign))

    def credits(self, origin: Origin) -> tuple[tuple[Credit, ...], tuple[Credit, ...]]:
        """The credits of a score, and what was missed; none where the score rests on numbers that were lost."""
        self.state.lost = False
        parts = parts_of(origin)
        if self.state.lost:
            return (), ()
        paid = [part for part in parts if part.points or part.kind == "named"]
        unpaid = [part for part in parts if not part.points and part.kind != "named"]
        shown, unpaid = (paid, unpaid) if paid else (unpaid, [])
        missed = missed_of(origin, unpaid, alone=self.alone)
        most = {id(site): one.amount for one in missed for at in one.instead for site in (at, *at.parts)}
        shown = [
            replace(part, of=round(part.points + most[id(part.site)], 12)) if id(part.site) in most else part
            for part in shown
        ]
        if not origin.value and not missed and not any(part.points or part.of for part in shown):
            shown = [self._nothing(shown, origin)]
        lacking = [self._not_run(one) for one in missed[:_MOST_MISSED]]
        told = {(one.condition, one.compared) for one in lacking if one.condition is not None}
        credits = [self._credit(part) for part in shown]
        # a test that gave nothing is told once, by what it would have paid
        return tuple(
            one for one in credits if one.points or (one.condition, one.compared) not in told
        ), tuple(lacking)

    def _nothing(self, shown: list[Part], origin: Origin) -> Part:
        """A score of 0 of which no part is known: that it is 0, of the most there is."""
        whole = shown[0] if len(shown) == 1 else Part(0.0, "lump", origin, origin.guard)
        return replace(whole, of=self.most) if self.most else whole

    def _credit(self, part: Part) -> Credit:
        if part.kind == "named":
            return self._named(part)
        if part.kind == "lump" and part.test is not None and part.test is part.site.guard:
            part = replace(part, test=formula_test(part))
        if part.kind == "lump" and part.test is None:
            part = replace(part, test=_counting(part.site))
        site = part.called_at or part.site
        part = replace(part, test=admitting(part.test))
        test = _unwrapped(part.test)
        condition, value = self._condition(part)
        spans = self.evidence.of(*((part.test,) if part.test is not None else ()), *self._amount(part))
        elsewhere = part.site.place.file.path
        return Credit(
            name=self._label(part, test),
            points=part.points,
            of=_limit(part),
            line=site.place.line or None,
            condition=condition,
            value=value,
            spans=spans.spans,
            approximate=spans.approximate,
            compared=_compared(test),
            place=f"{elsewhere.name}:{part.site.place.line}" if self._foreign(part.site) else None,
            note=f"{part.count} times" if part.count > 1 else None,
        )

    def _foreign(self, site: Origin) -> bool:
        return self.main is not None and site.node != 0 and site.place.file.path != self.main

    def _named(self, part: Part) -> Credit:
        _, _, span, note = part.site.parts
        site = part.called_at
        spans = self._given_span(span)
        return Credit(
            name=part.name or "",
            points=part.points,
            of=part.of,
            line=site.place.line if site is not None else None,
            condition=part.test.place.text if part.test is not None else None,
            value=_json_value(part.test.value) if part.test is not None else None,
            spans=spans.spans,
            approximate=spans.approximate,
            note=note,
        )

    def _given_span(self, span: Any) -> Spans:
        matches = span if isinstance(span, (list, tuple)) else [span]
        if matches and all(isinstance(match, re.Match) for match in matches):
            return self.evidence.of(*matches)
        return Spans(spans_of(span))

    def _amount(self, part: Part) -> Iterable[Any]:
        """What the amount itself was computed of; a constant was computed of nothing."""
        if part.kind in ("const", "change"):
            return part.sources if part.kind == "change" else ()
        return part.sources

    def _condition(self, part: Part) -> tuple[str | None, Any]:
        if part.test is not None:
            return _quoted(part.test, self.state), _json_value(part.test.value)
        if part.kind == "change":
            return part.site.place.text, _json_value(part.site.value)
        return None, None

    def _label(self, part: Part, test: Origin | None) -> str:
        place = part.site.place
        literal = _literal(test)
        setting = part.kind == "lump" and part.test is not None and is_setting(part.site)
        if literal is not None and (setting or part.kind in ("const", "test")):
            return _short(literal)
        if part.kind == "change":
            return _short(place.text)
        if place.assigned and not self._accumulates(place.assigned):
            return place.assigned
        function = NODES[place.function].extra if place.function else None
        helper = function["name"] if isinstance(function, dict) else ""
        if helper and helper not in (self.entry, "__call__"):
            return str(helper)
        if part.kind == "lump" and place.kind in ("bin", "aug", "augslot", "pick", "call"):
            return _short(_amount_text(part.site))
        if part.test is not None:
            return _short(_quoted(part.test, self.state))
        return _short(place.text) if place.kind not in ("const", "name") else f"line {place.line}"

    def _accumulates(self, name: str) -> bool:
        """True for a variable that a statement adds to: it is the score itself, no part of it."""
        return name in _accumulators()

    def _not_run(self, missed: Missed) -> Credit:
        """What did not run and would have paid."""
        if missed.part is not None:
            return self._credit(replace(missed.part, of=missed.amount))
        test = _unwrapped(admitting(missed.test))
        spans = self.evidence.of(missed.test) if missed.test is not None else Spans()
        return Credit(
            name=_short((_literal(test) if missed.name == missed.condition else None) or missed.name),
            points=0.0,
            of=round(missed.amount, 12),
            line=missed.line,
            condition=missed.condition,
            value=missed.value,
            spans=spans.spans,
            approximate=spans.approximate,
            compared=_compared(test),
            note=f"{missed.count} times" if missed.count > 1 else None,
        )

    def lines(self) -> tuple[Line, ...]:
        """The lines of the reward's file that ran."""
        hits: dict[int, int] = {}
        for file in FILES:
            if file.path == self.main:
                for line, count in zip(file.statements, file.hits, strict=True):
                    if count:
                        hits[line] = max(hits.get(line, 0), count)
        values: dict[int, dict[str, str]] = {}
        for (_, name), (node, value) in self.state.noted.items():
            if node.file.path == self.main:
                values.setdefault(node.line, {})[name] = shown(value)
        return tuple(Line(line, count, values.get(line, {})) for line, count in sorted(hits.items()))


def _accumulators() -> set[str]:
    return {node.extra[1] for node in NODES if node.kind == "aug" and isinstance(node.extra, tuple)}


def _unwrapped(test: Origin | None) -> Origin | None:
    """The comparison or call inside a test."""
    while test is not None and test.op in ("test", "operand", "not", "use", "ret", "bool"):
        inner = test.parts[-1] if test.parts else None
        if not isinstance(inner, Origin) or (test.op == "bool" and len(test.parts) > 1):
            return test
        test = inner
    return test


def _counting(origin: Origin) -> Origin | None:
    """The one test that let in what a formula counts, as in `len([w for w in words if w in text]) / len(words)`."""
    found: list[Origin] = []
    pending: list[Any] = [origin]
    while pending:
        thing = pending.pop()
        if not isinstance(thing, Origin):
            continue
        if thing.op == "call" and thing.parts[0] is len and thing.parts[1]:
            found += [test for test in tests_of(thing.parts[1][0]) or () if test is not None]
        elif thing.op in ("bin", "unary", "use", "ret", "pick", "call"):
            pending += thing.parts[1] if thing.op == "call" else thing.parts
    tests = [test for test in map(admitting, found) if test is not None]
    return tests[0] if len({test.node for test in tests}) == 1 else None


def _quoted(test: Origin, state: State) -> str:
    """The words of a test: those inside a lambda that is called, or of the argument that a parameter stands for."""
    inner: Any = test.parts[0] if test.op == "test" and test.parts else test
    if test.op == "bool" and test.place.kind in ("aug", "augslot"):
        return _both_sides(test, state)
    if not isinstance(inner, Origin):
        inner = state.identified(inner)
    while inner is not None and inner.op in ("use", "ret") and isinstance(inner.parts[0], Origin):
        inner = inner.parts[0]
    tree, function = test.place.tree, NODES[test.place.function].extra
    given = isinstance(tree, ast.Name) and isinstance(function, dict) and tree.id in function["parameters"]
    if inner is None or inner.op not in _TOLD:
        return test.place.text
    elsewhere = given and inner.place.function != test.place.function
    return inner.place.text if elsewhere or inner.place.of_lambda else test.place.text


_SIGNS = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}


def _both_sides(test: Origin, state: State) -> str:
    """The words of a mask that a statement changed: `m &= n > 5` is both tests, that of before and its own.

    A side that is nobody's test and says nothing, like the `np.zeros(n, dtype=bool)` a mask begins with, is left out.
    """
    operation, sides = test.place.extra[0], []
    for part in test.parts:
        nothing = (
            isinstance(part, Origin)
            and part.op in ("load", "const")
            and part.value is (operation is ast.BitAnd)
        )
        if nothing and operation in _SIGNS:
            continue
        side = as_test(part)
        if side is None or operation not in _SIGNS:
            return test.place.text
        sides.append(_quoted(side, state))
    text = (
        f" {_SIGNS.get(operation, '')} ".join(f"({side})" for side in sides)
        if len(sides) > 1
        else "".join(sides)
    )
    return text if text and len(text) <= _SHOWN else test.place.text


_TOLD = frozenset(["cmp", "chain", "bool", "not", "call", "any", "all"])
"""What a test is made by, as opposed to a number that is merely true."""


def _amount_text(site: Origin) -> str:
    """The words of an amount: without the statement it stands in, and without a fixed factor."""
    tree: ast.AST = site.place.tree
    if isinstance(tree, (ast.AugAssign, ast.Assign)):
        tree = tree.value
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult):
        if isinstance(tree.left, ast.Constant):
            tree = tree.right
        elif isinstance(tree.right, ast.Constant):
            tree = tree.left
    return site.place.file.segment(tree)


_TEXT_TESTS = ("startswith", "endswith", "count", "find", "index", "rfind", "rindex")


def _literal(test: Origin | None) -> str | None:
    """The text a test looked for."""
    if test is None:
        return None
    if test.op == "cmp" and test.place.extra in (ast.In, ast.NotIn):
        needle = plain(test.parts[0])
        return needle if type(needle) is str and needle.strip() else None
    if test.op == "cmp":
        return next(
            (text for part in test.parts if (text := _literal(part if isinstance(part, Origin) else None))),
            None,
        )
    if test.op == "call":
        function, arguments, _ = test.parts
        looked_for = plain(arguments[0]) if arguments else None
        if (
            getattr(function, "__name__", "") in _TEXT_TESTS
            and type(looked_for) is str
            and looked_for.strip()
        ):
            return looked_for
    return None


def _compared(test: Origin | None) -> tuple[str, str] | None:
    """Both sides of an equality or order test."""
    if test is None or test.op != "cmp" or test.place.extra in (ast.In, ast.NotIn, ast.Is, ast.IsNot):
        return None
    left, right = (part.value if isinstance(part, Origin) else part for part in test.parts)
    return shown(left), shown(right)


def _json_value(value: Any) -> Any:
    if value is None or type(value) in (bool, int, str):
        return value if type(value) is not str else _cut(writable(value), _SHOWN * 2)
    if type(value) is float:
        return strict(value)
    return shown(value)


def _short(text: str) -> str:
    return _cut(" ".join(text.split()), _LABEL)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


_PLAIN_TYPES = (bool, int, float, str, bytes, type(None), Fraction, re.Pattern, range)


def shown(value: Any) -> str:
    """A value for the reader: its repr where Python makes it, else only its class."""
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, re.Match):
        return _cut(f"<match {value.group()!r}>", _SHOWN)
    if type(value) in _PLAIN_TYPES:
        return _cut(repr(value[:200] if type(value) in (str, bytes) else value), _SHOWN)
    if type(value) in (list, tuple, set, frozenset, dict):
        if type(value) is dict:
            inner = ", ".join(f"{shown(key)}: {shown(item)}" for key, item in list(value.items())[:4])
        else:
            inner = ", ".join(shown(item) for item in list(value)[:5])
        more = ", …" if len(value) > 5 else ""
        opening, closing = "[]" if type(value) is list else "()" if type(value) is tuple else "{}"
        return _cut(f"{opening}{inner}{more}{closing}", _SHOWN)
    return f"<{type(value).__name__}>"
