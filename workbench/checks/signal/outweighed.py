"""RW609: a lesser member outweighs correctness, so that a wrong completion outranks a right one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rewards.signal import lexicographic_margin, smallest_step
from workbench.checks.check import SetCheck, number, shown
from workbench.checks.finding import Cost, Finding
from workbench.checks.signal.made_up import made_up_texts, score_all
from workbench.checks.signal.primary import primary_of
from workbench.checks.signal.table import Floats, Table, read_table
from workbench.checks.subject import SetSubject

PROMPTS = 3
TIMES = (4, 16, 64)
LONGEST = 20_000
HEAVIER = 2.0
"""How many times as much difference a lesser member makes where it is told for its weight alone."""


@dataclass(frozen=True)
class _Outranked:
    """A wrong completion (under the prompt of `row`) with a total at least that of the right one."""

    row: int
    text: str
    right: int
    scores: dict[str, float]
    right_scores: dict[str, float]
    total: float
    right_total: float
    by: str


class Outweighed(SetCheck):
    """A completion that the correctness reward calls wrong gets a higher total than one it calls right.

    The policy then learns what the lesser rewards pay (length, layout, style) and forgets the answer. Looked for in
    the groups of the samples and, in a whole run, among completions made from wrong ones (repeated, lengthened, laid
    out otherwise) that the correctness reward still calls wrong. Those count only where a single lesser member by
    itself takes back what correctness gives, so that a badly laid out right answer is no alarm, unless the lesser
    member makes twice the difference that correctness makes. The *margin* is what is
    left of the smallest step of correctness after all others did their worst; above 0 no wrong answer can outrank a
    right one. Which member is about correctness has to be declared, or shown by labels.

    Example:
        correctness 0 or 1, weight 1; effort = min(10, words / 25), weight 1: 300 wrong words total 10

    Remedy:
        Scale the lesser reward to 0..1 and give it a smaller weight (0.1 to 0.5 beside correctness 2.0), or pay it
        only where the answer is right.
    """

    code = "RW609"
    name = "outweighed"
    severity = "error"
    summary = "a wrong completion outranks a right one because of a lesser reward"
    cost = Cost.TEACHES_WRONG

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """At most one finding, with the pair."""
        table = read_table(subject)
        if table is None or len(table.members) < 2:
            return
        primary = primary_of(table)
        if primary is None or not all(member.steadiness.reliable for member in table.members):
            return
        step = _half_range(table.scores[:, primary])
        if not step > 0 or table.weights[primary] <= 0:
            return
        met = list(_in_groups(table, primary, step))
        if met:
            yield self._tell(
                table, primary, min(met, key=_size(table)), len({item.row for item in met}), real=True
            )
            return
        made = [] if subject.options.quick else list(_made_up(table, primary, step))
        if made:
            yield self._tell(table, primary, min(made, key=_size(table)), 1, real=False)
            return
        heavy = _heavier(table, primary)
        if heavy is not None:
            yield self._heavy(table, primary, *heavy)

    def _heavy(self, table: Table, primary: int, at: int, times: float) -> Finding:
        main, lesser = table.members[primary], table.members[at]
        column = table.scores[:, primary]
        low = np.flatnonzero(column <= np.nanmin(column))
        wrong = int(low[np.nan_to_num(table.added[low, at] * table.weights[at]).argmax()])
        return self.finding(
            f"{lesser.name} weighs {number(times)} times as much as {main.name}: a wrong answer that has all of it "
            f"outranks a right one that has none of it.",
            advice=f"Give {lesser.name} a smaller weight or scale, or pay it only where {main.name} does.",
            cause="outweighed",
            severity="warning",
            evidence=main.evidence(
                table.rows[wrong],
                got={**_named(table, table.scores[wrong]), "total": float(table.totals[wrong])},
                expected=f"{main.name} to make the largest difference",
            ),
            shared=True,
        )

    def _tell(self, table: Table, primary: int, found: _Outranked, count: int, *, real: bool) -> Finding:
        main = table.members[primary]
        what = "A completion" if real else "A made-up completion"
        margin = _margin(table, primary)
        left = f" The margin is {number(margin)}." if not math.isnan(margin) and margin <= 0 else ""
        return self.finding(
            f"{what} that {main.name} calls wrong totals {number(found.total)}, and one it calls right only "
            f"{number(found.right_total)} ({shown(main.text(found.right), 60)}): {found.by} outweighs it.{left}",
            advice=f"Give {found.by} a smaller weight or scale, or pay it only where {main.name} does.",
            cause="outweighed",
            severity="error" if real else "warning",
            evidence=main.evidence(
                found.row,
                completion=main.shaped(found.text),
                got={**found.scores, "total": found.total},
                expected=f"a total below {number(found.right_total)}: {_listed(found.right_scores)}",
            ),
            count=count,
            shared=True,
        )


def _size(table: Table) -> Callable[[_Outranked], int]:
    main = table.members[0]
    return lambda found: len(found.text) + len(main.text(found.right))


def _half_range(column: Floats) -> float:
    known = column[~np.isnan(column)]
    return float(np.ptp(known)) / 2 if len(known) else math.nan


def _in_groups(table: Table, primary: int, step: float) -> Iterator[_Outranked]:
    """Pairs of the samples: less by half the range of correctness, and a higher total."""
    column = table.scores[:, primary]
    for group in np.flatnonzero(table.sizes > 1):
        places = np.flatnonzero((table.groups == group) & ~np.isnan(column) & ~np.isnan(table.totals))
        if len(places) < 2:
            continue
        better = column[places][:, None] - column[places][None, :] >= step  # [right, wrong]
        outranks = table.totals[places][None, :] > table.totals[places][:, None] + 1e-9
        for right, wrong in zip(*np.nonzero(better & outranks), strict=True):
            yield _outranked(table, primary, int(places[right]), int(places[wrong]))


def _outranked(table: Table, primary: int, right: int, wrong: int) -> _Outranked:
    row = table.rows[wrong]
    return _Outranked(
        row,
        table.members[primary].text(row),
        table.rows[right],
        _named(table, table.scores[wrong]),
        _named(table, table.scores[right]),
        float(table.totals[wrong]),
        float(table.totals[right]),
        _loudest(table, primary, table.added[wrong] - table.added[right]),
    )


def _made_up(table: Table, primary: int, step: float) -> Iterator[_Outranked]:
    """Completions made from wrong ones that still are wrong, against the best right one of the prompt."""
    column = table.scores[:, primary]
    for group in _prompts(table, column, step):
        places = np.flatnonzero((table.groups == group) & ~np.isnan(column) & ~np.isnan(table.totals))
        top, low = float(column[places].max()), float(column[places].min())
        right = int(places[np.where(column[places] >= top - 1e-9, table.totals[places], -np.inf).argmax()])
        wrong = [int(place) for place in places if column[place] <= low + 1e-9]
        row = table.rows[table.shortest(wrong)]
        texts = _grown(table, row)
        scores = score_all(table, texts)
        gains = (scores - table.added[right]) * table.weights  # [text, member]
        still_wrong = scores[:, primary] <= low + 1e-9
        alone = np.delete(gains, primary, axis=1).max(axis=1) > -gains[:, primary]
        totals = np.nansum(scores * table.weights, axis=1)
        for place in np.flatnonzero(still_wrong & alone & (totals > table.totals[right] + 1e-9)):
            yield _Outranked(
                row,
                texts[place][1],
                table.rows[right],
                _named(table, scores[place]),
                _named(table, table.scores[right]),
                float(totals[place]),
                float(table.totals[right]),
                _loudest(table, primary, scores[place] - table.added[right]),
            )


def _heavier(table: Table, primary: int) -> tuple[int, float] | None:
    """A lesser member that reads no column and makes much more difference than correctness; how many times as much."""
    spans = np.abs(table.weights)
    if table.aggregation != "normalize_then_sum":
        spans = spans * np.array([_half_range(column) for column in table.scores.T])
    lesser = [at for at, member in enumerate(table.members) if at != primary and not member.reads]
    if not lesser:
        return None
    at = max(lesser, key=lambda place: float(np.nan_to_num(spans[place])))
    times = float(spans[at] / spans[primary])
    return (at, times) if times >= HEAVIER else None


def _prompts(table: Table, column: Floats, step: float) -> list[int]:
    found = []
    for group in np.flatnonzero(table.sizes > 1):
        own = column[(table.groups == group) & ~np.isnan(column)]
        if len(own) and np.ptp(own) >= step:
            found.append(int(group))
    return found[:PROMPTS]


def _grown(table: Table, row: int) -> list[tuple[int, str]]:
    """(row, text): a wrong completion made longer before its answer, after it, and changed by structure."""
    text = table.members[0].text(row)
    words = " ".join(["so we go on and look at it once more"] * 8)
    head, space, rest = text.partition(" ")
    grown = [(row, text + "\n" + words), (row, words + "\n" + text)]
    for times in TIMES:
        grown += [
            (row, "\n".join([text] * times)),
            (row, f"{head}{space}{' '.join([words] * (times // 2))} {rest}"),
            (row, f"{' '.join([words] * (times // 2))}\n{text}"),
        ]
    return [item for item in [*grown, *made_up_texts(table, [row], most=40)] if len(item[1]) <= LONGEST]


def _named(table: Table, scores: Sequence[float] | Floats) -> dict[str, float]:
    return {
        member.name: float(score)
        for member, score in zip(table.members, scores, strict=True)
        if not math.isnan(float(score))
    }


def _loudest(table: Table, primary: int, gains: Floats) -> str:
    """The lesser member that gives the wrong one most."""
    weighted = np.nan_to_num(gains * table.weights)
    weighted[primary] = -np.inf
    return table.members[int(weighted.argmax())].name


def _margin(table: Table, primary: int) -> float:
    step = smallest_step(table.scores[:, primary])
    others = []
    for at, member in enumerate(table.members):
        known = table.scores[:, at][~np.isnan(table.scores[:, at])]
        if at != primary and len(known):
            seen = (float(known.min()), float(known.max()))
            others.append((float(table.weights[at]), member.declared_range or seen))
    return lexicographic_margin(step, float(table.weights[primary]), others)


def _listed(scores: dict[str, float]) -> str:
    return ", ".join(f"{name} {number(score)}" for name, score in scores.items())
