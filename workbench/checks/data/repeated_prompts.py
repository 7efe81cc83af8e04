"""RW803: the same question more than once."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.data_checks import near_repeats, prompt_text, question_text
from workbench.checks.check import SetCheck, shown
from workbench.checks.data.columns import evidence_of
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import SetSubject


class RepeatedPrompts(SetCheck):
    """A question stands in the samples twice, as if it were two.

    Equal prompts under different groups, and prompts that differ in nothing but case, punctuation and spaces (or in a
    word or two of a long text, numbers equal), count twice in every mean, and on both sides of a held-out split.
    The training data themselves are looked at by `preflight`.

    Example:
        "What is 2 plus 2?"   and   "what is 2 plus 2 ?"

    Remedy:
        Keep one of them, or give both the same `group`.
    """

    code = "RW803"
    name = "repeated-prompts"
    severity = "info"
    summary = "the same question stands in the samples as two prompts"
    cost = Cost.HAMPERS

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One note about equal prompts in several groups, one about nearly equal ones."""
        assert subject.batch is not None
        prompts, groups = subject.batch.prompts, subject.batch.groups
        texts = [prompt_text(prompt) for prompt in prompts]
        named: dict[str, list[int]] = {}
        for row, group in enumerate(groups):
            known = named.setdefault(texts[row], [])
            if all(groups[other] != group for other in known):
                known.append(row)
        twice = [rows for rows in named.values() if len(rows) > 1]
        if twice and len(twice) < len(named):  # the steps of a log have every prompt again
            yield self._say(subject, "equal", len(twice), twice[0][0], twice[0][1])
        near = near_repeats(prompts)
        if near:
            yield self._say(subject, "nearly equal", len(near), *near[0])

    def _say(self, subject: SetSubject, how: str, count: int, row: int, other: int) -> Finding:
        assert subject.batch is not None
        question = shown(question_text(subject.batch.prompts[other]))
        many = "prompts stand" if count > 1 else "prompt stands"
        return self.finding(
            f"{count} {many} in the samples again, {how}, as a group of its own: {question}.",
            advice="Keep one of them, or give both the same group.",
            cause=how,
            evidence=evidence_of(subject, row, got=question_text(subject.batch.prompts[other])),
            count=count,
        )
