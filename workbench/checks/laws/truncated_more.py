"""RW211: a right completion cut short earns more than the whole one."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.checks.finding import Cost
from workbench.checks.laws.more_than_whole import MoreThanWhole
from workbench.checks.task import Case, Task


class TruncatedMore(MoreThanWhole):
    """The beginning of a right sample earns more than all of it.

    Completions are cut at the length limit all the time. A right one that is cut has lost its end, in most
    forms the answer; if the rest earns more, the policy learns to be cut. Cut after a quarter, half and three
    quarters, before each line, and just before the end.

    Example:
        return [1.0 - len(text) / 4000 + 2.0 * correct for ...]      # "" scores 1.0

    Remedy:
        Pay the end of the answer more than what its absence saves; keep penalties for length small.
    """

    code = "RW211"
    name = "truncated-more"
    severity = "error"
    summary = "a right completion cut short earns more than the whole one"
    cost = Cost.TEACHES_WRONG
    advice = "Pay for the whole answer more than for any beginning of it; keep penalties for length small."

    def damaged(self, task: Task, case: Case) -> Iterable[tuple[str, str]]:
        """Beginnings of the right sample."""
        text = case.text
        for part in (4, 2):
            yield (
                text[: len(text) // part],
                f"the first {'half' if part == 2 else 'quarter'} of a right sample",
            )
        yield text[: 3 * len(text) // 4], "the first three quarters of a right sample"
        places = [place for place, character in enumerate(text) if character == "\n"][:6]
        for place in places:
            yield text[:place], "a right sample cut at the end of a line"
        yield text[:-1], "a right sample without its last character"
