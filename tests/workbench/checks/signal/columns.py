"""Samples whose scores stand in columns, and rewards that give them back."""

from collections.abc import Sequence
from typing import Any

VALUE = "def reward(completions, value, **kwargs): return list(value)\n"


def grouped(
    groups: Sequence[Sequence[Any]], *names: str, texts: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """A row for each entry of each group; an entry is a value, or one for each of `names`."""
    columns = names or ("value",)
    rows = []
    for group, entries in enumerate(groups):
        for place, entry in enumerate(entries):
            values = entry if isinstance(entry, (list, tuple)) else [entry]
            text = texts[place] if texts is not None else f"text {place} of {group}"
            row = {"prompt": f"prompt {group}", "completion": text}
            rows.append({**row, **dict(zip(columns, values, strict=True))})
    return rows


def members(**weights: float) -> str:
    """The source of a set: for each name a reward that gives back the column `NAME_value`, with its weight."""
    parts = ["from rewards.marks import reward as mark\n"]
    parts += [
        f"@mark(weight={weight})\ndef {name}(completions, {name}_value, **kwargs): return list({name}_value)\n"
        for name, weight in weights.items()
    ]
    return "".join(parts)
