"""`watch RUN`: a run followed in the terminal."""

from __future__ import annotations

from typing import Annotated

import typer


def watch(
    run: Annotated[str, typer.Argument(help="a run folder, a name under runs/, or an output folder of TRL")],
) -> None:
    """Follow a run until it ends, with what the monitor tells; it may be running or over."""
    from pathlib import Path

    from trainer.bare import is_bare
    from trainer.rundir import RunDir, find_run
    from trainer.watching.watch import watch as start

    path = Path(run).expanduser()
    view = start(RunDir(path.resolve()) if is_bare(path) else find_run(run))
    if view.status == "failed":
        raise typer.Exit(1)
