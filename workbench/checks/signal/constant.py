"""RW601: the same score for every sample."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from rewards.contract import Batch, Status
from workbench.checks.check import RewardCheck, number, shown
from workbench.checks.finding import Cost, Finding, Severity
from workbench.checks.subject import RewardSubject

LAYOUT_KINDS = ("format", "length", "style", "diversity")
ENOUGH = 3
"""Different completions needed before equal scores mean anything."""


class Constant(RewardCheck):
    """The reward gives every sample the same score, or no score at all.

    GRPO learns from differences within a group; a reward without differences teaches nothing. Told apart are
    zero for all, the top of the range for all (saturated), None for all, and another constant; and why, where
    it can be seen: a pattern that matches none of the samples, a condition that is always true, a constant
    even for odd completions. Where labelled right and wrong samples get the same score it is an error;
    without labels, a reward that can score otherwise but does not on these samples is information.

    Example:
        if "<think>" and "<answer>" in text:      # a text is always true

    Remedy:
        Follow the reason given; with none given, look at one sample with `reward-workbench explain`.
    """

    code = "RW601"
    name = "constant"
    severity = "error"
    summary = "every sample gets the same score"
    cost = Cost.TEACHES_NOTHING

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """At most one finding."""
        states = {int(state) for state in subject.base.status}
        if states == {int(Status.ABSTAINED)}:
            yield self._nothing(subject)
            return
        values = set(subject.scores.values())
        if len(values) != 1 or len({subject.text(row) for row in subject.scores}) < ENOUGH:
            return
        value = values.pop()
        right = [row for row in subject.labelled("right") if row in subject.scores]
        wrong = [row for row in subject.labelled("wrong", "hack") if row in subject.scores]
        judged = subject.judged and bool(right) and bool(wrong)
        never = self._never_varies(subject, value)
        row = subject.smallest(wrong if judged else list(subject.scores))
        reason = self._reason(subject)
        severity = self._severity(subject, value, judged, never or reason is not None)
        mixed = f", right and wrong alike ({len(right)} and {len(wrong)})" if judged else ""
        beyond = "; odd completions get it too" if never else ""
        yield self.finding(
            f"{subject.name} {_kind(value, subject)} {len(subject.scores)} samples{mixed}{beyond}"
            f"{': ' + reason[0] if reason else ''}.",
            advice="Nothing is learnt from a constant. "
            + (
                reason[1]
                if reason
                else "Run explain on one sample and see which lines and conditions give its score."
            ),
            cause="constant",
            reward=subject.name,
            severity=severity,
            evidence=subject.evidence(row, got=value, expected="different scores for different completions"),
            line=(reason[2] if reason else None) or subject.description.line,
            count=len(subject.scores),
            shared=True,
        )

    def _severity(self, subject: RewardSubject, value: float, judged: bool, sure: bool) -> Severity:
        """How severe a constant is.

        `judged`: labelled right and wrong samples share it; `sure`: nothing makes the reward score otherwise, or the
        reason was seen. A layout, length or style that no sample breaks may well be so; a penalty none earns is fine.
        """
        bounds, kind = subject.declared_range, subject.description.entry.kind
        if judged and (sure or kind not in LAYOUT_KINDS):
            return "error"
        if sure:
            return "warning"
        penalty = bounds is not None and bounds[1] <= 0 and value >= bounds[1]
        return "warning" if judged and not penalty else "info"

    def _nothing(self, subject: RewardSubject) -> Finding:
        row = subject.smallest(subject.rows)
        return self.finding(
            f"{subject.name} returns None for all {len(subject.rows)} samples: it has no opinion on any of them.",
            advice="Look at the condition under which it abstains, and at the columns it reads there.",
            cause="constant",
            reward=subject.name,
            evidence=subject.evidence(row, got=None, expected="a number for some sample"),
            line=subject.description.line,
            count=len(subject.rows),
            shared=True,
        )

    def _never_varies(self, subject: RewardSubject, value: float) -> bool:
        odd = [score for _, score, state in subject.odd.shortest_first() if state == Status.NUMBER]
        rows = subject.few(4)
        grown = [subject.shaped(" ".join([subject.text(row)] * 20)) for row in rows]
        result = subject.call(rows, grown)
        odd += [
            float(score)
            for score, state in zip(result.scores, result.status, strict=True)
            if state == Status.NUMBER
        ]
        return len(odd) >= ENOUGH and all(score == value for score in odd)

    def _by_prompt(self, subject: RewardSubject) -> bool:
        """Whether the same completions score otherwise, and differ, under prompts that say nothing."""
        rows = subject.few(16)
        batch = subject.variant(rows)
        bare: Any = [{"role": "user", "content": "Hello."}] if subject.chat else "Hello."
        asked = Batch(
            [bare] * len(rows), batch.completions, batch.completion_ids, batch.columns, batch.groups
        )
        result = subject.bench.call(subject.name, asked, timeout_s=subject.patience_s)
        return bool((result.status == Status.NUMBER).all()) and len(set(result.scores.tolist())) > 1

    def _reason(self, subject: RewardSubject) -> tuple[str, str, int | None] | None:
        """Why, what to do about it, and the line; None where nothing of the kind is seen."""
        for node, text in always_true(subject):
            return (
                f"the text {shown(text)} on line {node.lineno} is true by itself, so its condition always holds",
                'Write "a" in text and "b" in text, in full.',
                node.lineno,
            )
        if subject.reads_prompts and self._by_prompt(subject):
            return (
                "what earns it stands in the prompt, not in the completion",
                "Look for it in the completion alone.",
                None,
            )
        rows = subject.few(16)
        missed: list[dict[str, Any]] | None = subject.probe(
            "workbench.checks.patterns:unmatched",
            len(rows),
            rows=rows,
            lines=sorted(subject.source.lines_used(subject.description.line)),
        )
        for item in missed or []:
            return (
                f"the pattern {shown(item['pattern'])} on line {item['line']} matches none of the samples",
                "Try the pattern on a sample; mind re.DOTALL, anchors and escapes.",
                item["line"],
            )
        return None


def _kind(value: float, subject: RewardSubject) -> str:
    bounds = subject.declared_range
    if bounds and value >= bounds[1]:
        return f"is saturated: it scores {number(value)}, the top of its range, on all"
    return f"scores {number(value)} on all"


def always_true(subject: RewardSubject) -> Iterable[tuple[ast.expr, str]]:
    """Non-empty texts that stand as a condition by themselves in the reward's file."""
    used = subject.source.lines_used(subject.description.line)
    for node in ast.walk(subject.source.tree):
        if isinstance(node, ast.BoolOp) and node.lineno in used:
            for part in node.values[:-1] if isinstance(node.op, ast.Or) else node.values:
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value:
                    yield part, part.value
