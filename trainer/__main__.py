"""`python -P -m trainer COMMAND`: the commands that need torch, in a process of their own."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import typer

from rewards.errors import RewardWorkbenchError
from rewards.writable import write_utf8
from trainer.early import setting_advice
from trainer.environment import COMMAND, end_with_command, prepare_process
from trainer.ranks import SaidByMain, rank_name, speaks

COMMANDS = {
    "train": "trainer.commands.train:train",
    "preflight": "trainer.commands.preflight:preflight",
    "dry-run": "trainer.commands.dry_run:dry_run",
    "merge": "trainer.commands.merge:merge",
    "compare": "trainer.commands.compare:compare",
    "sample": "trainer.commands.sample:sample",
    "watch": "trainer.commands.watch:watch",
    "launch-config": "trainer.commands.launch_config:launch_config",
}
"""Command name -> `module:function`; a module must import nothing heavy at its head."""

# typer brings its own click in newer releases and uses the installed one in older ones
_WRONG_USE: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)


def build_app() -> typer.Typer:
    """The Typer app with every command of the table."""
    app = typer.Typer(
        name="trainer",
        help="Train, merge and compare: the part of Reward Workbench that needs torch.",
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )

    @app.callback()
    def root() -> None: ...

    for name, place in COMMANDS.items():
        module, _, function = place.partition(":")
        app.command(name)(getattr(importlib.import_module(module), function))
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. Known errors become one line on standard error."""
    called = "reward-workbench" if COMMAND in os.environ else None  # as whose command it was asked for
    write_utf8()
    prepare_process()
    end_with_command()
    try:
        code: Any = build_app()(
            args=None if arguments is None else list(arguments), prog_name=called, standalone_mode=False
        )
    except RewardWorkbenchError as error:
        if not isinstance(error, SaidByMain):
            _tell(f"{rank_name()}error: {error}")
        return error.exit_code
    except _WRONG_USE as error:
        return _tell_wrong_use(error)
    except (typer.Abort, KeyboardInterrupt):
        if speaks():
            _tell("interrupted")
        return 130
    return code if isinstance(code, int) else 0


def _tell_wrong_use(error: Any) -> int:
    """One line for a wrong command line; the help where a command was called with nothing at all."""
    if not speaks():
        return 2
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message())
        return 2
    help_line = f"; see {context.command_path} --help" if context is not None else ""
    text = " ".join(str(error.format_message()).split()).rstrip(".")
    _tell(f"error: {text[:1].lower()}{text[1:]}{setting_advice(error)}{help_line}")
    return 2


def _tell(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
