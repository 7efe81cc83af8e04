"""`dry-run TARGET`: generate and score, no update."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewards.permissions import UNSAFE_CODE, UNSAFE_CODE_HELP, allow_unsafe_code


def dry_run(
    target: Annotated[str, typer.Argument(help="a project folder, rewards.py, or rewards.py::NAME")],
    prompts: Annotated[int, typer.Option("--prompts", help="how many training prompts")] = 4,
    out: Annotated[Path, typer.Option("--out", help="samples file to write: .jsonl or .parquet")] = Path(
        "dry-run.jsonl"
    ),
    model: Annotated[
        str | None, typer.Option("--model", help="toy, smollm2, a folder, a .gguf file or a hub name")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="replace the file that is there, whatever it is")
    ] = False,
    set_: Annotated[list[str] | None, typer.Option("--set", help="key=value; repeatable")] = None,
    unsafe_code: Annotated[
        bool, typer.Option(UNSAFE_CODE, help=UNSAFE_CODE_HELP, callback=allow_unsafe_code)
    ] = False,
) -> None:
    """Generate in groups with the model and score, without an update; `serve` opens the file."""
    from trainer.job import Request
    from trainer.preflight.dry_run import describe
    from trainer.preflight.dry_run import dry_run as start

    request = Request(target=target, model=model, sets=tuple(set_ or ()))
    results = start(request, prompts=prompts, out=out, overwrite=overwrite)
    typer.echo("\n\n".join(describe(one) for one in results))
