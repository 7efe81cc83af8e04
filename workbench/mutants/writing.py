"""What changed code may do outside of its process: only what the unchanged code did, so that no slip leaves a file.

A changed name of a file, of a program or of a host would write, start or reach something the author never meant.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Collection
from typing import Any

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
NAMED = {
    "os.chmod": 1,
    "os.link": 2,
    "os.mkdir": 1,
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.symlink": 2,
    "os.truncate": 1,
    "shutil.move": 2,
    "shutil.rmtree": 1,
    "sqlite3.connect": 1,
}
"""Events of `sys.audit` that change files, with how many of their first arguments are paths."""
RELATIVE = ("os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink")
"""Those of which the last argument is an open folder that relative paths begin at, or -1."""
STARTED = ("os.exec", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen")


def keep_to(known: Collection[str] | None) -> Callable[[], list[str]]:
    """From now on, in this process, for good: refuse with PermissionError what is not in `known`; None: refuse nothing.

    Returns:
        What has been done so far, a line each: files written (those of the temporary folder and of /dev not
        counted, which are free), programs started, addresses connected to, and processes of others signalled.
    """
    done: dict[str, None] = {}
    free = _free_place()

    def hook(event: str, args: tuple[Any, ...]) -> None:
        for deed in _deeds(event, args, free):
            if known is not None and deed not in known:
                raise PermissionError(f"the changed code is not let do what the code does not do: {deed}")
            done[deed] = None

    sys.addaudithook(hook)
    return lambda: list(done)


def _free_place() -> Callable[[str], bool]:
    """Whether a path lies where anything may be written: not in the folder that this process works in."""
    here = os.path.realpath(os.getcwd())
    temporary = os.path.realpath(tempfile.gettempdir())
    own = here + os.sep if here != temporary else os.devnull

    def free(path: str) -> bool:
        return path.startswith("/dev/") or (path.startswith(temporary + os.sep) and not path.startswith(own))

    return free


def _deeds(event: str, args: tuple[Any, ...], free: Callable[[str], bool]) -> list[str]:
    if event == "open":
        paths = _paths(args[:1]) if isinstance(args[2], int) and args[2] & WRITES else []
    elif event in NAMED:
        paths = _paths(args[: NAMED[event]], args[-1] if event in RELATIVE else -1)
    elif event in STARTED:
        return [f"starts {_program(args)}"]
    elif event == "socket.connect":
        return [f"connects to {args[1]!r}"]
    elif event in ("os.kill", "os.killpg"):
        return [] if _is_own(args[0]) else [f"sends signal {args[1]} to process {args[0]}"]
    else:
        return []
    return [f"writes {path}" for path in paths if not free(path)]


def _is_own(pid: int) -> bool:
    """Whether a process is this one, was started by it, or is gone or out of sight."""
    try:
        while pid > 1 and pid != os.getpid():
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                pid = int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return True
    return pid == os.getpid()


def _paths(given: tuple[Any, ...], folder: object = -1) -> list[str]:
    """Real paths of those that are named, not numbers of open files; `folder`: what they are relative to, -1: here."""
    names = [os.fsdecode(path) for path in given if isinstance(path, (str, bytes, os.PathLike))]
    if isinstance(folder, int) and folder >= 0:
        names = [os.path.join(f"/proc/self/fd/{folder}", name) for name in names]
    return [os.path.realpath(name) for name in names]


def _program(args: tuple[Any, ...]) -> str:
    """The program of a started command, without its arguments."""
    first = next((each for each in args if each is not None and not isinstance(each, int)), "")
    first = os.fsdecode(first) if isinstance(first, (str, bytes, os.PathLike)) else str(first)
    return first.split(maxsplit=1)[0] if first.strip() else first
