"""Two processes of one thread each on the CPUs of this machine, as `accelerate launch` starts them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def launch(folder: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m MODULE ARGUMENTS` by two processes, in `folder`, which they know as NOTES too."""
    command = [
        sys.executable, "-m", "accelerate.commands.accelerate_cli", "launch",
        "--config_file", str(ROOT / "trainer" / "launch" / "cpu.yaml"),
        "--main_process_port", str(free_port()),
        "-m", module, *arguments,
    ]  # fmt: skip
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "NOTES": str(folder),
        "TMPDIR": str(folder),
        "PYTHONPATH": str(ROOT),
    }
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=540, check=False
    )


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
