"""RW907: a pattern for the whole layout that is not anchored."""

from __future__ import annotations

from collections.abc import Iterator
from re import _constants  # type: ignore[attr-defined]  # no public way to a pattern's tree
from typing import Any

from workbench.checks.check import shown_pattern
from workbench.checks.code.layouts import Written, patterns
from workbench.checks.code.lead import Lead, Spot
from workbench.checks.code.reading import Code
from workbench.checks.subject import RewardSubject

_STARTS = (_constants.AT_BEGINNING, _constants.AT_BEGINNING_STRING)
_ENDS = (_constants.AT_END, _constants.AT_END_STRING)


class OpenPattern(Lead):
    """A pattern for a layout of several tags leaves open what stands before or behind it.

    `re.search` finds the layout anywhere, `re.match` accepts anything behind it: text around the tags, a second
    answer, the same again. Told with a finding that shows such a completion being paid.

    Example:
        re.match(r"<think>.*?</think>\\s*<answer>.*?</answer>", text, re.DOTALL)

    Remedy:
        `re.fullmatch`, or `^` and `$` (without `re.MULTILINE`), and `[^<]*` inside the tags.
    """

    code = "RW907"
    name = "open-pattern"
    summary = "a pattern for a whole layout accepts text around it"
    advice = "Use re.fullmatch, and [^<]* inside the tags."
    proved_by = ("RW210", "RW313", "RW304", "RW212", "RW302")
    alone = False

    def spots(self, code: Code, subject: RewardSubject) -> Iterator[Spot]:
        """Patterns over two or more tags, used to test and not to read, without an anchor."""
        for written in patterns(code):
            if len(set(written.tags)) >= 2 and _is_open(written):
                why = (
                    f"accepts text around the layout: the pattern {shown_pattern(written.pattern)} "
                    "is not anchored at both ends"
                )
                yield Spot(written.line, why, f"open {written.pattern}")


def _is_open(written: Written) -> bool:
    methods = written.methods
    if not methods or methods <= {"fullmatch"} or not methods <= {"search", "match", "fullmatch"}:
        return False
    tree: list[Any] = list(written.tree)
    if not tree:
        return False
    ends = tree[-1][0] is _constants.AT and tree[-1][1] in _ENDS
    starts = tree[0][0] is _constants.AT and tree[0][1] in _STARTS
    return not ends or ("search" in methods and not starts)
