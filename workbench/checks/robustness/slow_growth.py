"""RW503: a reward whose time grows faster than the completion."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Any

from rewards.contract import Status
from rewards.errors import WorkerDied, WorkerTimeout
from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.robustness.growth import BUDGET_S, Growth
from workbench.checks.robustness.pumps import GENERAL
from workbench.checks.robustness.slow_pattern import PROBE, cost_of, severity_of
from workbench.checks.robustness.slow_rows import row_seconds
from workbench.checks.subject import RewardSubject

SLOW_ROW_S = 0.01
"""A reward that needs longer for an ordinary row is not tried on long ones."""
OTHERS = ("<answer>", "\\boxed{", "```\n", "1+", "9", "(", "[", "Step 1. ", "So the answer is 4. ", "a\n")

_TAG = re.compile(r"</?[A-Za-z][\w.-]{0,30}>")


class SlowGrowth(RewardCheck):
    """The reward as a whole needs a time that grows faster than the completion.

    Besides patterns, loops over all pairs of words, `text.count` inside a loop, a list searched with `in`, an edit
    distance or a parser of formulas do that. The completion is made of pieces of the samples, and of what models
    repeat when they loop, written again and again, and its length doubled for a second. Reported is what costs over
    20 ms; it is a warning where 32,000 characters take over a second. Growth that a pattern explains is told there
    (RW502).

    Example:
        repeats = sum(words.count(word) > 1 for word in words)     # every word compared with every other

    Remedy:
        Count in a dictionary or set once, cut the text to a length that matters before the costly part, or use a
        library with a bounded distance.
    """

    code = "RW503"
    name = "slow-growth"
    severity = "error"
    summary = "the reward takes ever longer on a completion that repeats itself"
    cost = Cost.STOPS
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """At most one finding, about the worst text."""
        row = subject.best_row()
        if row is None or row_seconds(subject) > SLOW_ROW_S or (subject.base.status == Status.TIMEOUT).any():
            return
        pumps = [["", again] for again in repeated_pieces(subject, row)]
        pumps += [
            [opening, again]
            for opening in openings(subject.text(row))
            for again in (" ", "\n", "a ", opening)
        ]
        try:
            found: dict[str, Any] | None = subject.bench.probe(
                PROBE + "reward_growth",
                timeout_s=10 + subject.deadline(2),
                reward=subject.name,
                row=row,
                pumps=pumps,
                chat=subject.chat,
                seconds=BUDGET_S,
            )
        except (WorkerTimeout, WorkerDied):
            return
        if found is None:
            return
        growth = Growth.from_json(found)
        if self._is_a_pattern(subject, growth):
            return
        yield self.finding(
            f"{subject.name} {cost_of(growth)}.",
            advice="Count in a dictionary or set once instead of comparing all with all, or cut the text before the "
            "costly part.",
            cause="growth",
            reward=subject.name,
            severity=severity_of(growth),
            evidence=subject.evidence(
                row,
                completion=subject.shaped(growth.text),
                got=f"{growth.seconds:.2g} s on {growth.length:,} characters",
                expected="a time in proportion to the length",
            ),
            line=subject.description.line,
        )

    def _is_a_pattern(self, subject: RewardSubject, growth: Growth) -> bool:
        """Whether a pattern of the reward takes most of the time on the same text."""
        share: float | None = subject.bench.probe(
            PROBE + "patterns_share",
            timeout_s=30 + subject.deadline(2),
            reward=subject.name,
            row=subject.best_row(),
            text=growth.text,
            lines=sorted(subject.source.lines_used(subject.description.line)),
            chat=subject.chat,
        )
        return share is not None and share > 0.5


def openings(text: str) -> list[str]:
    """The beginning of a sample up to its first two tags, box or fence."""
    found = [match.end() for match in _TAG.finditer(text)][:2]
    found += [text.find(mark) + len(mark) for mark in ("\\boxed{", "```") if mark in text]
    return [text[:end] for end in dict.fromkeys(found) if end < 400]


def repeated_pieces(subject: RewardSubject, row: int) -> list[str]:
    """What a looping completion repeats: tags, lines and words of a sample, the sample itself, and general texts."""
    text = subject.text(row)
    tags = list(dict.fromkeys(_TAG.findall(text)))
    pairs = [f"{one} {two}" for one, two in itertools.pairwise(tags)]
    lines = [line + "\n" for line in text.splitlines() if line.strip()][:3]
    words = [word + " " for word in text.split()[:4]]
    made = [*tags, *pairs, *lines, *words, text + "\n", *GENERAL, *OTHERS]
    return [piece for piece in dict.fromkeys(made) if 0 < len(piece) <= 600]


__all__ = ["SlowGrowth"]
