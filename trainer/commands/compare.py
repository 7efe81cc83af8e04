"""`compare RUN`: the merged model beside its base on held-out prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    run: Annotated[str, typer.Argument(help="a run folder, a name under runs/, or an output folder of TRL")],
    prompts: Annotated[
        Path | None,
        typer.Option(
            "--prompts",
            help="a file of prompts with the columns the rewards read; default: the held-out ones",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", help="the reward set that scores; needed where the folder names none"),
    ] = None,
) -> None:
    """Compare a run's merged model with its base on prompts that were not trained on."""
    from trainer.comparing.comparison import compare_run
    from trainer.comparing.text import to_text
    from trainer.environment import quiet_libraries
    from trainer.models.naming import say_on_stderr

    quiet_libraries()
    done: dict[str, int] = {}

    def progress(label: str, count: int, total: int) -> None:
        quarter = count * 4 // total
        if quarter > done.get(label, 0) or count == total:
            done[label] = quarter
            say_on_stderr(f"{label}: {count} of {total} completions")

    typer.echo(to_text(compare_run(run, prompts=prompts, target=target, progress=progress)))
