"""RW410: a relative tolerance that leaves none around 0."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.answer_form import gold_text, value_of
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.steadiness import plain_scores
from workbench.checks.subject import RewardSubject

NEAR = 1.004
CLOSE = ("0.001", "0.00001")


class ZeroGold(RewardCheck):
    """Numbers near the ground truth are paid, but where it is 0 only 0 itself is.

    `abs(got - gold) <= 0.01 * abs(gold)` allows nothing at 0. A rounding error there is a wrong answer, and a right
    one everywhere else. Told as information, and only where the samples have a ground truth of 0.

    Example:
        return [float(abs(x - gold) <= tolerance * abs(gold)) ...]

    Remedy:
        Add an absolute part: `math.isclose(x, gold, rel_tol=0.01, abs_tol=1e-9)`.
    """

    code = "RW410"
    name = "zero-gold"
    severity = "info"
    summary = "a relative tolerance leaves none where the ground truth is 0"
    cost = Cost.HAMPERS
    kinds = frozenset({"correctness"})
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding where numbers near 0 are refused and numbers near another ground truth are not."""
        task = subject.task
        zeros = [row for row, gold in task.golds.items() if value_of(gold_text(gold)) == 0]
        case = next((c for c in task.cases if c.slot is not None and value_of(gold_text(c.gold))), None)
        if not zeros or case is None or case.slot is None or not subject.steadiness.reliable:
            return
        value = value_of(gold_text(case.gold))
        assert value is not None
        texts = [case.slot.write(f"{float(value) * NEAR:.8g}"), *map(case.slot.write, ("0", *CLOSE))]
        rows = [case.row, *[zeros[0]] * (1 + len(CLOSE))]
        near, zero, *close = plain_scores(subject.call(rows, [subject.shaped(text) for text in texts]))
        if case.pays(float(near)) and case.pays(float(zero)) and not any(case.pays(float(c)) for c in close):
            yield self.finding(
                f"{subject.name} pays numbers near the ground truth, but near 0 none: {CLOSE[-1]} for 0 earns "
                f"{number(float(close[-1]))}.",
                advice="Add an absolute part to the tolerance: math.isclose(x, gold, rel_tol=..., abs_tol=1e-9).",
                cause="zero",
                reward=subject.name,
                evidence=subject.evidence(
                    zeros[0],
                    completion=subject.shaped(texts[-1]),
                    got=float(close[-1]),
                    expected=f"{number(float(zero))}, as for 0",
                ),
                line=subject.description.line,
                count=len(zeros),
            )
