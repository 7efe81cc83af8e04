"""RW209: a right completion earns more with a required part left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from workbench.answer_form import read_json
from workbench.checks.finding import Cost
from workbench.checks.laws.more_than_whole import MoreThanWhole
from workbench.checks.task import Case, Task


class PartRemoved(MoreThanWhole):
    """A right sample earns more when one of its parts is taken away.

    Partial credit has to grow with the parts: adding a missing one never lowers the score, removing one never
    raises it. Where it does, the policy is led away from the whole: an extra is punished that belongs there, or
    the score falls with each part that is there. Taken away are single tags, whole blocks, and keys of a record.

    Example:
        return [1.0 - 0.25 * text.count("<") for text in texts]

    Remedy:
        Add credit for each part that is there, and take nothing away for parts that are asked for.
    """

    code = "RW209"
    name = "part-removed"
    severity = "error"
    summary = "a right completion earns more with a required part left out"
    cost = Cost.TEACHES_WRONG
    advice = "Add credit for each part that is there, and take nothing away for parts that are asked for."

    def damaged(self, task: Task, case: Case) -> Iterable[tuple[str, str]]:
        """The right sample without one of its parts."""
        for tag in task.tags:
            for mark in (f"<{tag}>", f"</{tag}>"):
                yield case.text.replace(mark, "", 1), f"the right sample without its {mark}"
            block = re.compile(rf"<{re.escape(tag)}>.*?</{re.escape(tag)}>\s*", re.DOTALL)
            yield block.sub("", case.text, count=1), f"the right sample without its {tag} block"
        value = read_json(case.text)
        if isinstance(value, Mapping):
            for key in value:
                rest = {name: item for name, item in value.items() if name != key}
                yield json.dumps(rest, ensure_ascii=False), f"the right sample without its key {key!r}"
