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
    gguf: Annotated[
        str,
        typer.Option(
            "--gguf", help="also write a GGUF file of this type (f16, bf16, f32, q8_0), by llama.cpp"
        ),
    ] = "",
    push: Annotated[
        str,
        typer.Option("--push", help="also upload the proved model to this private repository: OWNER/NAME"),
    ] = "",
) -> None:
    """Merge a run's adapter into its base model and prove that nothing else changed."""
    from trainer.environment import quiet_libraries
    from trainer.merging import hub
    from trainer.merging.gguf_export import check_type, export_gguf, find_converter, see_free_gguf
    from trainer.merging.merge import merge as start
    from trainer.merging.proof import to_text
    from trainer.models.naming import say_on_stderr

    quiet_libraries()
    if gguf:  # what is missing is told before the work begins
        check_type(gguf)
        find_converter()
        if out is not None:
            see_free_gguf(out.expanduser().absolute(), gguf)
    if push:
        hub.check_name(push)
    merged = start(run, out=out, dtype=dtype, say=say_on_stderr)
    typer.echo(to_text(merged.checks))
    typer.echo(f"proved; the model is {merged.folder}")
    if gguf:
        typer.echo(f"GGUF: {export_gguf(merged.folder, gguf, say_on_stderr)}")
    if push:
        typer.echo(f"pushed: {hub.push(merged.folder, push, say_on_stderr)}")
