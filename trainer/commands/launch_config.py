"""`launch-config NAME`: the file to give to `accelerate launch --config_file`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewards.errors import UsageError
from rewards.targets import did_you_mean

FOLDER = Path(__file__).resolve().parent.parent / "launch"


def names() -> list[str]:
    """The files there are: cpu, ddp, fsdp, nodes, zero2, zero3."""
    return sorted(file.stem for file in FOLDER.glob("*.yaml"))


def launch_config(
    name: Annotated[str, typer.Argument(help="ddp, fsdp, zero2, zero3, nodes or cpu")],
) -> None:
    """Print the path of a ready configuration of `accelerate launch`."""
    file = FOLDER / f"{name}.yaml"
    if name not in names():
        raise UsageError(
            f"there is no configuration '{name}'{did_you_mean(name, names())}; there are {', '.join(names())}"
        )
    typer.echo(str(file))
