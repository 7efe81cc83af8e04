"""The record a training run of ours keeps in `completions/`: TRL's columns, and what a run knows besides.

Rewards, total and advantage are kept aside as in TRL's log; `split`, `credits`, `errors` and `seconds` speak of
the scoring then and are left out. Everything else is a column of the data, so that a record can be scored again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.samples.flat import flat_draft
from workbench.samples.format import Draft, Raw, Shape, Values

OF_THE_RUN = ("split", "credits", "errors", "seconds")


def _matches(values: Values) -> bool:
    return all(name in values for name in ("step", "prompt", "completion", "advantage", "total", *OF_THE_RUN))


def _drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    draft = flat_draft(raw, mapped)
    names = list(raw.values)
    rewards = names[names.index("completion") + 1 : names.index("advantage")]
    for name in (*rewards, "total", "advantage"):
        draft.recorded[name] = draft.columns.pop(name)
    for name in ("step", *OF_THE_RUN):
        if name not in mapped.values():
            draft.columns.pop(name, None)
    yield draft


RUN_RECORD = Shape("run record", _matches, _drafts)
