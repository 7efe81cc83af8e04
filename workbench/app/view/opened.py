"""The samples drawer: which rows are open, what a file that might be opened holds, what was skipped and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rewards.contract import completion_text
from workbench.app.view.row import value_text
from workbench.app.view.rows import preview
from workbench.samples import LABELS, Samples, Skipped
from workbench.samples.looking import Look

MAX_SKIPPED = 40
MAX_COLUMNS = 60
EXAMPLE = 160
FIRST_ROWS = 5
SIZES_TOLD = 6


def samples_view(samples: Samples) -> dict[str, Any]:
    """JSON of what is open; its size does not depend on the number of rows."""
    sizes = Counter(Counter(samples.groups).values())
    by_file = Counter(place.file for place in samples.places)
    return {
        "rows": len(samples),
        "groups": sum(sizes.values()),
        "sizes": [
            [size, count] for size, count in sorted(sizes.items(), key=lambda item: -item[1])[:SIZES_TOLD]
        ],
        "ragged": len(sizes) > 1,
        "alone": sizes.get(1, 0),
        "chat": samples.chat,
        "steps": len({step for step in samples.steps if step is not None}),
        "files": [{"name": file.name, "place": str(file), "rows": count} for file, count in by_file.items()][
            :20
        ],
        "columns": [_column(name, values) for name, values in samples.columns.items()][:MAX_COLUMNS],
        "labels": {label: samples.labels.count(label) for label in LABELS if label in samples.labels},
        "expected": sum(1 for wanted in samples.expected if wanted),
        "skipped": skipped_view(samples.skipped),
        "notes": list(samples.notes),
    }


def _column(name: str, values: Sequence[Any]) -> dict[str, Any]:
    there = [value for value in values if value is not None]
    return {"name": name, "filled": len(there), "example": _example(there[0]) if there else ""}


def _example(value: Any) -> str:
    text = " ".join(value_text(value).split())
    return text if len(text) <= EXAMPLE else text[:EXAMPLE] + "…"


def skipped_view(skipped: Sequence[Skipped]) -> dict[str, Any]:
    """How many rows were left out, why (the commonest reason first), and where the first of them are."""
    reasons = Counter(item.why for item in skipped)
    return {
        "count": len(skipped),
        "reasons": [[why, count] for why, count in reasons.most_common(SIZES_TOLD)],
        "first": [[item.file.name, item.line, item.why] for item in skipped[:MAX_SKIPPED]],
    }


def look_view(look: Look) -> dict[str, Any]:
    """JSON of a file that might be opened."""
    columns: Mapping[str, Any] = look.first
    return {
        "files": [file.name for file in look.files[:20]],
        "format": " · ".join(part for part in (look.container, look.shape) if part),
        "names": [{"name": name, "example": _example(value)} for name, value in columns.items()][
            :MAX_COLUMNS
        ],
        "columns": dict(look.columns),
        "guessed": look.guessed,
        "why": look.why,
        "samples": None if look.samples is None else samples_view(look.samples),
        "first": [] if look.samples is None else _first(look.samples),
    }


def _first(samples: Samples) -> list[list[str]]:
    return [
        [_example(_asked(samples.prompts[row])), preview(completion_text(samples.completions[row]), "head")]
        for row in range(min(FIRST_ROWS, len(samples)))
    ]


def _asked(prompt: Any) -> str:
    if isinstance(prompt, list) and prompt and isinstance(prompt[-1], Mapping):
        return value_text(prompt[-1].get("content", ""))
    return value_text(prompt)


def safe_name(name: str) -> str:
    """A file's name without anything that leads elsewhere.

    >>> safe_name("../../etc/passwd"), safe_name("my rows (1).jsonl"), safe_name("..")
    ('passwd', 'my rows (1).jsonl', 'upload')
    """
    last = Path(name.replace("\\", "/")).name
    kept = "".join(char for char in last if char.isalnum() or char in " ._-()+=@").strip(" .")[-120:]
    return kept or "upload"
