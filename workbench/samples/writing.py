"""Samples as a samples file of our own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rewards.errors import UsageError
from workbench.samples.records import Samples, Skipped

OWN = ("id", "group", "prompt", "completion", "label", "expected")


class Written(NamedTuple):
    """The text of a samples file, the groups of its rows, and the rows that it cannot hold."""

    text: str
    groups: list[str]
    skipped: list[Skipped]


def to_jsonl(samples: Samples) -> Written:
    """One strict JSON object a line: id, group, prompt, completion, label, expected, then the columns.

    A value that a row does not have is left out. What a log says a row scored then is not kept: a column of that name
    would be passed to rewards. The step of a logged row is kept with the file it stood in (`samples/imported.py`),
    so that the rows of a call stay together. A row with a value that JSON cannot hold is skipped.

    Raises:
        UsageError: a column has the name of one of our own fields, or JSON can hold no row.
    """
    logs = _logs(samples)
    own = (*OWN, "log_file") if logs else OWN
    clash = set(own) & set(samples.columns)
    if clash:
        raise UsageError(
            f"the samples have a column '{min(clash)}', which is a field of a samples file; rename it"
        )
    lines: list[str] = []
    groups: list[str] = []
    skipped: list[Skipped] = []
    for row in range(len(samples)):
        fields = _fields(samples, row, logs)
        try:
            lines.append(json.dumps(fields, allow_nan=False) + "\n")
            groups.append(samples.groups[row])
        except (TypeError, ValueError, RecursionError) as error:
            place = samples.places[row]
            skipped.append(Skipped(place.file, place.line, _fault(fields, error)))
    if skipped and not lines:
        raise UsageError(f"no row can be written: {skipped[0]}")
    return Written("".join(lines), groups, skipped)


def _logs(samples: Samples) -> Mapping[Path, str]:
    """The files of a log by the names they get; empty where rows have no step, or have it as a column of their own."""
    if "step" in samples.columns or samples.steps.count(None) == len(samples.steps):
        return {}
    files = dict.fromkeys(place.file for place in samples.places)
    names = {file.name for file in files}
    return {file: file.name if len(names) == len(files) else file.as_posix() for file in files}


def _fields(samples: Samples, row: int, logs: Mapping[Path, str]) -> dict[str, Any]:
    """What a row's line holds; `step` and `log_file` in each line of a log, for a file is told by its first line."""
    place = samples.places[row]
    logged = {"step": samples.steps[row], "log_file": place.log_file or logs[place.file]} if logs else {}
    fields: dict[str, Any] = {
        "id": samples.ids[row],
        "group": samples.groups[row],
        **logged,
        "prompt": samples.prompts[row],
        "completion": samples.completions[row],
        "label": samples.labels[row],
        "expected": samples.expected[row],
        **{name: values[row] for name, values in samples.columns.items()},
    }
    return {name: value for name, value in fields.items() if value is not None or name in logged}


def _fault(fields: Mapping[str, Any], error: Exception) -> str:
    """Which field it is that JSON cannot hold."""
    for name, value in fields.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            return f"`{name}` has a value that JSON cannot hold: {error}"
    return f"it has a value that JSON cannot hold: {error}"


__all__ = ["Written", "to_jsonl"]
