"""`reward-workbench`: the table of commands, and the one place where known errors become a line and a code.

A command is a file of this folder with one function of the same name; what it needs is imported inside it,
so that `--help` and `check` stay quick. Commands that need torch run in a process of their own.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from typing import Any

import typer

from rewards.errors import RewardWorkbenchError
from rewards.writable import write_utf8

COMMANDS = (
    "init", "serve", "score", "explain", "check", "label", "diff", "export", "import", "train", "doctor", "selftest",
)  # fmt: skip
"""Commands of this package, in the order of the help."""

FILES = {"import": "import_samples"}
"""The file and function of a command whose name is a word of Python."""

TRAINER_COMMANDS = {
    "preflight": "Say what a training run would meet: data, memory, signal, settings. Trains nothing.",
    "dry-run": "Generate and score completions in groups without an update; `serve` opens the result.",
    "launch-config": "Print the path of a ready configuration for `accelerate launch`.",
    "watch": "Follow a run: reward first, then what the numbers mean.",
    "merge": "Merge the adapter of a run into its model, with proof.",
    "compare": "Compare merged and base model on held-out prompts.",
    "sample": "Generate with a model, base beside merged for a run.",
}
"""Commands that `python -m trainer` carries out in a process of its own."""

DISK_FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""What an operating system says of a full or broken disk, wherever it is met."""

PATH_FAULTS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP)
"""What it says of a path that this user may not read or write, or that can be no path."""

NO_TEMPORARY = "No usable temporary directory"
"""How `tempfile` begins where no folder for temporary files can be written."""

LONGEST = 200
"""Characters of a path that a message shows."""

app = typer.Typer(
    name="reward-workbench",
    help="Write, see, break, seal and train with reward functions for GRPO.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and leave."),
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"reward-workbench {installed('reward-workbench')}")
        raise typer.Exit


def _register() -> None:
    for name in COMMANDS:
        file = FILES.get(name, name)
        function = getattr(importlib.import_module(f"workbench.cli.{file}"), file)
        app.command(name)(function)
    for name, text in TRAINER_COMMANDS.items():
        app.command(
            name,
            help=text,
            add_help_option=False,
            context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        )(_trainer_command(name))


def _trainer_command(name: str) -> Any:
    def command(context: typer.Context) -> None:
        from workbench.cli.trainer_process import run_trainer

        raise typer.Exit(run_trainer([name, *context.args]))

    return command


# typer brings its own click in newer releases and uses the installed one in older ones
_WRONG_USE: type[Exception] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)


def _tell_wrong_use(error: Any) -> int:
    """One line for a wrong command line; the help where a command was called with nothing at all."""
    from trainer.early import setting_advice

    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message())
        return 2
    help_line = f"; see {context.command_path} --help" if context is not None else ""
    text = " ".join(str(error.format_message()).split()).rstrip(".")
    _tell(f"error: {text[:1].lower()}{text[1:]}{setting_advice(error)}{help_line}")
    return 2


def _tell(line: str) -> None:
    """The one line a known error ends with."""
    from workbench.reports.plain import visible

    sys.stderr.write(f"{visible(line)}\n")


def _fault_line(error: OSError) -> str | None:
    """What to say of a fault of the disk or of a path; None for any other, which is one of ours."""
    if error.errno in DISK_FAULTS:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still to be written there would fail again
        return f"{error.filename or 'the output'} cannot be written: {error.strerror}"
    if error.errno in PATH_FAULTS:
        return f"{_shortened(error.filename or 'a file')} cannot be read or written: {error.strerror}"
    if isinstance(error, FileNotFoundError) and str(error.strerror).startswith(NO_TEMPORARY):
        return "there is no folder for temporary files that can be written; set TMPDIR to one"
    return None


def _shortened(path: object) -> str:
    text = str(path)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def main() -> None:
    """Entry of the console script."""
    write_utf8()
    _register()
    try:
        code = app(standalone_mode=False)
    except RewardWorkbenchError as error:
        _tell(f"error: {error}")
        code = error.exit_code
    except _WRONG_USE as error:
        code = _tell_wrong_use(error)
    except (typer.Abort, KeyboardInterrupt):
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = 0
    except OSError as error:
        line = _fault_line(error)
        if line is None:
            raise
        _tell(f"error: {line}")
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
