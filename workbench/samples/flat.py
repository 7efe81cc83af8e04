"""The plain shape: a record is one completion, the other keys are its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.samples.format import Draft, Raw, RowError, Shape, Values

ROLES = ("group", "label", "expected", "id")
"""Keys that say something about a row and are not passed to rewards, unless `[data] columns` maps them."""


def flat_draft(raw: Raw, mapped: Mapping[str, str]) -> Draft:
    """The draft of a record with `prompt` and `completion`; every other key is a column or a role."""
    columns = dict(raw.values)
    for name in ("completion", "prompt"):
        if name not in columns:
            raise RowError(f"no `{name}`")
    draft = Draft(raw.line, columns.pop("prompt"), columns.pop("completion"), columns)
    for name in ROLES:
        if name in columns:
            setattr(draft, name, columns[name] if mapped.get(name) == name else columns.pop(name))
    if "step" in columns:
        draft.step = step_of(columns["step"])
    return draft


def step_of(value: object) -> int | None:
    """A training step: a whole number, as a number or as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if isinstance(value, str) and value.strip().isdecimal() else None


def _drafts(raw: Raw, mapped: Mapping[str, str]) -> Iterator[Draft]:
    yield flat_draft(raw, mapped)


def _matches(values: Values) -> bool:
    return True


FLAT = Shape("flat", _matches, _drafts)
