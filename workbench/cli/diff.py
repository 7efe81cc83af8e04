"""`reward-workbench diff`: what two versions of a reward pay for the same completions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewards.permissions import UNSAFE_CODE, UNSAFE_CODE_HELP, allow_unsafe_code
from workbench.cli.reading import Columns, ReadAs, parse_columns


def diff(
    old: Annotated[
        str,
        typer.Argument(
            help="A target, a kept version (@1: the last but this), or a git revision (REV, REV:path)."
        ),
    ],
    new: Annotated[str, typer.Argument(help="The same, what it is compared with.")],
    samples: Annotated[
        list[Path] | None,
        typer.Option("--samples", help="Completions to score; default: those of the manifest."),
    ] = None,
    format: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
    columns: Columns = "",
    read_as: ReadAs = "",
    unsafe_code: Annotated[
        bool, typer.Option(UNSAFE_CODE, help=UNSAFE_CODE_HELP, callback=allow_unsafe_code)
    ] = False,
) -> None:
    """Compare two versions of a reward on the same completions: rows, ranks, signs of advantages, code."""
    import json

    from rewards.errors import UsageError
    from workbench.cli.printing import notes_to_stderr, progress_bar, write_output
    from workbench.comparing import compare_sides, samples_of
    from workbench.reports.diff_text import to_text
    from workbench.sides import open_sides

    if format not in ("text", "json"):
        raise UsageError(f"--format {format}: known formats are text, json")
    with open_sides(old, new) as sides:
        opened = samples_of(sides, samples or [], read_as, parse_columns(columns))
        notes_to_stderr([*opened.samples.notes, *map(str, opened.samples.skipped)], limit=10)
        with progress_bar("scoring") as progress:
            found = compare_sides(sides, opened, progress=progress)
    notes_to_stderr(found.notes)
    if format == "json":
        write_output(json.dumps(found.to_json(), allow_nan=False, ensure_ascii=False), None)
    else:
        write_output(to_text(found, opened.samples), None)
