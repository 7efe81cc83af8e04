"""RW106: NaN or infinity as a score."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rewards.contract import Status
from workbench.checks.check import RewardCheck
from workbench.checks.finding import Cost, Evidence, Finding
from workbench.checks.subject import RewardSubject

FLOAT32_MAX = 3.4e38


class NotFinite(RewardCheck):
    """A score is NaN, infinite or too large for float32.

    TRL takes NaN for "no opinion", so a failed computation passes for an abstention. An infinity makes all
    advantages of its group zero, those of the batch with `scale_rewards="batch"`, and with `"none"` every
    weight of the model becomes NaN while the log shows a loss of 0.

    Example:
        return [sum(hits) / len(hits) if hits else math.nan ...]     # an empty completion scores NaN

    Remedy:
        Decide what the case is worth: 0.0 (judged, and bad) or None (no opinion).
    """

    code = "RW106"
    name = "not-finite"
    severity = "error"
    summary = "a score is NaN or infinite"
    cost = Cost.RUINS

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for NaN and one for infinities, on samples first, then on odd completions."""
        for kind in ("NaN", "infinite"):
            finding = self._on_samples(subject, kind) or self._on_odd(subject, kind)
            if finding is not None:
                yield finding

    def _on_samples(self, subject: RewardSubject, kind: str) -> Finding | None:
        base = subject.base
        rows = [
            row
            for row, score, state in zip(subject.rows, base.scores, base.status, strict=True)
            if _is(kind, float(score), int(state))
        ]
        if not rows:
            return None
        row = subject.smallest(rows)
        got = float(base.scores[subject.rows.index(row)])
        return self._say(
            subject,
            kind,
            subject.evidence(row, got=got, expected="a finite number"),
            "of the samples",
            len(rows),
        )

    def _on_odd(self, subject: RewardSubject, kind: str) -> Finding | None:
        odd = subject.odd
        for item, score, state in odd.shortest_first():
            if _is(kind, score, state):
                evidence = subject.evidence(
                    odd.row, completion=subject.shaped(item.text), got=score, expected="a finite number"
                )
                return self._say(subject, kind, evidence, f"({item.what})", 1)
        return None

    def _say(self, subject: RewardSubject, kind: str, evidence: Evidence, where: str, count: int) -> Finding:
        value: Any = evidence.got
        shown = f"{value}" if kind == "infinite" else "NaN"
        rows = "a completion" if count == 1 else f"{count} completions"
        return self.finding(
            f"{subject.name} scores {rows} {where} {shown}.",
            advice="Return 0.0 where the completion is judged bad, or None where the reward has no opinion.",
            cause=kind,
            reward=subject.name,
            evidence=evidence,
            line=subject.description.line,
            count=count,
        )


def _is(kind: str, score: float, state: int) -> bool:
    if kind == "NaN":
        return state == Status.NAN
    return state == Status.INFINITE or (state == Status.NUMBER and abs(score) > FLOAT32_MAX)
