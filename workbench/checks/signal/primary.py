"""The member of a set that says whether an answer is right, beside which the others are lesser ones."""

from __future__ import annotations

from workbench.checks.evidence.ranking import rank
from workbench.checks.signal.table import Table

NEARLY = 0.75


def primary_of(table: Table) -> int | None:
    """The place of the primary member; None where none is known.

    One whose kind is declared as correctness (the heaviest of several). Without such a declaration one that reads a
    column of the samples and puts every labelled right completion above every wrong one of its prompt, where no other
    does so; else the only one that reads a column, where it puts none of them the wrong way round and most in
    order. A name alone is not believed.
    """
    declared = [
        at for at, member in enumerate(table.members) if member.description.entry.kind == "correctness"
    ]
    if declared:
        return max(declared, key=lambda at: abs(table.weights[at]))
    found = []
    for at, member in enumerate(table.members):
        if member.description.entry.kind is None and member.reads and member.steadiness.reliable:
            ranking = rank(member, member.scores, member.name)
            if ranking is not None and ranking.auc == 1.0:
                found.append(at)
    if found:
        return found[0] if _alike(table, found) else None
    reading = [at for at, member in enumerate(table.members) if member.reads]
    return reading[0] if len(reading) == 1 and _nearly(table, reading[0]) else None


def _nearly(table: Table, at: int) -> bool:
    """Whether a member puts labelled completions in order but for a few that it does not tell apart."""
    member = table.members[at]
    if member.description.entry.kind is not None or not member.steadiness.reliable:
        return False
    ranking = rank(member, member.scores, member.name)
    return ranking is not None and ranking.auc >= NEARLY and not any(p.inverted for p in ranking.pairs)


def _alike(table: Table, places: list[int]) -> bool:
    """Whether several candidates are one matter, so that the first may stand for them."""
    first = table.scores[:, places[0]]
    return all((first == table.scores[:, place]).all() for place in places[1:])


__all__ = ["primary_of"]
