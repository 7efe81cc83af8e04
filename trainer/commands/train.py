"""`train TARGET`: GRPO from a sealed reward set."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from rewards.permissions import UNSAFE_CODE, UNSAFE_CODE_HELP, allow_unsafe_code


def train(
    target: Annotated[str, typer.Argument(help="a project folder, rewards.py, or rewards.py::NAME")],
    samples: Annotated[
        list[Path] | None, typer.Option("--samples", help="completions the checks before a first run use")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="toy, smollm2, a folder, a .gguf file or a hub name")
    ] = None,
    run: Annotated[
        Path | None, typer.Option("--run", help="the run's folder; default: runs/NAME-N in the project")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="go on from the run's last checkpoint")] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="key=value, one of docs/training.md or any of TRL's GRPOConfig; repeatable"
        ),
    ] = None,
    allow_unsealed: Annotated[
        bool,
        typer.Option("--allow-unsealed", help="train a set that is not sealed as it is; recorded in the run"),
    ] = False,
    unsafe_code: Annotated[
        bool, typer.Option(UNSAFE_CODE, help=UNSAFE_CODE_HELP, callback=allow_unsafe_code)
    ] = False,
) -> None:
    """Train a model on a sealed reward set."""
    from trainer.early import model_beside_resume, refuse_early

    if not resume:
        refuse_early(target, model=model, sets=set_ or ())
    elif model:
        model_beside_resume(target, model=model, run=run)
        model = None  # it is the run's own

    from trainer.job import Request
    from trainer.ranks import speaks
    from trainer.run import describe_outcome
    from trainer.run import train as start

    outcome = start(
        Request(
            target=target,
            model=model,
            run=run,
            resume=resume,
            sets=tuple(set_ or ()),
            allow_unsealed=allow_unsealed,
        )
    )
    if speaks():
        typer.echo(describe_outcome(outcome))
    if outcome.signal:
        raise typer.Exit(128 + signal.Signals[outcome.signal].value)
    if outcome.status == "stopped":  # halted by the monitor, as was asked
        raise typer.Exit(1)
