"""RW216: a short answer is penalised like the worst there is."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import RewardCheck, number
from workbench.checks.exploits.texts import PROSE
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject
from workbench.checks.trials import score_texts

SHORT = ("Yes.", "Paris", "42")


class ShortPenalised(RewardCheck):
    """A penalty that is not about length takes as much from a one-word answer as from the worst text.

    Shares and counts of pieces go wrong where there is no piece: no trigram in two words, no sentence in one. "Yes."
    is then penalised for repetition. Told as information, for penalties that an ordinary sentence does not get.

    Example:
        unique = len(set(trigrams)) / max(1, len(trigrams))      # 0 of 0: all repeated

    Remedy:
        Return 0.0 where the text is too short to be judged.
    """

    code = "RW216"
    name = "short-penalised"
    severity = "info"
    summary = "a penalty takes from a one-word answer what it takes from the worst text"
    cost = Cost.HAMPERS
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the short answer."""
        bounds = subject.declared_range
        ceiling = bounds[1] if bounds else max(subject.scores.values(), default=1.0)
        if ceiling > 0 or subject.description.entry.kind in ("length", "format", "correctness"):
            return
        if subject.compares or not subject.usable or not subject.steadiness.reliable:
            return
        row = subject.usable[0]
        plain, worst, *short = score_texts(
            subject, [(row, text) for text in (PROSE, "so it is " * 60, *SHORT)]
        )
        if plain >= ceiling - 1e-9 and worst < plain - 1e-9 and all(score <= worst + 1e-9 for score in short):
            yield self.finding(
                f"{subject.name} penalises {SHORT[0]!r} {number(short[0])}, as much as a text that repeats itself "
                "sixty times.",
                advice="Return 0.0 where the text is too short to be judged.",
                cause="short",
                reward=subject.name,
                evidence=subject.evidence(
                    row, completion=subject.shaped(SHORT[0]), got=short[0], expected=plain
                ),
                line=subject.description.line,
            )
