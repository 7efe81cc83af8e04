"""Runs `reward-workbench` as a user would: a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    out: str
    err: str


def run(
    *arguments: object, cwd: Path, file_size: int | None = None, timeout: float = 120, **environment: str
) -> Finished:
    """Run the command; `file_size` limits the bytes any file may get, as a full disk would."""

    def limit() -> None:
        if file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

    command = [str(Path(sys.executable).with_name("reward-workbench")), *map(str, arguments)]
    finished = subprocess.run(
        command,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **environment},
        preexec_fn=limit,
        check=False,
    )
    return Finished(finished.returncode, finished.stdout, finished.stderr)


def sentence(finished: Finished) -> str:
    """The one line a failed command ends with; fails if there is a traceback or more than one such line."""
    assert "Traceback" not in finished.err, finished.err
    lines = [line for line in finished.err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, finished.err
    return lines[0]
