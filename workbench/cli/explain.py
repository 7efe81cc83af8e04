"""`reward-workbench explain`: why a completion was paid what it was paid."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewards.permissions import UNSAFE_CODE, UNSAFE_CODE_HELP, allow_unsafe_code


def explain(
    target: Annotated[
        str, typer.Argument(help="Project folder, file.py, file.py::function or package.module:function.")
    ],
    samples: Annotated[
        list[Path] | None,
        typer.Option("--samples", help="Completions to explain; default: those of the manifest."),
    ] = None,
    row: Annotated[
        int | None, typer.Option("--row", help="The row to explain, counted from 0; default: all.")
    ] = None,
    format: Annotated[str, typer.Option("--format", help="text, or json: one object a line.")] = "text",
    unsafe_code: Annotated[
        bool, typer.Option(UNSAFE_CODE, help=UNSAFE_CODE_HELP, callback=allow_unsafe_code)
    ] = False,
) -> None:
    """Show the partial credit that made each score: the line that gave it, its condition, the text it matched."""
    from rewards.errors import UsageError
    from workbench.cli.printing import notes_to_stderr
    from workbench.explanation import explain as explain_samples
    from workbench.opening import open_target
    from workbench.reports.explain_text import printer
    from workbench.tokenizing import tokenizer_for

    if format not in ("text", "json"):
        raise UsageError(f"--format {format}: known formats are text, json")
    opened = open_target(target, samples or [])
    notes_to_stderr([*opened.samples.notes, *map(str, opened.samples.skipped)], limit=10)
    show = printer(format)
    rows = None if row is None else [row]
    for explained in explain_samples(target, opened.samples, rows, tokenizer=tokenizer_for(opened.manifest)):
        show(explained)
