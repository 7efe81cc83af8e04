"""RW108: None for some completions of a prompt."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.contract import Status
from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject


class UndeclaredNone(RewardCheck):
    """The reward returns None where it did not declare that it abstains.

    None means "no opinion". TRL counts it as 0 in the sum of a row, so inside a group it is not neutral: an
    abstaining completion competes with its scored neighbours as if it had earned 0. It is neutral for a whole
    prompt only. A reward that means None for some prompts declares `abstains = true`; None for single
    completions of a prompt is reported all the same, as information where it was declared. None for completions that
    were cut, and for no others, is a way to leave them out: information too.

    Example:
        return [None if "<answer>" not in text else judge(text) for text in texts]

    Remedy:
        Return 0.0 for a completion that is judged bad, keep None for prompts of another task, and declare it.
    """

    code = "RW108"
    name = "undeclared-none"
    severity = "warning"
    summary = "no opinion (None) on some rows, which was not declared"
    cost = Cost.TEACHES_WRONG

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for None inside scored groups, or else for None that was not declared."""
        assert subject.batch is not None
        states = dict(zip(subject.rows, subject.base.status, strict=True))
        nothing = [row for row, state in states.items() if state == Status.ABSTAINED]
        scored = {subject.batch.groups[row] for row, state in states.items() if state == Status.NUMBER}
        declared = subject.description.entry.abstains
        if not nothing:
            if not declared:
                yield from self._odd(subject)
            return
        mixed = [row for row in nothing if subject.batch.groups[row] in scored]
        if len(nothing) == len(states):
            return  # nothing but None is RW601's matter
        if mixed:
            row = subject.smallest(mixed)
            yield self.finding(
                f"{subject.name} returns None for {_rows(len(mixed))} whose prompt it scores otherwise; "
                "in the sum None counts as 0, so it is not neutral there.",
                advice="Return 0.0 for a completion that is judged bad; abstain on all completions of a prompt or "
                "on none.",
                cause="mixed",
                reward=subject.name,
                severity="info" if declared else "warning",
                evidence=subject.evidence(row, got=None, expected="a number"),
                line=subject.description.line,
                count=len(mixed),
            )
        elif not declared:
            row = subject.smallest(nothing)
            yield self.finding(
                f"{subject.name} returns None for {_rows(len(nothing))} (whole prompts), which it does not declare.",
                advice="If that is meant, declare it: abstains = true.",
                cause="whole",
                reward=subject.name,
                severity="info",
                evidence=subject.evidence(row, got=None, expected="a number, or abstains = true"),
                line=subject.description.line,
                count=len(nothing),
            )

    def _odd(self, subject: RewardSubject) -> Iterable[Finding]:
        odd = subject.odd
        found = [item for item, _, state in odd.shortest_first() if state == Status.ABSTAINED and item.usual]
        if not found:
            return
        item = found[0]
        cut = all(" cut " in other.what for other in found)
        yield self.finding(
            f"{subject.name} returns None for {item.what}; in the sum None counts as 0, beside scored completions "
            "of the same prompt.",
            advice="Return 0.0 for a completion that is judged bad, or declare abstains = true if that is meant.",
            cause="odd",
            reward=subject.name,
            severity="info" if cut else "warning",
            evidence=subject.evidence(
                odd.row, completion=subject.shaped(item.text), got=None, expected="a number"
            ),
            line=subject.description.line,
            count=len(found),
        )


def _rows(count: int) -> str:
    return "a completion" if count == 1 else f"{count} completions"
