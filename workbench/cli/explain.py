"""`reward-workbench explain`: why a completion was paid what it was paid."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.cli.reading import Columns, ReadAs, parse_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from rewards.contract import Batch
    from rewards.running import Runner
    from workbench.explanation import RowExplanation
    from workbench.opening import Opened


def explain(
    target: Annotated[
        str, typer.Argument(help="Project folder, file.py, file.py::function or package.module:function.")
    ],
    samples: Annotated[
        list[Path] | None,
        typer.Option("--samples", help="Completions to explain; default: those of the manifest."),
    ] = None,
    row: Annotated[
        list[int] | None,
        typer.Option("--row", help="The row to explain, counted from 0; may be repeated; default: all."),
    ] = None,
    format: Annotated[str, typer.Option("--format", help="text, or json: one object a line.")] = "text",
    columns: Columns = "",
    read_as: ReadAs = "",
    watch: Annotated[
        bool, typer.Option("--watch", help="Explain again whenever the code is saved, until Ctrl-C.")
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
    opened = open_target(target, samples or [], form=read_as, columns=parse_columns(columns))
    notes_to_stderr([*opened.samples.notes, *map(str, opened.samples.skipped)], limit=10)
    rows = row or None
    if watch:
        _watch(opened, rows, printer(format), clear=format == "text")
        return
    show = printer(format)
    for explained in explain_samples(target, opened.samples, rows, tokenizer=tokenizer_for(opened.manifest)):
        show(explained)


def _watch(
    opened: Opened, rows: list[int] | None, show: Callable[[RowExplanation], None], *, clear: bool
) -> None:
    """Explain, wait for a save, explain again."""
    from rewards.errors import UsageError
    from workbench.cli.printing import again_and_again
    from workbench.explanation import explain as explain_samples
    from workbench.tokenizing import tokenizer_for

    for row in rows or []:
        if not 0 <= row < len(opened.samples):
            raise UsageError(f"there is no row {row}: the samples have rows 0 to {len(opened.samples) - 1}")
    tokenizer = tokenizer_for(opened.manifest)

    def once(runner: Runner, _: Batch) -> None:
        for explained in explain_samples(
            opened.target.text, opened.samples, rows, runner, tokenizer=tokenizer
        ):
            show(explained)

    again_and_again(opened, once, clear=clear)
