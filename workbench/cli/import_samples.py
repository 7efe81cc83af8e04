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
    from workbench.cli.printing import is_stream, notes_to_stderr, refuse_inputs, write_output
    from workbench.samples import read_samples
    from workbench.samples.writing import to_jsonl

    if out.resolve() == file.resolve():
        raise UsageError(f"{file} is the file to read; give --out another name: samples are never changed")
    stream = is_stream(out)
    if out.exists() and not stream and not overwrite:
        raise UsageError(f"{out} is there already; give --out another name, or replace it: --overwrite")
    mapping = parse_columns(columns)
    samples = read_samples([file], columns=mapping, named=mapping)
    refuse_inputs(out, samples=samples)
    written = to_jsonl(samples)
    left = [*samples.skipped, *written.skipped]
    notes_to_stderr([*samples.notes, *map(str, left)], limit=10)
    write_output(written.text, out)
    if not stream:  # the name of a file would stand among the rows
        typer.echo(str(out))
    groups, count = len(set(written.groups)), len(written.groups)
    rows = f"{count} row{'s' * (count != 1)} in {groups} group{'s' * (groups != 1)}"
    typer.echo(f"note: {rows}{f', {len(left)} skipped' if left else ''}", err=True)
