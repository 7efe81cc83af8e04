"""The options that say how samples are read: names of columns, and chat messages or text."""

from __future__ import annotations

from typing import Annotated

import typer


def _checked(value: str) -> str:
    from workbench.samples.form import form_named

    return form_named(value)


ReadAs = Annotated[
    str,
    typer.Option(
        "--read-as",
        help="chat or text: have the samples read so, whichever they are in; default: [set] read_as, else as they are.",
        callback=_checked,
    ),
]

Columns = Annotated[
    str,
    typer.Option(
        "--columns",
        help="Names to change in the samples, SOURCE=TARGET,...: question=prompt,gold=answer; beside [data] columns.",
    ),
]


def parse_columns(text: str) -> dict[str, str]:
    """`question=prompt,gold=answer` as a mapping; UsageError for anything else."""
    from rewards.errors import UsageError

    columns: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        source, separator, target = (piece.strip() for piece in part.partition("="))
        if not (source and separator and target):
            raise UsageError(
                f"--columns {part}: must be SOURCE=TARGET, a name in the samples and the name it is to have"
            )
        columns[source] = target
    return columns
