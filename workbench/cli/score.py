"""`reward-workbench score`: every reward's score of every completion."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rewards.permissions import UNSAFE_CODE, UNSAFE_CODE_HELP, allow_unsafe_code
from workbench.cli.reading import Columns, ReadAs, parse_columns

if TYPE_CHECKING:
    from rewards.contract import Batch
    from rewards.running import Runner


def score(
    target: Annotated[
        str, typer.Argument(help="Project folder, file.py, file.py::function or package.module:function.")
    ],
    samples: Annotated[
        list[Path] | None,
        typer.Option("--samples", help="Completions to score; default: those of the manifest."),
    ] = None,
    format: Annotated[str, typer.Option("--format", help="text, jsonl, csv, parquet or html.")] = "text",
    out: Annotated[
        Path | None, typer.Option("--out", help="Write there instead of to standard output.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Processes that score at the same time; default: one a core."),
    ] = None,
    only: Annotated[str, typer.Option("--only", help="Score only these rewards: A,B.")] = "",
    weights: Annotated[str, typer.Option("--weights", help="Other weights than declared: A=2,B=0.")] = "",
    watch: Annotated[
        bool, typer.Option("--watch", help="Score again whenever the code is saved, until Ctrl-C.")
    ] = False,
    columns: Columns = "",
    read_as: ReadAs = "",
    unsafe_code: Annotated[
        bool, typer.Option(UNSAFE_CODE, help=UNSAFE_CODE_HELP, callback=allow_unsafe_code)
    ] = False,
) -> None:
    """Score completions with every reward, add up totals, and compute the advantages TRL would give."""
    from rewards.errors import UsageError
    from workbench.cli.printing import (
        again_and_again,
        notes_to_stderr,
        progress_bar,
        refuse_inputs,
        write_output,
    )
    from workbench.opening import open_target, planned_group_size
    from workbench.reports import score_report
    from workbench.score_cache import ScoreCache
    from workbench.scoring import score as score_samples
    from workbench.tokenizing import tokenizer_for

    if format not in score_report.FORMATS:
        raise UsageError(f"--format {format}: known formats are {', '.join(score_report.FORMATS)}")
    if format == "parquet" and out is None:
        raise UsageError("--format parquet needs --out FILE")
    opened = open_target(target, samples or [], form=read_as, columns=parse_columns(columns))
    refuse_inputs(out, target, opened.samples)
    notes_to_stderr([*opened.samples.notes, *map(str, opened.samples.skipped)], limit=10)
    options: dict[str, Any] = {
        "only": [name.strip() for name in only.split(",") if name.strip()],
        "weights": parse_weights(weights),
        "tokenizer": tokenizer_for(opened.manifest),
        "keep": True,
        "jobs": jobs or os.cpu_count() or 1,
    }

    def once(runner: Runner | None = None, batch: Batch | None = None) -> None:
        with progress_bar("scoring") as progress:
            table = score_samples(
                target, opened.samples, runner=runner, batch=batch, cache=cache, progress=progress, **options
            )
        notes_to_stderr(score_report.notes_of(table))
        scored = score_report.Scored(table, opened.samples, planned_group_size(opened.manifest))
        write_output(score_report.FORMATS[format](scored), out)

    with ScoreCache(opened.target.root) as cache:
        if watch:
            again_and_again(opened, once, clear=format == "text" and out is None)
        else:
            once()


def parse_weights(text: str) -> dict[str, float]:
    """`A=2,B=0` as a mapping; UsageError for anything else."""
    from rewards.errors import UsageError

    weights: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, separator, value = part.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError:
            separator = ""
        if not separator or weights.get(name.strip(), 0.0) - weights.get(name.strip(), 0.0) != 0.0:
            raise UsageError(f"--weights {part}: must be NAME=NUMBER")
    return weights
