"""RW801: prompts that show their own answer."""

from __future__ import annotations

from collections.abc import Iterable

from rewards.data_checks import leaked_answers, prompt_text, visible_values
from workbench.checks.check import SetCheck, shown
from workbench.checks.data.columns import evidence_of, gold_columns
from workbench.checks.finding import Cost, Finding
from workbench.checks.subject import SetSubject

SHARE = 0.8
FEWEST = 4


class GoldInPrompt(SetCheck):
    """The prompt holds the ground truth of its own row.

    Prompts made by a script sometimes keep the solution: "Answer: 72" at the end, the worked solution of a data set in
    the same field. The policy learns to copy, and the curve looks splendid. A warning where the answer stands in the
    marks of an answer, for several different answers; a note where nearly all questions hold their answer word for
    word, as tasks about a given text do. Offered choices do not count.

    Example:
        {"prompt": "How many eggs are left?\\nAnswer: 72", "answer": "72"}

    Remedy:
        Take the answer out of the prompt; keep it in its column.
    """

    code = "RW801"
    name = "gold-in-prompt"
    severity = "warning"
    summary = "prompts show the answer they ask for"
    cost = Cost.TEACHES_WRONG

    def run(self, subject: SetSubject) -> Iterable[Finding]:
        """One finding a column."""
        assert subject.batch is not None
        prompts = subject.batch.prompts
        different = len({prompt_text(prompt) for prompt in prompts})
        for name in gold_columns(subject):
            values = subject.batch.columns[name]
            leaks = leaked_answers(prompts, values)
            if leaks:
                first = min(leaks, key=lambda item: len(prompt_text(prompts[item.row])))
                yield self.finding(
                    f"{len(leaks)} of {different} prompts show their own '{name}', as {shown(first.text)}.",
                    advice="Take the answer out of the prompt: copying it is paid like solving the task.",
                    cause=f"leak {name}",
                    evidence=evidence_of(subject, first.row, got=first.text),
                    count=len(leaks),
                )
                continue
            rows = visible_values(prompts, values)
            if len(rows) >= max(FEWEST, SHARE * different):
                yield self.finding(
                    f"'{name}' stands word for word in {len(rows)} of {different} prompts: copying part of the prompt "
                    "may be enough.",
                    advice="Fine where the task is to find it in a given text; otherwise take it out of the prompt.",
                    cause=f"visible {name}",
                    severity="info",
                    evidence=evidence_of(subject, rows[0], got=values[rows[0]]),
                    count=len(rows),
                )
