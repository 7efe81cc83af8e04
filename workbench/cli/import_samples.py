"""`reward-workbench import`: completions of any readable format as a samples file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.reading import Columns, parse_columns


def import_samples(
    file: Annotated[Path, typer.Argument(help="A file or folder in any format that `score` reads.")],
    out: Annotated[Path, typer.Option("--out", help="The samples file to write, JSONL.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the samples file that is there.")
    ] = False,
    columns: Columns = "",
) -> None:
    """Write completions of any readable format as samples.jsonl, a row a line; prints the file that was written."""
    from rewards.errors import UsageError
    from workbench.cli.printing import notes_to_stderr, write_output
    from workbench.samples import read_samples
    from workbench.samples.writing import to_jsonl

    if out.resolve() == file.resolve():
        raise UsageError(f"{file} is the file to read; give --out another name: samples are never changed")
    if out.exists() and not overwrite:
        raise UsageError(f"{out} is there already; give --out another name, or replace it: --overwrite")
    mapping = parse_columns(columns)
    samples = read_samples([file], columns=mapping, named=mapping)
    notes_to_stderr([*samples.notes, *map(str, samples.skipped)], limit=10)
    write_output(to_jsonl(samples), out)
    typer.echo(str(out))
    skipped = f", {len(samples.skipped)} skipped" if samples.skipped else ""
    groups = len(set(samples.groups))
    rows = f"{len(samples)} row{'s' * (len(samples) != 1)} in {groups} group{'s' * (groups != 1)}"
    typer.echo(f"note: {rows}{skipped}", err=True)
