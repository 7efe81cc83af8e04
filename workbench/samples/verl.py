"""verl's rollout dump: `input`, `output`, `gts`, `score`, `step`, and what the reward returned besides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.samples.flat import flat_draft
from workbench.samples.format import Draft, Raw, RowError, Shape, Values

OWN = ("input", "output", "gts", "step")


def _matches(values: Values) -> bool:
    return all(name in values for name in ("input", "output", "score")) and "completion" not in values


def _drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    values = raw.values
    for name in ("input", "output"):
        if name not in values:
            raise RowError(f"no `{name}`")
    named = {"prompt": values["input"], "completion": values["output"]}
    rest = {name: value for name, value in values.items() if name not in ("input", "output")}
    draft = flat_draft(Raw(raw.line, {**rest, **named}), mapped)
    draft.columns.pop("step", None)
    for name, value in list(draft.columns.items()):
        if name not in OWN and isinstance(value, (int, float)):
            draft.recorded[name] = float(draft.columns.pop(name))
    yield draft


VERL = Shape("verl rollout dump", _matches, _drafts, foreign=True)
