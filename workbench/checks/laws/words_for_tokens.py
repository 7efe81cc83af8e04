"""RW215: words are counted where tokens are meant."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import RewardSubject
from workbench.checks.trials import score_texts

LONG_WORD = "x" * 3000


class WordsForTokens(RewardCheck):
    """A setting of tokens is compared with a number of words.

    A word is one to many tokens, and a line of digits, code or another script is no word at all. A limit in tokens
    that counts words lets through several times what it says. Shown by a single word of 3,000 letters, which scores
    as one of a few letters does. Told as information.

    Example:
        def ideal(completions, ideal_tokens=100, **kwargs):
            return [1 - abs(len(text.split()) - ideal_tokens) / ideal_tokens ...]

    Remedy:
        Count what TRL passes, `completion_ids`, or call the setting `ideal_words`.
    """

    code = "RW215"
    name = "words-for-tokens"
    severity = "info"
    summary = "a setting is called tokens, and words are counted"
    cost = Cost.HAMPERS
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding where a long word counts as a short one does."""
        signature = subject.description.signature
        named = [name for name in (*signature.optional, *subject.description.entry.params) if "token" in name]
        if not named or "completion_ids" in signature.names or not subject.steadiness.reliable:
            return
        if subject.compares or not subject.usable:
            return
        row = subject.usable[0]
        texts = ("xxx", LONG_WORD, "xxx " * 30)
        short, long, many = score_texts(subject, [(row, text) for text in texts])
        if abs(short - long) < 1e-9 and abs(many - short) > 1e-9:
            yield self.finding(
                f"{subject.name} counts words and calls them tokens ({named[0]}): one word of 3,000 letters scores "
                f"{number(long)}, as one of three letters does.",
                advice="Count the token ids that TRL passes as completion_ids, or call the setting words.",
                cause="words",
                reward=subject.name,
                evidence=subject.evidence(
                    row,
                    completion=subject.shaped(LONG_WORD),
                    got=long,
                    expected="another score than for 'xxx'",
                ),
                line=subject.description.line,
            )
