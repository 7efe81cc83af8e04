"""RW502: a pattern whose time runs away."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from rewards.errors import WorkerDied, WorkerTimeout
from workbench.checks.check import RewardCheck, shown, shown_pattern
from workbench.checks.finding import Cost, Finding, Severity
from workbench.checks.robustness.growth import LONG, Growth
from workbench.checks.subject import RewardSubject

PROBE = "workbench.checks.robustness.measuring:"
SECONDS = 3.0
"""Processor seconds for the patterns of a reward, together."""
WARNING_S = 2.0
"""Twice the second that matters: a busy machine measures up to twice the time."""
CUBIC = 2.5


class SlowPattern(RewardCheck):
    """A pattern needs a time that grows faster than the text, or never comes to an end.

    Python's `re` tries every way in which a text may be divided among the repeats of a pattern. Two repeats that can
    take the same characters give a time that grows with the square of the length or worse, a repeat inside a repeat
    one that doubles with every character. A model that loops does write such texts, and TRL waits for ever. Each
    pattern is tried on texts made of its own literals; reported is what costs over 20 ms, with the power by which it
    grows. It is a warning where 32,000 characters take over a second, an error where a few dozen never end, and
    a note below that, and where the reward cuts long texts before it tries the pattern. A pattern that the reward only
    tries on short or cleaned texts is not reported, unless it is one that never ends (a note).

    Example:
        re.match(r"^(\\w+\\s?)*$", text)            # never ends on 30 letters and a "!"
        re.search(r"<answer>\\s*(.*?)\\s*</answer>", text, re.DOTALL)   # 1,000 blank lines after <answer>: a second

    Remedy:
        Let no two neighbouring repeats take the same characters: `[^<]*` in place of `.*?`, no `\\s*` beside `.*`
        (strip the match afterwards), no repeat of something that is a repeat. Or find the tags with `str.rfind`.
    """

    code = "RW502"
    name = "slow-pattern"
    severity = "error"
    summary = "a pattern takes ever longer on a text that repeats itself"
    cost = Cost.STOPS
    quick = False

    def run(self, subject: RewardSubject) -> Iterable[Finding]:
        """One finding for each pattern."""
        row = subject.best_row()
        if row is None and subject.usable:
            row = subject.usable[0]
        if row is None or subject.description.file is None:
            return
        lines = sorted(subject.source.lines_used(subject.description.line))
        try:
            found: list[dict[str, Any]] = subject.bench.probe(
                PROBE + "pattern_growths",
                timeout_s=30 + subject.deadline(2),
                reward=subject.name,
                rows=subject.few(2),
                lines=lines,
                seconds=SECONDS,
            )
        except (WorkerTimeout, WorkerDied):
            return
        for item in found:
            growth = Growth.from_json(item["growth"])
            text = slow_completion(subject, row, growth)
            if text is None and not math.isinf(growth.exponent):
                continue
            held = text is not None and severity_of(growth) == "warning" and is_held(subject, row, growth)
            yield self._tell(subject, row, item, growth, text, held=held)

    def _tell(
        self,
        subject: RewardSubject,
        row: int,
        item: dict[str, Any],
        growth: Growth,
        text: str | None,
        *,
        held: bool,
    ) -> Finding:
        level = severity_of(growth) if text is not None and not held else "info"
        how = "" if text is not None else ", though no completion was found that takes the reward there"
        how += ", though the reward gives it only a part of a long text" if held else ""
        return self.finding(
            f"{subject.name}: the pattern {shown_pattern(item['pattern'])} {cost_of(growth)}{how}.",
            advice="Let no two neighbouring repeats take the same characters ([^<]* in place of .*?, no \\s* beside "
            ".*, no repeat inside a repeat), or look for the tags with str.rfind.",
            cause=f"pattern {item['pattern']}",
            reward=subject.name,
            severity=level,
            evidence=subject.evidence(
                row,
                completion=subject.shaped(text or growth.text),
                got=f"{growth.seconds:.2g} s on {growth.length:,} characters"
                if math.isfinite(growth.exponent)
                else f"not done after {growth.seconds:.2g} s",
                expected="a time in proportion to the length",
            ),
            line=item["line"] or subject.description.line,
        )


def slow_completion(subject: RewardSubject, row: int, growth: Growth) -> str | None:
    """A completion on which the reward itself takes the time that the pattern does; None where none was found."""
    texts = places_for(subject, row, growth)
    times = _times(subject, row, texts, max(0.2, 2 * growth.seconds))
    slow = [text for text, seconds in zip(texts, times, strict=False) if seconds >= 0.5 * own_time(growth)]
    return min(slow, key=len, default=None)


def is_held(subject: RewardSubject, row: int, growth: Growth) -> bool:
    """Whether the reward does not let the pattern see all of a long text.

    Looked at where the pattern alone would take a second: the reward takes less than half of that, wherever the text
    stands in the completion.
    """
    length = round(growth.length * (1.0 / max(growth.seconds, 1e-3)) ** (1 / growth.exponent))
    longer = replace(growth, text=growth.before + growth.again * max(1, length // len(growth.again)) + "!")
    times = _times(subject, row, places_for(subject, row, longer), 0.5)
    return bool(times) and max(times) < 0.5


def _times(subject: RewardSubject, row: int, texts: list[str], limit: float) -> list[float]:
    """Processor seconds of the reward on each text; none where the worker was lost."""
    times: list[float] | None = subject.bench.probe(
        PROBE + "times_of",
        timeout_s=20 + subject.deadline(len(texts)) + limit * len(texts),
        reward=subject.name,
        row=row,
        texts=texts,
        chat=subject.chat,
        limit=limit,
    )
    return times or []


def own_time(growth: Growth) -> float:
    """Seconds that the shortest telling text takes, about."""
    if math.isinf(growth.exponent):
        return growth.seconds
    return float(growth.seconds * (len(growth.text) / growth.length) ** growth.exponent)


def places_for(subject: RewardSubject, row: int, growth: Growth) -> list[str]:
    """The slow text by itself, as last line, as first line, and in the place of a right sample's answer."""
    slow = growth.text
    if math.isinf(growth.exponent):  # some repetitions more: the reward may clean the text a little first
        slow = growth.before + growth.again * (len(growth.text) // len(growth.again) + 6) + "!"
    text = subject.text(row)
    slots = [case.slot for case in subject.task.cases if case.row == row and case.slot is not None]
    made = [slow, f"{text}\n{slow}", f"{slow}\n{text}"]
    made += [slot.write(slow) for slot in slots] + [slot.before + slow for slot in slots]
    for closing in dict.fromkeys(("</answer>", "</think>", "}")):
        if closing in text:
            made.append(text[: text.rfind(closing)] + slow + text[text.rfind(closing) :])
    return list(dict.fromkeys(made))


def severity_of(growth: Growth) -> Severity:
    """Error where it never ends, warning where 32,000 characters cost over a second, else info.

    Any `\\s*,` or `\\s+$` grows with the square of a run of blanks: that alone is a note.
    """
    if math.isinf(growth.exponent):
        return "error"
    if not growth.again.strip() and growth.exponent < CUBIC:
        return "info"
    return "warning" if growth.at_long > WARNING_S else "info"


def cost_of(growth: Growth) -> str:
    """What a growth costs, as the end of a sentence."""
    again = shown(growth.again, 40)
    after = f" after {shown(growth.before, 40)}" if growth.before else ""
    if math.isinf(growth.exponent):
        return (
            f"does not come to an end on {len(growth.text)} characters, {again} again and again{after}: its time "
            "is multiplied with each repetition"
        )
    return (
        f"takes {duration(growth.at_long)} on {LONG:,} characters of {again} again and again{after}: its time grows "
        f"with the power {growth.exponent:g} of the length"
    )


def duration(seconds: float) -> str:
    """Seconds in words: 0.64 s, 12 s, 5 minutes, 3 hours, days.

    >>> [duration(value) for value in (0.643, 12.2, 300, 11000, 1e6)]
    ['0.64 s', '12 s', '5 minutes', '3 hours', '12 days']
    """
    for size, unit in ((86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


__all__ = ["SlowPattern", "cost_of", "duration", "severity_of"]
