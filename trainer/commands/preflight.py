"""`preflight TARGET`: what a training run would meet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewards.permissions import UNSAFE_CODE, UNSAFE_CODE_HELP, allow_unsafe_code


def preflight(
    target: Annotated[str, typer.Argument(help="a project folder, rewards.py, or rewards.py::NAME")],
    samples: Annotated[
        list[Path] | None, typer.Option("--samples", help="completions to measure the signal on")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="toy, smollm2, a folder, a .gguf file or a hub name")
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="key=value; repeatable")] = None,
    write_filtered: Annotated[
        str,
        typer.Option(
            "--write-filtered",
            help="LO,HI: write the training prompts that are solved in this share of their samples",
        ),
    ] = "",
    unsafe_code: Annotated[
        bool, typer.Option(UNSAFE_CODE, help=UNSAFE_CODE_HELP, callback=allow_unsafe_code)
    ] = False,
) -> None:
    """Data, memory, signal, seal and settings of a training run; nothing is trained."""
    from trainer.job import Request
    from trainer.preflight.report import preflight as examine
    from trainer.preflight.sampled_signal import parse_bounds

    keep = parse_bounds(write_filtered) if write_filtered else None
    report = examine(Request(target=target, model=model, sets=tuple(set_ or ())), samples or (), keep=keep)
    typer.echo(report.to_text())
    if report.exit_code:
        raise typer.Exit(report.exit_code)
