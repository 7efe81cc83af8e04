"""RW906: a dot that stops at the end of a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.checks.check import shown_pattern
from workbench.checks.code.layouts import Written, patterns
from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code
from workbench.checks.subject import RewardSubject


class DotlessPattern(Lead):
    """A pattern over tags whose `.*` does not go past the end of a line.

    Models write their reasoning over several lines, and a dot takes none of the line ends unless the pattern is given
    `re.DOTALL`. Such a reward pays for one-line answers only, or nobody. It is reported where samples show it: the
    pattern misses them, and takes them with the flag.

    Example:
        re.match(r"<think>.*?</think>\\s*<answer>.*?</answer>$", text)

    Remedy:
        `re.match(pattern, text, re.DOTALL)`, or `[^<]*` in place of the dot.
    """

    code = "RW906"
    name = "dotless-pattern"
    summary = "a pattern over tags stops at the end of a line"
    advice = "Add re.DOTALL, or write [^<]* in place of the dot."
    proved_by = ("RW208", "RW401", "RW402", "RW601", "RW406")

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """Patterns that take more of the samples with DOTALL."""
        for written in patterns(code):
            if written.dotall or not written.endless_dot or not ({"<", "```", "\\boxed"} & _marks(written)):
                continue
            missed = _missed(written, subject)
            spot = (
                f"has the pattern {shown_pattern(written.pattern)} without re.DOTALL: "
                "its dot stops at the end of a line"
            )
            if missed:
                row = min(missed, key=lambda r: len(subject.text(r)))
                many = f"; {len(missed)} sample{'s are' if len(missed) > 1 else ' is'} missed by it for that"
                evidence = subject.evidence(row, got="no match", expected="a match")
                yield Spot(
                    written.line, spot + many, f"dot {written.pattern}", evidence=evidence, count=len(missed)
                )
            else:
                yield Spot(written.line, spot, f"dot {written.pattern}", alone=False)


def _marks(written: Written) -> set[str]:
    found = {"<"} if len(written.tags) >= 2 else set()
    return found | {mark for mark in ("```",) if mark in written.pattern}


def _missed(written: Written, subject: RewardSubject) -> list[int]:
    """Samples that the pattern takes with DOTALL only."""
    if subject.batch is None:
        return []
    method = next((m for m in ("fullmatch", "match") if m in written.methods), "search")
    own = getattr(re.compile(written.pattern, written.flags), method)
    wide = getattr(re.compile(written.pattern, written.flags | re.DOTALL), method)
    texts = [(row, subject.text(row)) for row in range(min(200, len(subject.batch)))]
    return [
        row
        for row, text in texts
        if "\n" in text.strip() and len(text) < 4000 and not own(text.strip()) and wide(text.strip())
    ]
