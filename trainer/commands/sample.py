"""`sample MODEL`: what a model says to a prompt; for a run, base beside merged."""

from __future__ import annotations

from typing import Annotated

import typer


def sample(
    model: Annotated[
        str,
        typer.Argument(help="a run (base beside merged), toy, smollm2, a folder, a .gguf file or a hub name"),
    ],
    prompt: Annotated[
        str | None,
        typer.Option("--prompt", help="the user's message; default for a run: its held-out prompts"),
    ] = None,
) -> None:
    """Let a model answer a prompt (temperature 0.7, top_p 0.9)."""
    from trainer.environment import quiet_libraries
    from trainer.models import say_on_stderr
    from trainer.sampling import sample as start
    from trainer.sampling import to_text

    quiet_libraries()
    typer.echo(to_text(start(model, prompt, say=say_on_stderr)))
