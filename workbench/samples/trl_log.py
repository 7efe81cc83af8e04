"""TRL's completions log: what a run with `log_completions=True` writes, as text or as messages.

Its columns are `step`, `prompt`, `completion`, one number column for each reward, what `log_extra` added, and
`advantage`. The step, the rewards' scores and the advantage say what happened in the run; they are kept aside
and never passed to rewards as data. What `log_extra` added stays a column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.samples.flat import flat_draft
from workbench.samples.format import Draft, Raw, Shape, Values

ADVANTAGES = ("advantage", "advantages")
LOG = ("step", "prompt", "completion")


def _matches(values: Values) -> bool:
    return all(name in values for name in LOG) and any(name in values for name in ADVANTAGES)


def _drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    draft = flat_draft(raw, mapped)
    if mapped.get("step") != "step":
        draft.columns.pop("step", None)
    yield draft


def keep_scores_aside(drafts: list[Draft], mapped: Mapping[str, str]) -> None:
    """Keep aside the scores: the advantage, and the number columns right after `completion`."""
    if not drafts:
        return
    kept = set(mapped.values())
    names = [name for name in drafts[0].columns if name not in ADVANTAGES]
    scores = [name for name in ADVANTAGES if name in drafts[0].columns]
    for name in names:
        if name in kept or not all(_is_score(draft.columns.get(name)) for draft in drafts):
            break  # the first column that is no reward begins those of `log_extra`
        scores.append(name)
    for draft in drafts:
        draft.recorded.update({name: draft.columns.pop(name, None) for name in scores})


def _is_score(value: Any) -> bool:
    return value is None or isinstance(value, float)


TRL_LOG = Shape("TRL completions log", _matches, _drafts, keep_scores_aside)
