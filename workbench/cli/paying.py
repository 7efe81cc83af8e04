"""Whether `check` may make calls that cost money: never in CI, else where `--pay` says so or a person does."""

from __future__ import annotations

import os
import sys

import typer

from workbench.checks.paid import Pay


def permission(pay: bool) -> Pay:
    """A question that is answered before any paid call; the number of calls is printed in any case.

    Args:
        pay: `--pay` was given.
    """

    def ask(reward: str, calls: int, recorded: int) -> bool:
        known = f", {recorded} are recorded" if recorded else ""
        typer.echo(f"{reward} is paid for: {calls} completions to judge{known}", err=True)
        if os.environ.get("CI", "").lower() not in ("", "0", "false"):
            typer.echo("not asked: CI is set, and paid calls are never made in CI", err=True)
            return False
        if pay:
            return True
        if sys.stdin.isatty() and sys.stderr.isatty():
            typer.echo("make these calls? y or n", err=True)  # a whole line: a progress bar holds back others
            return sys.stdin.readline().strip().lower() in ("y", "yes")
        typer.echo("not asked: --pay makes the calls and records the answers", err=True)
        return False

    return ask


__all__ = ["permission"]
