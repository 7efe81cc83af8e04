"""Samples as a samples file of our own."""

from __future__ import annotations

import json
from typing import Any

from rewards.errors import UsageError
from workbench.samples.records import Samples

OWN = ("id", "group", "prompt", "completion", "label", "expected")


def to_jsonl(samples: Samples) -> str:
    """One strict JSON object a line: id, group, prompt, completion, label, expected, then the columns.

    A value that a row does not have is left out. What a log says a row scored then is not kept: a column of that name
    would be passed to rewards.

    Raises:
        UsageError: a column has the name of one of our own fields, or a value that JSON cannot hold.
    """
    clash = set(OWN) & set(samples.columns)
    if clash:
        raise UsageError(
            f"the samples have a column '{min(clash)}', which is a field of a samples file; rename it"
        )
    return "".join(_line(samples, row) for row in range(len(samples)))


def _line(samples: Samples, row: int) -> str:
    fields: dict[str, Any] = {
        "id": samples.ids[row],
        "group": samples.groups[row],
        "prompt": samples.prompts[row],
        "completion": samples.completions[row],
        "label": samples.labels[row],
        "expected": samples.expected[row],
        **{name: values[row] for name, values in samples.columns.items()},
    }
    there = {name: value for name, value in fields.items() if value is not None}
    try:
        return json.dumps(there, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"row {row} ({samples.ids[row]}) has a value that JSON cannot hold: {error}"
        ) from error


__all__ = ["to_jsonl"]
