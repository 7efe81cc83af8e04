"""What a child does: put its descriptors in place, confine itself, run one job, end.

The order matters: the job's text is read before the confinement and touched after it only. And it is done in few
steps, because each page of memory that a child writes to has to be copied first: that, not the confinement, is
what a job costs.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

CHANNEL, REPORT = 3, 4
ROLES = ("stdin", "out", "err", "channel", "report")
"""What the descriptors 0 to 4 of a job are; after them comes one to say that the confinement holds."""

SAY = len(ROLES)
LOW = 10
"""The server keeps the descriptors below this one occupied, so that none it gets is in the way."""

Function = Callable[[dict[str, Any]], None]


def run_job(
    fds: Sequence[int],
    size: int,
    functions: Mapping[str, Function],
    confine: Callable[[int, float], None],
    keep: int,
    memory: int,
    seconds: float,
) -> None:
    """Run the job that is behind `fds[0]`, and end the process.

    It has "run" (the name of a function, called with the job) and whatever that function reads. It comes from the
    caller, who is trusted, and so in Python's own format.

    Args:
        fds: the job, then a descriptor for each of `ROLES`, then one for `SAY`, none below `LOW`.
        size: bytes of the job.
        functions: what a job may name.
        confine: puts the confinement on, with the last two arguments.
        keep: a descriptor that `confine` needs and closes, or -1.
    """
    text = os.read(fds[0], size)
    while len(text) < size:
        text += os.read(fds[0], size)
    number = 0
    for fd in fds[1:]:
        os.dup2(fd, number)
        number += 1
    if keep >= number:
        os.closerange(number, keep)
        os.closerange(keep + 1, 1024)
    else:
        os.closerange(number, 1024)
    confine(memory, seconds)
    os.write(SAY, b"+")
    os.close(SAY)
    job = marshal.loads(text)  # the caller's
    functions[job["run"]](job)


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
    code = 0
    try:
        exec(compile(job["code"], "program.py", "exec", dont_inherit=True), sys.modules["__main__"].__dict__)  # noqa: S102
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
