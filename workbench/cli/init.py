"""`reward-workbench init`: a project folder that runs as it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the new project.")],
    template: Annotated[
        str | None,
        typer.Option(
            "--template", help="gsm8k (default), arithmetic, code, json, qa or summary.", show_default=False
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Make the project around this reward file instead."),
    ] = None,
) -> None:
    """Write a project: rewards, samples with labels, training data and settings, each key explained."""
    from rewards.errors import UsageError
    from workbench.project import DEFAULT_TEMPLATE, create_from_file, create_from_template

    if source is None:
        files = create_from_template(folder, template or DEFAULT_TEMPLATE)
    elif template is not None:
        raise UsageError("--template and --from are two ways to make a project: give one of them")
    elif source.suffix != ".py" or not source.is_file():
        why = "is no Python file" if source.exists() else "does not exist"
        raise UsageError(f"--from {source} {why}; name the file.py that defines the rewards")
    else:
        from rewards.running import Runner

        with Runner() as runner:
            description = runner.inspect(str(source))
        files = create_from_file(folder, source, description)
    for file in files:
        typer.echo(file)
    typer.echo(f"next: reward-workbench serve {folder}", err=True)
