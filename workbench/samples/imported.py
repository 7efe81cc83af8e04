"""Rows of a log as `import` writes them: a samples file with the `step` of each row and its `log_file`.

Both say which rows belong to one call, as in the log; they are no columns and not passed to rewards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.samples.flat import flat_draft
from workbench.samples.format import Draft, Raw, Shape, Values

FIELDS = ("id", "group", "step", "log_file", "prompt", "completion")
"""What each row of such a file has."""


def _matches(values: Values) -> bool:
    return all(name in values for name in FIELDS)


def _drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    draft = flat_draft(raw, mapped)
    draft.log_file = str(draft.columns.get("log_file") or "")
    for name in ("step", "log_file"):
        if mapped.get(name) != name:
            draft.columns.pop(name, None)
    yield draft


IMPORTED = Shape("imported log", _matches, _drafts)
