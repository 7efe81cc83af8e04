"""`reward-workbench export`: a reward set for another training system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    target: Annotated[
        str, typer.Argument(help="Project folder, file.py, file.py::function or package.module:function.")
    ],
    to: Annotated[str, typer.Option("--to", help="trl, verl, verifiers, openrlhf or ms-swift.")],
    out: Annotated[Path, typer.Option("--out", help="The folder to write; nothing there is overwritten.")],
    samples: Annotated[
        list[Path] | None,
        typer.Option("--samples", help="Tell chat from text by these; default: those of the manifest."),
    ] = None,
) -> None:
    """Write a reward set for another training system: your files unchanged, an adapter, and what carries over."""
    from rewards.errors import SamplesError
    from rewards.running import Runner
    from workbench.cli.printing import notes_to_stderr
    from workbench.export.folder import system_named, write_export
    from workbench.export.plan import plan_export
    from workbench.opening import open_target

    system = system_named(to)
    try:
        chat = open_target(target, samples or []).samples.chat
    except SamplesError:
        if samples:
            raise
        chat = None
    with Runner() as runner:
        plan = plan_export(runner.inspect(target), chat=chat)
    for file in write_export(plan, system, out):
        typer.echo(str(file))
    notes_to_stderr([f"does not carry over: {sentence}" for sentence in system.loses(plan)])
