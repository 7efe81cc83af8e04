"""A task file: a record is one prompt with its ground truth and a list of `samples`, `{completion, label}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.samples.flat import ROLES, flat_draft
from workbench.samples.format import Draft, Raw, RowError, Shape, Values, kind_of


def _matches(values: Values) -> bool:
    return isinstance(values.get("samples"), list) and "completion" not in values


def _drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft | RowError]:
    """One draft for each sample; what a sample says itself wins over what its prompt's record says."""
    samples = raw.values.get("samples")
    if not isinstance(samples, list):
        raise RowError("no `samples` list, which the first record of this file has")
    shared = {name: value for name, value in raw.values.items() if name != "samples"}
    for index, sample in enumerate(samples):
        if not isinstance(sample, dict):
            yield RowError(f"sample {index} is {kind_of(sample)}, not an object with a `completion`")
            continue
        own = {name: value for name, value in sample.items() if name not in ROLES}
        try:
            draft = flat_draft(Raw(raw.line, {**shared, **own}), mapped)
        except RowError as error:
            yield RowError(f"sample {index}: {error}")
            continue
        for role in ROLES:
            if role not in sample:
                continue
            if role in shared:  # the record's own `label` beside a sample's is ground truth of that name
                draft.columns[role] = shared[role]
            setattr(draft, role, sample[role])
        if "id" not in sample and draft.id is not None:
            draft.id = f"{draft.id}-{index}"
        draft.sample = index
        yield draft


TASK_FILE = Shape("task file", _matches, _drafts)
