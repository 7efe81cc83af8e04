"""RW411: a phrase is looked for in small letters only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from workbench.checks.check import RewardCheck, number
from workbench.checks.exploits.texts import PROSE
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject
from workbench.checks.trials import score_texts

MOST = 12
_PHRASE = re.compile(r"[a-z]+(?: [a-z]+)*")


class CapitalMissed(RewardCheck):
    """A phrase earns something in the middle of a sentence, and nothing at its start.

    "According to the survey" is written with a capital where a sentence begins with it. A reward that looks for
    the small letters alone misses it, and pays for where a phrase stands. Tried are the phrases written in the
    reward's own code that are paid in small letters. Told as information.

    Example:
        return [0.2 * ("according to" in text) ...]

    Remedy:
        `text.casefold()`, or `re.IGNORECASE`.
    """

    code = "RW411"
    name = "capital-missed"
    severity = "info"
    summary = "a phrase is paid in small letters and not at the start of a sentence"
    cost = Cost.HAMPERS
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding with the phrases that are missed."""
        if subject.compares or not subject.usable or not subject.steadiness.reliable:
            return
        row = subject.usable[0]
        phrases = list(dict.fromkeys(_phrases(subject)))[:MOST]
        small = [f"{PROSE} It was so, {phrase} the others." for phrase in phrases]
        large = [f"{PROSE} {phrase.capitalize()} the others, it was so." for phrase in phrases]
        plain, *scores = score_texts(subject, [(row, text) for text in (PROSE, *small, *large)])
        pairs = zip(phrases, large, scores[: len(phrases)], scores[len(phrases) :], strict=True)
        missed = [item for item in pairs if item[2] > plain + 1e-9 and item[3] <= plain + 1e-9]
        if missed:
            phrase, text, paid, got = missed[0]
            yield self.finding(
                f"{subject.name} pays {phrase!r} {number(paid - plain)}, and {phrase.capitalize()!r} at the start of a "
                "sentence nothing.",
                advice="Compare without regard to case: text.casefold(), or re.IGNORECASE.",
                cause="capital",
                reward=subject.name,
                evidence=subject.evidence(row, completion=subject.shaped(text), got=got, expected=paid),
                line=subject.description.line,
                count=len(missed),
            )


def _phrases(subject: RewardSubject) -> Iterator[str]:
    """Texts of small letters that the reward's code can reach."""
    used = subject.source.lines_used(subject.description.line)
    for node in ast.walk(subject.source.tree):
        text = node.value if isinstance(node, ast.Constant) and node.lineno in used else None
        if isinstance(text, str) and len(text) > 3 and _PHRASE.fullmatch(text):
            yield text
