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
    unsafe_code: Annotated[
        bool, typer.Option(UNSAFE_CODE, help=UNSAFE_CODE_HELP, callback=allow_unsafe_code)
    ] = False,
) -> None:
    """Data, memory, signal, seal and settings of a training run; nothing is trained."""
    from trainer.job import Request
    from trainer.preflight import preflight as examine

    report = examine(Request(target=target, model=model, sets=tuple(set_ or ())), samples or ())
    typer.echo(report.to_text())
    if report.exit_code:
        raise typer.Exit(report.exit_code)
