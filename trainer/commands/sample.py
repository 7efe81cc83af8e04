"""`sample MODEL`: what a model says to a prompt; for a run, base beside merged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewards.permissions import UNSAFE_CODE, UNSAFE_CODE_HELP, allow_unsafe_code


def sample(
    model: Annotated[
        str,
        typer.Argument(help="a run (base beside merged), toy, smollm2, a folder, a .gguf file or a hub name"),
    ],
    prompt: Annotated[
        str | None,
        typer.Option("--prompt", help="the user's message; default for a run: its held-out prompts"),
    ] = None,
    held_out: Annotated[
        list[int] | None,
        typer.Option("--held-out", help="which held-out prompt of the run, from 1; repeatable"),
    ] = None,
    answers: Annotated[int, typer.Option("--answers", help="answers of each model to a prompt")] = 1,
    temperature: Annotated[
        float, typer.Option("--temperature", min=0.0, help="0: the likeliest token each time")
    ] = 0.7,
    top_p: Annotated[
        float, typer.Option("--top-p", min=0.01, max=1.0, help="draw from the likeliest tokens of this share")
    ] = 0.9,
    seed: Annotated[int, typer.Option("--seed", help="of the random numbers, the same for both models")] = 0,
    scored: Annotated[
        bool, typer.Option("--score", help="let the run's rewards score the answers, as far as they can")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="a JSON file for the answers and scores, written whole")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="replace the file that is there, whatever it is")
    ] = False,
    unsafe_code: Annotated[
        bool, typer.Option(UNSAFE_CODE, help=UNSAFE_CODE_HELP, callback=allow_unsafe_code)
    ] = False,
) -> None:
    """Let a model answer a prompt; a run's base and merged model answer from the same random numbers."""
    from rewards.errors import UsageError
    from trainer.comparing.sampling import CONVERSATION, converse, to_json, to_text
    from trainer.environment import quiet_libraries
    from trainer.leaving import is_object_with, see_free
    from trainer.models.generation import Sampling
    from trainer.models.naming import say_on_stderr
    from trainer.rundir import write_json

    quiet_libraries()
    if out is not None:
        see_free(out, own=is_object_with(CONVERSATION), overwrite=overwrite)
    found = converse(
        model,
        prompt,
        held_out=held_out or (),
        answers=answers,
        scored=scored,
        sampling=Sampling(temperature, top_p, seed=seed),
        say=say_on_stderr,
    )
    if out is not None:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            write_json(out, to_json(found))
        except OSError as error:
            raise UsageError(f"{out} cannot be written: {error.strerror}") from error
    typer.echo(to_text(found.answered))
    for name, why in found.unscored.items():
        typer.echo(f"not scored{f' by {name}' if name else ''}: {why}")
