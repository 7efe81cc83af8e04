"""`reward-workbench serve`: the app."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewards.permissions import UNSAFE_CODE, UNSAFE_CODE_HELP, allow_unsafe_code
from workbench.cli.reading import ReadAs


def serve(
    target: Annotated[
        str | None,
        typer.Argument(help="Project folder, file.py or file.py::function; default: the example project."),
    ] = None,
    samples: Annotated[
        list[Path] | None,
        typer.Option("--samples", help="Completions to look at; default: those of the manifest."),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="Default: 7860, or the next free one.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="Another name this server is reached by, e.g. behind a proxy."),
    ] = None,
    root_path: Annotated[
        str, typer.Option("--root-path", help="Path under which a proxy shows this server, e.g. /proxy/7860.")
    ] = "",
    read_as: ReadAs = "",
    read_only: Annotated[
        bool,
        typer.Option(
            "--read-only",
            envvar="REWARD_WORKBENCH_READ_ONLY",
            help="Only show: nobody can edit or run anything, and no secret is asked for.",
        ),
    ] = False,
    unsafe_code: Annotated[
        bool, typer.Option(UNSAFE_CODE, help=UNSAFE_CODE_HELP, callback=allow_unsafe_code)
    ] = False,
) -> None:
    """Open the workbench in a browser: write rewards and see at once what they pay, and for what."""
    from workbench.app.serving import serve_target

    serve_target(
        target,
        samples=samples or [],
        form=read_as,
        host=host,
        port=port,
        allow_hosts=allow_host or [],
        root_path=root_path,
        say=lambda line: typer.echo(line, err=True),
        read_only=read_only,
    )
