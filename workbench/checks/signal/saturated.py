"""RW603: nearly all samples sit at one end of the reward."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.intervals import wilson
from workbench.checks.subject import RewardSubject

SHARE = 0.8
"""Where the interval of the share begins, at least."""


class Saturated(RewardCheck):
    """Nearly all samples get the most, or the least, that this reward gives.

    There is little left to learn from a reward that the model already earns throughout; one that hardly anybody earns
    teaches only on the few prompts where somebody does. Told where the 95 % interval of the share begins above 80 %.
    The ends are those of the declared range, else the highest and lowest score seen. A penalty that few samples earn
    is as it should be and is left alone.

    Example:
        return [min(1.0, len(text) / 20) ...]          # 20 characters: every completion has them

    Remedy:
        Ask for more (a higher threshold, a scale that ends later), or drop the reward for later stages; where hardly
        anybody is paid, pay parts of it.
    """

    code = "RW603"
    name = "saturated"
    severity = "info"
    summary = "nearly all samples sit at one end of the reward"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """At most one finding."""
        scores = subject.scores
        if len(set(scores.values())) < 2:
            return  # constant: RW601
        bounds = subject.declared_range
        top = bounds[1] if bounds else max(scores.values())
        low = bounds[0] if bounds else min(scores.values())
        for end, what in ((top, "top"), (low, "bottom")):
            rows = [row for row, score in scores.items() if abs(score - end) <= 1e-9 * max(1.0, abs(end))]
            begins, ends = wilson(len(rows), len(scores))
            penalty = what == "top" and end <= 0
            if begins < SHARE or penalty:
                continue
            row = subject.smallest([row for row in scores if row not in rows])
            yield self.finding(
                f"{subject.name} gives {len(rows)} of {len(scores)} samples {number(end)}, the {what} of its scale "
                f"({len(rows) / len(scores):.0%}, interval {begins:.0%} to {ends:.0%}).",
                advice="Ask for more, or drop it once the model has learnt it."
                if what == "top"
                else "Pay parts of it, or choose prompts on which it is earned now and then.",
                cause=f"at the {what}",
                reward=subject.name,
                evidence=subject.evidence(
                    row, got=scores[row], expected="more samples that differ like this one"
                ),
                line=subject.description.line,
                count=len(rows),
            )
