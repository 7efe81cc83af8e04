"""`merge RUN`: the trained adapter merged into its base, with proof."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def merge(
    run: Annotated[str, typer.Argument(help="a run folder, a name under runs/, or an output folder of TRL")],
    out: Annotated[
        Path | None, typer.Option("--out", help="where the merged model goes; default: RUN/merged")
    ] = None,
    dtype: Annotated[
        str | None,
        typer.Option("--dtype", help="float32, bfloat16 or float16; default: as the base is stored"),
    ] = None,
) -> None:
    """Merge a run's adapter into its base model and prove that nothing else changed."""
    from trainer.environment import quiet_libraries
    from trainer.merge import merge as start
    from trainer.merge_proof import to_text
    from trainer.models import say_on_stderr

    quiet_libraries()
    merged = start(run, out=out, dtype=dtype, say=say_on_stderr)
    typer.echo(to_text(merged.checks))
    typer.echo(f"proved; the model is {merged.folder}")
