"""A job that tries to get out. Its failures are the proof that a level holds on this machine."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

from rewards.sandbox.inside.job import REPORT, finish


def probe(job: dict[str, Any]) -> None:
    """Report, as a JSON list, which of the forbidden things worked."""
    tries: dict[str, Callable[[], Any]] = {
        "files": lambda: os.close(os.open("/etc/passwd", os.O_RDONLY)),
        "folders": lambda: os.listdir("/etc"),
        "writing": _write,
        "network": _connect,
        "signals": lambda: os.kill(os.getppid(), 0),
        "programs": _exec,
        "processes": _fork,
    }
    worked = []
    for name, action in tries.items():
        try:
            action()
        except OSError:
            continue
        worked.append(name)
    os.write(REPORT, json.dumps({"worked": worked, "python": sys.version.split()[0]}).encode())
    finish(0)


def _write() -> None:
    path = f"/var/tmp/.reward-workbench-{os.getpid()}"  # anyone may write there, but a sandbox
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    os.unlink(path)


def _connect() -> None:
    with socket.socket(socket.AF_INET) as connection:
        connection.settimeout(0.5)
        try:
            connection.connect(("127.0.0.1", 9))
        except ConnectionRefusedError:  # somebody was there to refuse
            return


def _exec() -> None:
    try:
        os.execv("/no/such/program", ["none"])
    except FileNotFoundError:  # it was looked for
        return


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)
