"""`reward-workbench label`: say of a row what it is, or what a reward should give it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.cli.reading import Columns, ReadAs, parse_columns


def label(
    target: Annotated[
        str, typer.Argument(help="Project folder, file.py, file.py::function or package.module:function.")
    ],
    row: Annotated[list[int], typer.Option("--row", help="The row, counted from 0; may be repeated.")],
    samples: Annotated[
        list[Path] | None,
        typer.Option("--samples", help="The completions; default: those of the manifest."),
    ] = None,
    columns: Columns = "",
    read_as: ReadAs = "",
    label: Annotated[str | None, typer.Option("--label", help="right, partial, wrong or hack.")] = None,
    expected: Annotated[
        list[str] | None,
        typer.Option("--expected", help="NAME=SCORE, or NAME=none for no opinion; may be repeated."),
    ] = None,
) -> None:
    """Say that a completion is right, wrong or a hack, or which score a reward should give it: a test from then on."""
    from rewards.running import Runner
    from workbench.labels import labels_file, say_of_rows
    from workbench.opening import open_target

    opened = open_target(target, samples or [], form=read_as, columns=parse_columns(columns))
    scores = parse_expected(expected or [])
    if scores:
        with Runner() as runner:
            description = runner.inspect(target)
        for name in scores:
            description.reward(name)
    file = labels_file(opened.target)
    say_of_rows(file, opened.samples, row, label=label, expected=scores)
    for number in row:
        said = [label] * (label is not None) + [
            f"{name} expected {_shown(score)}" for name, score in scores.items()
        ]
        typer.echo(f"row {number}: {', '.join(map(str, said))}  ({file})")


def _shown(score: float | None) -> str:
    return "none" if score is None else f"{score:g}"


def parse_expected(parts: list[str]) -> dict[str, float | None]:
    """`NAME=0.5` and `NAME=none` as a mapping; UsageError for anything else."""
    import math

    from rewards.errors import UsageError

    scores: dict[str, float | None] = {}
    for part in parts:
        name, separator, value = part.rpartition("=")
        try:
            score = None if value.strip().lower() == "none" else float(value)
        except ValueError:
            separator, score = "", None
        if not separator or not name.strip() or (score is not None and not math.isfinite(score)):
            raise UsageError(f"--expected {part}: must be NAME=NUMBER or NAME=none")
        scores[name.strip()] = score
    return scores
