"""The manual of the diagnoses: one page each, from the docstrings of their files."""

from __future__ import annotations

import importlib

from trainer.diagnoses import RULES
from trainer.watching.thresholds import Thresholds

HEAD = """# Diagnoses of a run

What the monitor looks for while a run goes on. A finding is told when it appears and when it gets worse, stands in
`diagnoses.jsonl` of the run folder, and is shown by `reward-workbench watch`. Nothing stops a run unless `halt` asks
for it (`--set halt=true`: for non-finite numbers, a critical KL, full truncation, or two windows without signal).

Written by `make docs` from the files under `trainer/diagnoses/`; how well they do is measured in
[monitor-proof.md](monitor-proof.md).

"""


def manual() -> str:
    """The whole text."""
    pages = []
    for name in [*RULES, "out-of-memory"]:
        module = importlib.import_module(f"trainer.diagnoses.{name.replace('-', '_')}")
        title, _, text = (module.__doc__ or "").strip().partition("\n")
        first = title.removeprefix(f"{name}: ")
        pages.append(f"## {name}\n\n{first[:1].upper()}{first[1:]}\n{text}\n")
    rows = [f"| `{name}` | {field.default:g} |" for name, field in Thresholds.model_fields.items()]
    lines = "\n".join(line.strip() for line in (Thresholds.__doc__ or "").strip().splitlines())
    table = "\n".join(["| threshold | default |", "|---|---|", *rows])
    return HEAD + "\n".join(pages) + f"\n## Thresholds\n\n{lines}\n\n{table}\n"
