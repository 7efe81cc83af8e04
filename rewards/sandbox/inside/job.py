"""What a child does: put its descriptors in place, confine itself, run one job, end.

The order matters: the job's text is read before the confinement and touched after it only.
"""

from __future__ import annotations

import fcntl
import marshal
import os
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

CHANNEL, REPORT = 3, 4
_SAY = 5
_ROLES = ("stdin", "out", "err", "channel", "report")
"""The descriptors 0 to 4."""

Function = Callable[[dict[str, Any]], None]


def run_job(
    fds: list[int], say: int, functions: Mapping[str, Function], confine: Callable[[], None], keep: int
) -> None:
    """Run the job that is behind `fds[0]`, and end the process.

    It has "roles" (what the other descriptors are for), "run" (the name of a function, called with the job) and
    whatever that function reads. It comes from the caller, who is trusted, and so in Python's own format.

    Args:
        fds: the job and its descriptors.
        say: where a `+` tells that the confinement holds.
        functions: what a job may name.
        confine: puts the confinement on.
        keep: a descriptor that `confine` needs and closes, or -1.
    """
    job = marshal.loads(_read_all(fds[0]))  # the caller's
    function = functions[job["run"]]
    _place(dict(zip(job["roles"], fds[1:], strict=True)), say, keep)
    confine()
    os.write(_SAY, b"+")
    os.close(_SAY)
    # a fresh `__main__`, and the same random numbers whichever server it is
    sys.modules["__main__"] = types.ModuleType("__main__")
    random = sys.modules.get("random")
    if random is not None:
        random.seed(0)
    function(job)


def _read_all(fd: int) -> bytes:
    parts = []
    while part := os.read(fd, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _place(roles: dict[str, int], say: int, keep: int) -> None:
    """Every descriptor to its number, nothing where there is no role, everything else closed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    wanted = [*(roles.get(role, nothing) for role in _ROLES), say]
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 40) for fd in wanted]
    for number, fd in enumerate(high):
        os.dup2(fd, number)
    top = max(keep, _SAY)
    os.closerange(_SAY + 1, top)
    os.closerange(top + 1, 65536)


def finish(code: int) -> None:
    """End the process after its streams are flushed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass
    os._exit(code)


def run_program(job: dict[str, Any]) -> None:
    """Run `job["code"]` as a script."""
    main = sys.modules["__main__"]
    code = 0
    try:
        exec(compile(job["code"], "program.py", "exec", dont_inherit=True), main.__dict__)  # noqa: S102
        threads = sys.modules.get("threading")
        if threads is not None:
            threads._shutdown()
    except SystemExit as error:
        code = _exit_code(error)
    except BaseException as error:  # noqa: BLE001  # the program's own
        _print_error(error)
        code = 1
    finish(code)


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    sys.stderr.write(f"{error.code}\n")
    return 1


def _print_error(error: BaseException) -> None:
    import traceback

    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "program.py"]
    where = f" (line {frames[-1].lineno})" if frames else ""
    last = traceback.format_exception_only(error)[-1].strip()
    sys.stderr.write(f"{last}{where}\n")
