"""One cause, one finding: recipes that are paid by the same line for the same reason are told together.

A loose condition lets many recipes through: the empty box, the copied prompt and the flattering note are then all paid
by one `except` that returns 1.0. Each check shows its own recipe; whoever reads the report has one line to mend. So
findings of one reward that are of one nature (`NATURES`) are joined where the same lines and conditions of the code
gave their completions the pay (`workbench.checks.paying`). Where the code cannot be followed, those that earn the same
are told together too, as no more than that: whether one line pays them is then not known. The most severe one with the
shortest completion speaks, and names the others, which stay in it as `also`.

What a user accepted, or what has another nature or another remedy, stays by itself: tags out of order, a right answer
that is refused, a score beyond the range, a text on which the reward raises.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rewards.errors import WorkerError
from workbench.checks.check import number
from workbench.checks.finding import SEVERITIES, Finding, order
from workbench.checks.paid import NotRecordedError

if TYPE_CHECKING:
    from workbench.checks.subject import RewardSubject

PAYING = "workbench.checks.paying:paying"

UNEARNED = {
    "RW211": "a right sample cut short",
    "RW212": "a damaged right sample",
    "RW301": "a completion that says nothing",
    "RW302": "the form of an answer with nothing in it",
    "RW303": "any answer in the right form",
    "RW305": "a copy of the prompt",
    "RW306": "the prompt's own example",
    "RW307": "one constant answer",
    "RW312": "a bare list of words",
    "RW314": "flattery or a forged verdict",
    "RW315": "the right answer to another prompt",
    "RW316": "NaN or infinity as the answer",
    "RW317": "a text found by a search",
    "RW403": "a wrong answer that resembles the right one",
}
HEDGED = {
    "RW308": "several answers at once",
    "RW309": "a negated answer or a choice of two",
    "RW310": "a right answer with a wrong one or none behind it",
    "RW313": "filler around the answer",
}
NATURES = (UNEARNED, HEDGED)
"""By the code of a check, the recipe it shows; one dict is one nature: without the answer, or with more than it."""
EITHER = {"RW701": "a sample not labelled right"}
"""Recipes that may be of any nature."""

Sign = Hashable
"""What tells causes apart: the lines and conditions that paid, or the pay."""
Signs = Callable[[str, Sequence[Finding]], list[Sign]]
"""The signs of findings of the reward of that name."""


def join_causes(findings: Iterable[Finding], signs: Signs, lines: Mapping[str, int | None]) -> list[Finding]:
    """The findings, those of one cause as one; in the order of `order`.

    Args:
        findings: merged (`workbench.checks.finding.merge`), and marked where they are accepted.
        signs: asked for each reward that has two findings of one nature.
        lines: the line each reward is defined on; a finding that says no more takes the line that pays.
    """
    findings = list(findings)
    of_reward: dict[str, list[Finding]] = {}
    for finding in findings:
        if _may_join(finding) and finding.reward is not None:
            of_reward.setdefault(finding.reward, []).append(finding)
    joined: list[Finding] = []
    for reward, members in of_reward.items():
        if len(members) < 2:
            continue
        for sign, same in _causes(members, signs(reward, members)):
            joined.append(_one(same, sign, lines.get(reward)))
            findings = [finding for finding in findings if finding not in same]
    return order([*findings, *joined])


def _may_join(finding: Finding) -> bool:
    """Whether it is a recipe that is paid; what is accepted, or only told, stays by itself."""
    known = any(finding.check in recipes for recipes in (*NATURES, EITHER))
    return (
        known
        and not finding.accepted
        and finding.at_least("warning")
        and finding.evidence.completion is not None
    )


def _causes(findings: Sequence[Finding], signs: Sequence[Sign]) -> Iterator[tuple[Sign, list[Finding]]]:
    """The findings of one nature and one sign, where there are several."""
    pairs = list(zip(findings, signs, strict=True))
    natures = [[pair for pair in pairs if pair[0].check in recipes] for recipes in NATURES]
    free = [pair for pair in pairs if pair[0].check in EITHER]
    for nature in natures:
        for sign in dict.fromkeys(sign for _, sign in nature):
            same = [finding for finding, other in (*nature, *free) if other == sign]
            free = [pair for pair in free if pair[1] != sign]
            if len(same) > 1:
                yield sign, same


def _one(findings: Sequence[Finding], sign: Sign, defined: int | None) -> Finding:
    """The finding that speaks for all of them, with the line that pays where it is known."""
    ranked = sorted(findings, key=lambda f: (-SEVERITIES[f.severity], f.evidence.size, f.check))
    head, others = ranked[0], tuple(order(ranked[1:]))
    recipes = UNEARNED | HEDGED | EITHER
    named = list(dict.fromkeys(f"{recipes[other.check]} ({other.check})" for other in others))
    listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    known = [head.line]
    told = f"It pays the same amount for {listed} too; its code does not tell whether for the same reason."
    if isinstance(sign, Paid):
        known = [*(f.line for f in ranked), sign.line]
        told = f"{sign} it pays for {listed} too: one cause."
    return replace(
        head,
        message=f"{head.message} {told}",
        line=next((line for line in known if line not in (None, defined)), head.line),
        count=max(finding.count for finding in findings),
        also=others,
    )


@dataclass(frozen=True)
class Paid:
    """The places that gave a completion its points, (line or place, condition) each."""

    places: tuple[tuple[str, str], ...]

    @property
    def line(self) -> int | None:
        """The first line of the reward's own file among them."""
        return next((int(place) for place, _ in self.places if place.isdigit()), None)

    def __str__(self) -> str:
        lines = list(dict.fromkeys(place for place, _ in self.places))
        named = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(lines[:-1])} and {lines[-1]}"
        return f"By {named}"


def signs_of(subject: RewardSubject, findings: Sequence[Finding]) -> list[Sign]:
    """What paid the completions of findings: lines and conditions, else the amount.

    The completions are called once more, one by one, with their code followed.
    """
    evidence = [finding.evidence for finding in findings]
    columns = sorted({name for one in evidence for name in one.columns or {}})
    rows: dict[str, Any] = {
        "prompts": [one.prompt for one in evidence],
        "completions": [one.completion for one in evidence],
        "columns": {name: [(one.columns or {}).get(name) for one in evidence] for name in columns},
        "with_ids": bool(subject.batch is not None and subject.batch.completion_ids),
    }
    try:
        found = subject.probe(PAYING, len(findings), **rows)
    except (
        WorkerError,
        NotRecordedError,
    ):  # functions of a notebook cannot be read again, paid ones not be asked
        found = None
    found = found or [None] * len(findings)
    return [
        Paid(tuple((str(place), test) for place, test in paid)) if paid else _amount(finding)
        for paid, finding in zip(found, findings, strict=True)
    ]


def _amount(finding: Finding) -> Sign:
    got = finding.evidence.got
    return number(float(got)) if isinstance(got, (int, float)) else finding.fingerprint


__all__ = ["EITHER", "HEDGED", "NATURES", "UNEARNED", "Paid", "join_causes", "signs_of"]
