"""From a target to a running server, told step by step; works with and without a screen."""

from __future__ import annotations

import os
import socket
import sys
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path

from rewards.errors import UsageError
from rewards.running import Runner
from workbench.app.bench import Bench
from workbench.app.engine import PRELOAD, ProcessEngine
from workbench.app.launch import (
    PASSWORD,
    Address,
    build_app,
    choose_secret,
    clean_environment,
    listen,
    run_server,
)

EXAMPLE = "example-project"
DEFAULT_PORT = 7860
HOUSE = "thehouse"
"""The desk that a read-only server has for itself."""


def serve_target(
    target: str | None,
    *,
    samples: Sequence[Path],
    form: str = "",
    host: str,
    port: int | None,
    allow_hosts: Sequence[str],
    root_path: str,
    say: Callable[[str], None],
    read_only: bool = False,
) -> None:
    """Serve the app on `target` until it is stopped; `say` gets one line for each thing done.

    With `read_only` everybody may look, and nobody edit or run anything; no secret is asked for.

    Raises:
        RewardWorkbenchError: nothing to open, port taken, gradio missing, no password for an open host, or a
            password where everybody may look.
    """
    clean_environment(os.environ)
    if read_only and os.environ.get(PASSWORD):
        raise UsageError(
            f"--read-only shows the project to everybody and asks for no password, but {PASSWORD} is set: "
            "unset it, or leave --read-only out"
        )
    secret, is_password = ("", False) if read_only else choose_secret(host, os.environ)
    root_path = checked_root_path(root_path)
    with listen(host, DEFAULT_PORT if port is None else port, exactly=port is not None) as server:
        address = Address(
            host, server.getsockname()[1], secret, is_password, tuple(allow_hosts), root_path, read_only
        )
        _serve(target if target is not None else example_project(say), samples, form, address, server, say)


def _serve(
    target: str,
    samples: Sequence[Path],
    form: str,
    address: Address,
    server: socket.socket,
    say: Callable[[str], None],
) -> None:
    """Open the target and serve it on a socket that listens already."""
    with Runner(spawn=True, preload=PRELOAD) as runner:  # early: it loads while gradio does
        bench = Bench.open(
            target, samples, lambda: ProcessEngine(runner), form=form, read_only=address.public
        )
        try:
            say(f"opening {bench.project.name} ({bench.project.root})")
            for path in bench.project.samples:
                say(f"completions from {path}")
            say("loading the app (a few seconds)")
            app = build_app(bench, address)
            say(f"\n  Reward Workbench is at  {address.url}\n")
            if address.public:
                say("Read-only: everybody who reaches it may look; nothing can be edited or run.")
                check_once(bench)
            else:
                say("Reward code runs with your rights. Ctrl+C ends the server; drafts are kept.")
            open_browser(address.url)
            run_server(app, [server], leaving=bench.close)
        except KeyboardInterrupt:
            say("stopped")
        finally:
            bench.close()


def check_once(bench: Bench) -> None:
    """Run the checks where no result is kept of this code, so that those who may only look see what they find."""
    desk = bench.desk(HOUSE)
    if desk.checking.recall(desk) is None:
        desk.checking.start(desk, select=(), quick=True, assume_kinds=False)


def example_project(say: Callable[[str], None]) -> str:
    """The example project in the current folder, made if it is not there.

    Raises:
        UsageError: the current folder cannot be written.
    """
    from workbench.project import create_from_template

    folder = Path(EXAMPLE)
    if not (folder / "rewardset.toml").is_file():
        create_from_template(folder)
        say(f"made the example project in {folder.resolve()}")
    return str(folder)


def checked_root_path(text: str) -> str:
    """A proxy's path with a slash in front and none behind, or "".

    Raises:
        UsageError: it is no plain path.
    """
    path = "/" + text.strip("/") if text.strip("/") else ""
    if any(not (char.isalnum() or char in "/-_.~") for char in path) or "//" in path or ".." in path:
        raise UsageError(f"--root-path {text}: must be a plain path such as /proxy/7860")
    return path


def open_browser(url: str) -> bool:
    """Open the page where there is a screen and a person at a terminal; True if a browser was asked to."""
    if not sys.stderr.isatty():
        return False
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return False
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
