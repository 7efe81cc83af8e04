"""What a check is: a small class with a code, one line of description, and a docstring that is its manual page.

A check looks at one subject (a reward, or the whole set) and yields findings. It never raises for the fault
of a reward: user code runs in a worker process, and what goes wrong there comes back as a status.

To add one: a file in its family's folder with one class, and one line in `selection.CHECKS`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from workbench.checks.finding import Cost, Evidence, Finding, Severity

if TYPE_CHECKING:
    from workbench.checks.subject import RewardSubject, SetSubject

FAMILIES: dict[str, str] = {
    "RW1": "contract: how TRL calls a reward and what it may return",
    "RW2": "laws: properties that hold for any honest reward",
    "RW3": "exploits: being paid without doing the task",
    "RW4": "answers: right and wrong forms of an answer",
    "RW5": "robustness: hostile and odd text, deadlines, growth of run time",
    "RW6": "signal: spread, dead groups, dominance, redundancy, saturation",
    "RW7": "evidence: labels, and whether the samples pin the reward",
    "RW8": "data: prompts, answers and columns",
    "RW9": "code, read without running it",
}
"""The families of checks by the first three characters of their codes."""


class Check:
    """Base of all checks.

    Class attributes: `code` (stable, never re-used), `name` (two or three words with hyphens), `severity`
    (the worst it reports), `summary` (one line), `cost` (what the matter costs when trained on), `version`
    (raised when it starts to find more, so that a seal says what was proved), `needs` ("nothing" to call, a
    "call", or "samples"), `quick` (part of `--quick`), `kinds` (the kinds of reward it is about, as declared or as
    labelled samples show; None: whatever kind), `elsewhere` (why it is made by another command; None: it is made here).
    """

    code: ClassVar[str]
    name: ClassVar[str]
    severity: ClassVar[Severity]
    summary: ClassVar[str]
    cost: ClassVar[Cost]
    version: ClassVar[int] = 1
    needs: ClassVar[Literal["nothing", "call", "samples"]] = "samples"
    quick: ClassVar[bool] = True
    kinds: ClassVar[frozenset[str] | None] = None
    elsewhere: ClassVar[str | None] = None

    def finding(
        self,
        message: str,
        *,
        advice: str,
        cause: str,
        reward: str | None = None,
        severity: Severity | None = None,
        evidence: Evidence | None = None,
        line: int | None = None,
        count: int = 1,
        shared: bool = False,
    ) -> Finding:
        """A finding of this check.

        `cause` tells it apart from others of this check; with `shared` it is the same cause to every check,
        so that one matter seen by several of them is told once.
        """
        return Finding(
            check=self.code,
            name=self.name,
            severity=severity or self.severity,
            message=message,
            advice=advice,
            cause=cause if shared else f"{self.code}:{cause}",
            cost=self.cost,
            reward=reward,
            evidence=evidence or Evidence(),
            line=line,
            count=count,
        )


class RewardCheck(Check):
    """A check of one reward; it runs once for each reward of the target."""

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """Findings about this reward."""
        raise NotImplementedError


class SetCheck(Check):
    """A check of the whole target: names, totals, members against each other."""

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """Findings about the set; one that concerns a single member names it in `reward`."""
        raise NotImplementedError


def shown(value: Any, limit: int = 60) -> str:
    """A value as a reader meets it in a sentence: its repr, shortened in the middle."""
    text = repr(value)
    if len(text) <= limit:
        return text
    half = (limit - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def shown_pattern(pattern: str) -> str:
    """A regular expression as it is written in code: shortened as by `shown`, its backslashes single."""
    return shown(_Written(pattern))


class _Written(str):
    """A text whose repr is how a raw literal shows it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str.__repr__(self).replace("\\\\", "\\")


def difference(before: Any, after: Any, around: int = 24) -> tuple[str, str]:
    """Two values as reprs, cut to where they begin to differ."""
    old, new = repr(before), repr(after)
    start = next(
        (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    first = max(0, start - around)
    lead = "..." if first else ""

    def window(text: str) -> str:
        return lead + text[first : start + around] + ("..." if start + around < len(text) else "")

    return window(old), window(new)


def number(value: float) -> str:
    """A score in a sentence: at most four significant digits, no trailing zeros."""
    return f"{value + 0.0:.4g}"  # no "-0"


__all__ = ["FAMILIES", "Check", "RewardCheck", "SetCheck", "difference", "number", "shown"]
