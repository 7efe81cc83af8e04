"""RW703: a sample does not get the score that was said to be right."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rewards.contract import Status
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject

NEAR = 1e-3
"""How far a score may lie from the expected one, by itself and as a share of it: people write 0.333."""


class ExpectedUnmet(RewardCheck):
    """A row of the samples says what this reward should give (`expected`), and it gives something else.

    Expected scores are kept with `reward-workbench label TARGET --row N --expected NAME=0.5`, or stand in the samples
    as `"expected": {"NAME": 0.5}`; null means that the reward should abstain. They judge each reward by itself,
    whatever its kind. A score counts as met within 0.001.

    Example:
        {"prompt": "...", "completion": "1,000", "expected": {"numeric": 1.0}}        # it scores 0

    Remedy:
        Correct the reward, or what was expected.
    """

    code = "RW703"
    name = "expected-unmet"
    severity = "error"
    summary = "a sample does not get the score that was said to be right"
    cost = Cost.TEACHES_WRONG

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding, with the shortest completion, and how many rows show it."""
        assert subject.samples is not None
        said = {
            row: expected[subject.name]
            for row in subject.rows
            if (expected := subject.samples.expected[row]) is not None and subject.name in expected
        }
        got = {row: float(score) for row, score in zip(subject.rows, subject.base.scores, strict=True)}
        status = dict(zip(subject.rows, subject.base.status, strict=True))
        unmet = [row for row, wanted in said.items() if not _met(got[row], Status(int(status[row])), wanted)]
        if not unmet:
            return
        row = subject.smallest(unmet)
        wanted, failed = said[row], Status(int(status[row])).failed
        error = subject.base.errors.get(subject.rows.index(row), "")
        gives = f"fails on ({error})" if failed else f"gives {_shown(got[row])} to"
        yield self.finding(
            f"{subject.name} {gives} a completion that should get {_shown(wanted)}; {len(said) - len(unmet)} of "
            f"{len(said)} expected scores are met.",
            advice="Look at it with `reward-workbench explain`; correct the reward, or what was expected.",
            cause="expected",
            reward=subject.name,
            evidence=subject.evidence(
                row, got=None if math.isnan(got[row]) else got[row], expected=_shown(wanted)
            ),
            line=subject.description.line,
            count=len(unmet),
        )


def _met(score: float, status: Status, wanted: float | None) -> bool:
    if wanted is None:
        return status == Status.ABSTAINED
    return status == Status.NUMBER and math.isclose(score, wanted, abs_tol=NEAR, rel_tol=NEAR)


def _shown(score: float | None) -> str:
    return "None" if score is None or math.isnan(score) else number(score)
