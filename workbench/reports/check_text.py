"""A check report as text: dense, what costs most first, every finding with what shows it and what to do.

The text is the same in a file and on a terminal but for colour, which is the caller's decision. Nothing that
came from a model is written raw: control characters and broken emoji are shown as escapes.
"""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.checks.finding import Finding
from workbench.checks.report import Proved, Report, Skipped

if TYPE_CHECKING:
    from rewards.rewardset import RewardDescription

COLOURS = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "info": "\x1b[36m",
    "strong": "\x1b[1m",
    "quiet": "\x1b[2m",
    "good": "\x1b[1;32m",
}
RESET = "\x1b[0m"
LABEL = 12
LINES = 8
"""Lines of a completion shown, at most."""


def check_text(
    report: Report, *, colour: bool = False, width: int | None = None, durations: bool = False
) -> str:
    """The whole report.

    Args:
        report: what `run_checks` gave.
        colour: with ANSI colours, for a terminal.
        width: characters a line; default: the terminal's, between 60 and 110.
        durations: add how long each check took.
    """
    return "\n".join(_Text(report, colour, width or _width()).lines(durations)) + "\n"


def finding_text(finding: Finding, description: RewardDescription | None = None, *, width: int = 100) -> str:
    """One finding as in the whole report: level, message, what shows it, the line of code and what to do.

    `description` is that of its reward, None for the set.
    """
    return "\n".join(_Findings(False, width).finding(finding, description))


def _width() -> int:
    return max(60, min(110, shutil.get_terminal_size((100, 24)).columns))


def finding_words(finding: Finding, *, width: int = 160) -> str:
    """A finding for places that have no layout of their own: message, completion, got, expected, advice."""
    lines = [safe(finding.message)]
    if finding.evidence.completion is not None:
        lines += [
            "completion:",
            *(list(completion_lines(finding.evidence.completion, width)) or ["(no message)"]),
        ]
    for name, value in (("got", finding.evidence.got), ("expected", finding.evidence.expected)):
        if value is not None:
            lines.append(f"{name}: {shorten(value_words(value), 2 * width)}")
    return "\n".join([*lines, safe(finding.advice)])


class _Findings:
    """Findings one after another, what was told once not told again."""

    def __init__(self, colour: bool, width: int) -> None:
        self.colour = colour
        self.width = width
        self.files: dict[str, list[str]] = {}
        self.told: dict[tuple[str, str, str], str] = {}

    def paint(self, text: str, style: str) -> str:
        return f"{COLOURS[style]}{text}{RESET}" if self.colour and text else text

    def finding(self, finding: Finding, description: RewardDescription | None) -> Iterator[str]:
        file = Path(description.file).name if description and description.file else ""
        place = f"{file}:{finding.line}" if file and finding.line else ""
        count = f"  {finding.count} samples" if finding.count > 1 else ""
        level = "waived" if finding.waived is not None else "known" if finding.known else finding.severity
        style = "quiet" if finding.accepted else finding.severity
        head = f"  {self.paint(f'{level:<8}', style)}{finding.check} {finding.name}"
        yield head + self.paint(f"{'  ' + place if place else ''}{count}", "quiet")
        yield from textwrap.wrap(
            safe(finding.message), self.width, initial_indent=" " * 10, subsequent_indent=" " * 10
        )
        if finding.waived is not None:
            yield from self.field("waived", [finding.waived])
        if finding.accepted:
            return
        # the same matter in another reward, usually through a helper both use: what shows it was told there
        matter = (finding.check, finding.cause, finding.advice)
        if finding.reward and matter in self.told:
            yield from self.field("as in", [self.told[matter]])
            return
        self.told[matter] = finding.reward or "the set"
        yield from self.evidence(finding, description)
        yield from self.code(finding, description)
        yield from self.field("do", [finding.advice])

    def evidence(self, finding: Finding, description: RewardDescription | None) -> Iterator[str]:
        evidence = finding.evidence
        if evidence.completion is not None:
            if evidence.prompt is not None:
                yield from self.field("prompt", [shorten(prompt_text(evidence.prompt), self.width - 22)])
            yield from self.field("completion", list(completion_lines(evidence.completion, self.width - 22)))
            read = _columns_read(evidence.columns, description)
            if read:
                yield from self.field("columns", [shorten(read, self.width - 22)])
        if evidence.got is not None or evidence.expected is not None:
            yield from self.field("got", [shorten(value_words(evidence.got), self.width - 22)])
        if evidence.expected is not None:
            yield from self.field("expected", [shorten(value_words(evidence.expected), self.width - 22)])

    def field(self, label: str, lines: Sequence[str]) -> Iterator[str]:
        """A label and what belongs to it, folded where it is a sentence."""
        for place, line in enumerate(lines):
            folded = (
                [line]
                if label not in ("do", "waived")
                else textwrap.wrap(safe(line), self.width - 10 - LABEL)
            )
            for part in folded:
                name = label if place == 0 and part is folded[0] else ""
                yield " " * 10 + self.paint(f"{name:<{LABEL}}", "quiet") + part

    def code(self, finding: Finding, description: RewardDescription | None) -> Iterator[str]:
        if finding.line is None or description is None or description.file is None:
            return
        source = self.source(description.file)
        if 0 < finding.line <= len(source):
            text = safe(source[finding.line - 1].strip())
            if len(text) > self.width - 22:
                text = text[: self.width - 26] + " ..."
            yield " " * 10 + self.paint(f"{'line ' + str(finding.line):<{LABEL}}", "quiet") + text

    def source(self, file: str) -> list[str]:
        if file not in self.files:
            try:
                self.files[file] = Path(file).read_text(encoding="utf-8", errors="replace").split("\n")
            except OSError:
                self.files[file] = []
        return self.files[file]


