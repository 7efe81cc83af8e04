"""`watch RUN`: a run followed in the terminal."""

from __future__ import annotations

from typing import Annotated

import typer


def watch(
    run: Annotated[str, typer.Argument(help="a run folder, or a name under runs/")],
) -> None:
    """Follow a run until it ends; it may be running or over."""
    from trainer.rundir import find_run
    from trainer.watch import watch as start

    view = start(find_run(run))
    if view.status == "failed":
        raise typer.Exit(1)
