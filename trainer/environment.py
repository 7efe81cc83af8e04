"""The process a run happens in: silence towards the network, threads, device, and what is written down about it."""

from __future__ import annotations

import logging
import os
import platform
import signal
import sys
import time
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from rewards.errors import MissingExtraError
from rewards.running.guard import PDEATHSIG, process_control

Device = Literal["cpu", "cuda", "mps"]

SILENT = {
    "HF_HUB_DISABLE_TELEMETRY": "1",  # TRL pings home at every trainer it makes unless this is set
    "DO_NOT_TRACK": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "DATASETS_VERBOSITY": "error",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "TRL_EXPERIMENTAL_SILENCE": "1",
    # Spinning OpenMP threads turn a busy machine into a standstill: waiting ones sleep.
    "OMP_WAIT_POLICY": "PASSIVE",
    "KMP_BLOCKTIME": "0",
}
PACKAGES = (
    "reward-workbench",
    "torch",
    "trl",
    "transformers",
    "peft",
    "accelerate",
    "datasets",
    "tokenizers",
    "numpy",
)
MOST_THREADS = 8
COMMAND = "REWARD_WORKBENCH_COMMAND"
"""Holds the process id of the command that this process belongs to."""


def prepare_process() -> None:
    """Set what libraries read when they are imported: no telemetry, no chatter, threads that sleep while they wait.

    To be called before torch is imported. What the user has set in the environment stays.
    """
    for name, value in SILENT.items():
        os.environ.setdefault(name, value)
    # Without a launcher a run is one process on one GPU; TRL refuses to start where it sees several.
    if os.environ.get("WORLD_SIZE", "1") in ("", "1"):
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")


def end_with_command() -> None:
    """Where a command line's process started this one, have it asked to stop when that process dies, however it does.

    The run then stops after its step, with a checkpoint, as on SIGTERM. A run that the app started has no such command
    and goes on. Linux; elsewhere a command that is killed with -9 leaves its trainer behind.
    """
    command = os.environ.pop(COMMAND, "")
    if not command.isdigit():
        return
    process_control(PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(command):  # it died before the line above
        os.kill(os.getpid(), signal.SIGTERM)


def quiet_libraries() -> None:
    """Leave only errors of transformers, TRL and their friends on the log; the trainer says what is going on."""
    warnings.filterwarnings("ignore", module=r"(torch|transformers|trl|peft|accelerate|datasets)(\..*)?")
    warnings.filterwarnings("ignore", category=FutureWarning)
    for name in ("transformers", "trl", "peft", "accelerate", "datasets", "torch"):
        logging.getLogger(name).setLevel(logging.ERROR)


def find_device() -> Device:
    """cuda where torch finds a GPU, mps on a Mac that has one, else cpu.

    Raises:
        MissingExtraError: torch is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "train", "training") from error
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def usable_cores() -> int:
    """CPU cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def idle_cores(span_s: float = 0.4) -> float:
    """Cores that had nothing to do for `span_s` seconds from now on (a fraction counts).

    The load average would tell of the last minute, in which often our own steps before this one were at work.
    It serves where the kernel keeps no `/proc/stat`; where there is neither, every core counts as idle.
    """
    before = _processor_times()
    if before is None:
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        return max(0.0, usable_cores() - load)
    time.sleep(span_s)
    after = _processor_times() or before
    ticks = sum(after) - sum(before)
    waiting = sum(after[3:5]) - sum(before[3:5])
    return usable_cores() * (waiting / ticks if ticks > 0 else 1.0)


def _processor_times() -> list[int] | None:
    """Ticks of all cores: user, nice, system, idle, waiting for disks, interrupts (twice), stolen; None: not told."""
    try:
        first = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()
        return [int(ticks) for ticks in first[1:9]]
    except (OSError, ValueError, IndexError):
        return None


def choose_threads(asked: int, *, tiny: bool) -> int:
    """CPU threads for torch: `asked`, else OMP_NUM_THREADS, else the cores that are idle now; 1 for a tiny model."""
    if asked:
        return asked
    stated = os.environ.get("OMP_NUM_THREADS", "")
    if stated.isdigit() and int(stated) > 0:
        return int(stated)
    return 1 if tiny else max(1, min(MOST_THREADS, round(idle_cores())))


def counted_threads(count: int) -> str:
    """How many CPU threads, in words."""
    return f"{count} CPU thread{'s' * (count != 1)}"


def use_threads(count: int) -> None:
    """Let torch compute on `count` threads. The count is part of a run: another one rounds differently."""
    import torch

    torch.set_num_threads(count)


def memory_bytes() -> int | None:
    """This machine's memory, or None where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def describe_environment(device: Device) -> dict[str, Any]:
    """Versions and hardware, JSON-ready."""
    facts: dict[str, Any] = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cores": usable_cores(),
        "memory_bytes": memory_bytes(),
        "device": device,
        "gpus": _gpus() if device == "cuda" else [],
        "packages": {name: version for name in PACKAGES if (version := _version(name))},
        "executable": sys.executable,
    }
    return facts


def _gpus() -> list[dict[str, Any]]:
    import torch

    found = []
    for index in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(index)
        found.append({"name": properties.name, "memory_bytes": properties.total_memory})
    return found


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