class _Text(_Findings):
    def __init__(self, report: Report, colour: bool, width: int) -> None:
        super().__init__(colour, width)
        self.report = report

    def lines(self, durations: bool) -> Iterator[str]:
        yield self.head()
        for sentence in self.report.held_back:
            yield from self.wrapped(sentence, "warning")
        for reward in self.report.rewards:
            yield ""
            yield from self.section(reward.name, reward.findings, self.report.description.reward(reward.name))
        if self.report.findings:
            yield ""
            yield from self.section("the set", self.report.findings, None)
        yield ""
        yield from self.skipped()
        if durations:
            yield from self.durations()
        yield from self.verdict()

    def head(self) -> str:
        report = self.report
        count = len(report.rewards)
        parts = [f"{count} reward{'s' if count != 1 else ''}"]
        if report.rows:
            labels = (
                f", {report.right} right and {report.wrong} wrong" if report.right or report.wrong else ""
            )
            parts.append(f"{report.rows} samples{labels}")
        if report.proved is not None:
            parts.append(sealed_words(report.proved))
        return self.paint(report.description.name, "strong") + self.paint(" · " + " · ".join(parts), "quiet")

    def section(
        self, title: str, findings: Sequence[Finding], description: RewardDescription | None
    ) -> Iterator[str]:
        about = ""
        if description is not None:
            kind = f"{description.entry.kind}, " if description.entry.kind else ""
            about = self.paint(f"  {kind}weight {description.entry.weight:g}", "quiet")
        if not findings:
            yield f"{self.paint(title, 'strong')}{about}  {self.paint('nothing found', 'good')}"
            return
        yield f"{self.paint(title, 'strong')}{about}"
        for finding in findings:
            yield from self.finding(finding, description)

    def skipped(self) -> Iterator[str]:
        """One line for each reason, with the codes it concerns."""
        reasons: dict[str, list[Skipped]] = {}
        for item in self.report.skipped:
            if item.held is not None:
                continue  # told at the top
            reasons.setdefault(item.to_json()["why"], []).append(item)
        for why, items in reasons.items():
            codes = sorted({item.check for item in items})
            text = f"not run: {_ranges(codes)} ({why})"
            yield from (
                self.paint(line, "quiet") for line in textwrap.wrap(text, self.width, subsequent_indent="  ")
            )

    def wrapped(self, text: str, style: str) -> Iterator[str]:
        for line in textwrap.wrap(text, self.width, subsequent_indent="  "):
            yield self.paint(line, style)

    def durations(self) -> Iterator[str]:
        for code, seconds in sorted(self.report.durations.items(), key=lambda item: -item[1]):
            if seconds >= 0.0005:
                yield self.paint(f"{code}  {seconds:7.3f} s", "quiet")

    def verdict(self) -> Iterator[str]:
        """Pass or fail, what was held back, the counts, and what weakens it."""
        report = self.report
        counts = [
            f"{number} {level}{'s' if number != 1 and level != 'info' else ''}"
            for level in ("error", "warning", "info")
            if (number := sum(f.severity == level and not f.accepted for f in report.all_findings))
        ]
        waived = sum(finding.waived is not None for finding in report.all_findings)
        known = sum(finding.accepted for finding in report.all_findings) - waived
        counts += [f"{waived} waived"] * (waived > 0) + [f"{known} known to the baseline"] * (known > 0)
        found = ", ".join(counts) or "nothing found"
        weak = (
            "" if report.strength == "strong" else "; evidence is weak: no samples labelled right and wrong"
        )
        held, remedy = (safe(part) for part in report.held_short)
        without, remedy = (f", with {held}", f"; {remedy}") if held else ("", "")
        text = f"{report.verdict}{without}: {found}, in {report.seconds:.1f} s{remedy}{weak}"
        style = "warning" if held else "good"
        word = self.paint(report.verdict, style if report.verdict == "pass" else "error")
        first, *others = textwrap.wrap(text, self.width, subsequent_indent="  ", break_on_hyphens=False)
        for line in (word + first.removeprefix(report.verdict), *others):
            yield line.replace(weak, self.paint(weak, "quiet")) if weak else line


