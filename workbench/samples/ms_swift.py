"""ms-swift's completions log: a line is a logging step, its columns are lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.samples.flat import flat_draft, step_of
from workbench.samples.format import Draft, Raw, RowError, Shape, Values
from workbench.samples.trl_log import finish


def _matches(values: Values) -> bool:
    prompts, completions = values.get("prompt"), values.get("completion")
    lists = isinstance(prompts, list) and isinstance(completions, list) and len(prompts) == len(completions)
    return lists and all(isinstance(text, str) for text in completions or ())


def _drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    completions = raw.values.get("completion")
    if not isinstance(completions, list):
        raise RowError("`completion` is not a list, which it is in the first line of this file")
    lists = {
        name: value
        for name, value in raw.values.items()
        if isinstance(value, list) and len(value) == len(completions)
    }
    shared = {name: value for name, value in raw.values.items() if name not in lists}
    for row in range(len(completions)):
        values = {**shared, **{name: value[row] for name, value in lists.items()}}
        draft = flat_draft(Raw(raw.line, values), mapped)
        draft.step = step_of(values.get("step"))
        draft.columns.pop("step", None)
        yield draft


MS_SWIFT = Shape("ms-swift completions log", _matches, _drafts, finish)
