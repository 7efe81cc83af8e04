"""RW114: completions with several messages, as tool use makes them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rewards.contract import Status
from rewards.errors import RewardWorkbenchError
from workbench.checks.check import RewardCheck, number
from workbench.checks.finding import Cost, Finding, Severity
from workbench.checks.subject import RewardSubject, reason_of
from workbench.opening import manifest_of

BY_TURNS = ("tools", "environment_factory")
"""Settings of `[train]` that make completions of several messages."""

_CALL = {"type": "function", "function": {"name": "lookup", "arguments": "{}"}}


class SeveralTurns(RewardCheck):
    """The reward reads the first message of a completion, or fails on a tool call.

    With tools a completion has several messages: an assistant message that calls a tool (its content empty or
    None), the tool's answer, and the assistant's final answer. A reward that reads `completion[0]["content"]`
    judges the call and never the answer. Shown by putting a tool call before a sample's own answer: what it
    scores then is what the empty first message scores, and less than the answer scores. As long as no sample has
    several messages it is information where none can come: the manifest plans a training without tools or
    environment, or the samples are plain text that is only read as chat. Likewise of a reward from an installed
    package: its code is not yours to mend.

    Example:
        texts = [completion[0]["content"] for completion in completions]

    Remedy:
        Read the last assistant message: `completion[-1]["content"] or ""`.
    """

    code = "RW114"
    name = "several-turns"
    severity = "warning"
    summary = "the final answer of a completion with several messages is not read"
    cost = Cost.TEACHES_WRONG

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding where the final answer is not read, one where a tool call raises."""
        row = subject.best_row()
        if not subject.chat or row is None or not subject.steadiness.reliable:
            return
        text = subject.text(row)
        empty = [{"role": "assistant", "content": ""}]
        variants = [with_tool(text, ""), with_tool(text, None), empty, subject.shaped(text)]
        # one call each: what another completion of the call shifts is no matter of turns
        called = [subject.call([row], [variant]) for variant in variants]
        status = [result.status[0] for result in called]
        if status[3] != Status.NUMBER:
            return
        tooled, _, first, answer = (float(result.scores[0]) for result in called)
        if status[0] == status[2] == Status.NUMBER and tooled == first and answer > first:
            yield self._unread(subject, row, variants[0], first, answer)
        elif status[1] in (Status.RAISED, Status.DIED):
            yield self._raises(subject, row, variants[1], called[1].errors.get(0, ""))

    def _unread(
        self, subject: RewardSubject, row: int, completion: Any, got: float, expected: float
    ) -> Finding:
        return self.finding(
            f"{subject.name} does not read the final answer of a completion with several messages: with a tool call "
            f"before it, an answer worth {number(expected)} scores {number(got)}, like the empty first message.",
            advice='Read the last assistant message, completion[-1]["content"], not completion[0].',
            cause="first message",
            reward=subject.name,
            severity=_level(subject),
            evidence=subject.evidence(row, completion=completion, got=got, expected=expected),
            line=subject.description.line,
        )

    def _raises(self, subject: RewardSubject, row: int, completion: Any, error: str) -> Finding:
        line = subject.source.line_of(error)
        return self.finding(
            f"{subject.name} raises {subject.source.without_place(error)} on a completion with a tool call, whose "
            "first message has the content None.",
            advice='Read the content as message.get("content") or "".',
            cause=f"raises {reason_of(error)} at {subject.source.statement(line)}",
            reward=subject.name,
            severity=_level(subject),
            evidence=subject.evidence(row, completion=completion, got=error, expected="a number"),
            line=line or subject.description.line,
            shared=True,
        )


def _level(subject: RewardSubject) -> Severity:
    completions = subject.batch.completions if subject.batch is not None else []
    if any(len(completion) > 1 for completion in completions):
        return "warning"
    installed = "site-packages" in Path(subject.description.file or "").parts
    return "info" if installed or _one_message(subject) else "warning"


def _one_message(subject: RewardSubject) -> bool:
    """Whether the manifest leaves no way for a completion of several messages."""
    try:
        manifest = manifest_of(subject.bench.target)
    except RewardWorkbenchError:
        return False
    if manifest is None:
        return False
    settings = manifest.train.settings
    planned = bool(manifest.train.model_fields_set or manifest.data.train)
    return manifest.set.read_as == "chat" or (planned and not any(settings.get(name) for name in BY_TURNS))


def with_tool(text: str, content: str | None) -> list[dict[str, Any]]:
    """A completion that calls a tool before it answers `text`."""
    return [
        {"role": "assistant", "content": content, "tool_calls": [_CALL]},
        {"role": "tool", "name": "lookup", "content": ""},
        {"role": "assistant", "content": text},
    ]