def sealed_words(proved: Proved) -> str:
    """How much of the evidence is that of an earlier seal."""
    beside = len(proved.rows) - proved.new
    looked = f"{proved.new} new, checked beside {beside} sealed ones" if proved.new else "none new"
    return f"{proved.sealed} of them proved by the seal of {proved.created[:10]}, {looked}"


def _ranges(codes: Sequence[str]) -> str:
    """`RW101, RW103 to RW107`: neighbours in the list drawn together."""
    runs: list[list[str]] = []
    for code in codes:
        if runs and int(code[2:]) == int(runs[-1][-1][2:]) + 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)


def _columns_read(columns: Mapping[str, Any] | None, description: RewardDescription | None) -> str:
    if not columns or description is None:
        return ""
    read = (*description.signature.required, *description.signature.optional)
    return ", ".join(
        f"{name} = {safe(json.dumps(value, ensure_ascii=False, default=repr))}"
        for name, value in columns.items()
        if name in read
    )


def value_words(value: Any) -> str:
    """A value of the evidence in words: no brackets and quotes of Python's."""
    if value is None:
        return "None"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return (
            _strategy(value)
            if "strategy" in value
            else ", ".join(f"{k} {value_words(v)}" for k, v in value.items())
        )
    if isinstance(value, (list, tuple)):
        return ", ".join(map(value_words, value)) or "nothing"
    return safe(str(value))


def _strategy(row: Mapping[str, Any]) -> str:
    """A row of the scoreboard in words."""
    low, high = row.get("low"), row.get("high")
    between = f" ({low:.0%} to {high:.0%})" if low is not None and high is not None else ""
    return f"{safe(str(row['strategy']))} {row.get('share', 0.0):.0%}{between}"


def prompt_text(prompt: Any) -> str:
    """The last message's content of a chat prompt, or the text itself."""
    if isinstance(prompt, list) and prompt and isinstance(prompt[-1], Mapping):
        return str(prompt[-1].get("content") or "")
    return str(prompt)


def completion_lines(completion: Any, width: int) -> Iterator[str]:
    """A completion as lines to read: a short text quoted, a long one folded and cut, messages with their roles."""
    if isinstance(completion, list):
        messages = [message for message in completion if isinstance(message, Mapping)]
        if len(messages) == 1 and isinstance(messages[0].get("content"), str):
            completion = messages[0]["content"]
        else:
            for message in messages:
                calls = " + a tool call" if message.get("tool_calls") else ""
                yield shorten(f"{message.get('role')}: {safe(repr(message.get('content')))}{calls}", width)
            return
    text = str(completion)
    if len(text) <= width - 2 and "\n" not in text.strip("\n"):
        yield safe(json.dumps(text, ensure_ascii=False))
        return
    lines = text.split("\n")
    for line in lines[:LINES]:
        yield "│ " + shorten(safe(line), width - 2)
    if len(lines) > LINES:
        yield f"│ ... {len(lines) - LINES} more lines, {len(text):,} characters in all"


def shorten(text: str, width: int) -> str:
    """One line of at most `width` characters, cut in the middle."""
    text = safe(text.replace("\n", "⏎"))
    if len(text) <= width:
        return text
    half = (width - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def safe(text: str) -> str:
    """`text` with control characters, direction marks and lone surrogates as escapes."""
    return "".join(
        c if c.isprintable() or c in "⏎ " else c.encode("unicode_escape").decode("ascii") for c in text
    )


__all__ = [
    "check_text",
    "completion_lines",
    "finding_text",
    "finding_words",
    "prompt_text",
    "safe",
    "sealed_words",
    "shorten",
    "value_words",
]
