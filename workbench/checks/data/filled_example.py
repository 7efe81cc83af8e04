"""RW802: a filled answer in the prompt."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.data_checks import leaked_answers, prompt_text, shown_answers
from workbench.checks.check import SetCheck, shown
from workbench.checks.data.columns import evidence_of, gold_columns
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import SetSubject


class FilledExample(SetCheck):
    """The prompt shows an answer with a real value in it, as an example of the form.

    A small model copies what it sees: `<answer>42</answer>` in the system prompt comes back as the answer to every
    question. Where the example is also right for some rows, copying it is paid. This is a note; RW306 and RW307 say
    whether a reward pays for it.

    Example:
        "Write your answer like this: <answer>42</answer>"

    Remedy:
        A placeholder (`<answer>...</answer>`), or several examples with different answers.
    """

    code = "RW802"
    name = "filled-example"
    severity = "info"
    summary = "the prompt shows a filled answer as an example"
    cost = Cost.HAMPERS

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One note about the commonest example."""
        assert subject.batch is not None
        prompts = subject.batch.prompts
        if any(leaked_answers(prompts, subject.batch.columns[name]) for name in gold_columns(subject)):
            return  # those are no examples
        first: dict[str, int] = {}
        for row, prompt in enumerate(prompts):
            first.setdefault(prompt_text(prompt), row)
        rows = set(first.values())
        seen: dict[str, list[int]] = {}
        for item in shown_answers(prompts):
            if item.row in rows:
                seen.setdefault(item.text, []).append(item.row)
        often = {text: places for text, places in seen.items() if len(set(places)) >= max(2, len(rows) // 2)}
        if not often or len(rows) < 2:
            return
        text = max(often, key=lambda text: len(often[text]))
        yield self.finding(
            f"{len(set(often[text]))} of {len(rows)} prompts show {shown(text)} as an example, which models copy.",
            advice="Write a placeholder in place of the value (...), or give several examples with different answers.",
            cause="filled example",
            evidence=evidence_of(subject, often[text][0], got=text),
            count=len(set(often[text])),
        )
