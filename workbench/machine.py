"""What this machine can do: Python, memory, torch and GPU, installed extras, isolation, browser, caches.

Isolation is found out by doing it, in a short-lived process of its own: a kernel that has a feature may still
refuse it (containers, AppArmor), and only a real try tells. Nothing heavy is imported: versions come from the
installed packages' metadata, torch's CUDA version from the text of its version file.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROBE_TIMEOUT_S = 5.0

EXTRAS: dict[str, tuple[str, ...]] = {
    "app": ("gradio",),
    "train": ("torch", "trl", "transformers", "datasets", "peft", "accelerate", "gguf"),
    "vllm": ("vllm",),
    "unsloth": ("unsloth",),
    "trackio": ("trackio",),
    "wandb": ("wandb",),
    "ray": ("ray",),
}

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


@dataclass(frozen=True)
class Extra:
    """An optional part of the installation: the versions found and the distributions missing."""

    name: str
    versions: dict[str, str]
    missing: tuple[str, ...]

    @property
    def install_line(self) -> str:
        """The command that installs it."""
        return f"pip install 'reward-workbench[{self.name}]'"


@dataclass(frozen=True)
class Probe:
    """One means of isolation: whether a real try of it worked, and what was seen."""

    name: str
    works: bool
    detail: str


@dataclass(frozen=True)
class Machine:
    """Everything `reward-workbench doctor` tells."""

    version: str
    python: str
    executable: str
    system: str
    cores: int
    memory_gib: float
    memory_free_gib: float
    torch: str | None
    torch_cuda: str | None
    gpus: tuple[str, ...]
    extras: tuple[Extra, ...]
    isolation: tuple[Probe, ...]
    sandbox: Probe
    chromium: str | None
    cache: str
    cached: tuple[str, ...]


def describe_machine() -> Machine:
    """Look at this machine once; takes about a second."""
    total, free = _memory_gib()
    cache = _cache_folder() / "models"
    chromium = find_chromium()
    return Machine(
        version=_version("reward-workbench") or "not installed",
        python=platform.python_version(),
        executable=sys.executable,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        cores=_cores(),
        memory_gib=total,
        memory_free_gib=free,
        torch=_version("torch"),
        torch_cuda=_torch_cuda(),
        gpus=_gpus(),
        extras=tuple(_extra(name) for name in EXTRAS),
        isolation=probe_isolation(),
        sandbox=probe_sandbox(),
        chromium=str(chromium) if chromium else None,
        cache=str(cache),
        cached=_folders_of(cache),
    )


def find_chromium() -> Path | None:
    """The Chromium or Chrome on the search path, or None."""
    for name in CHROMIUM_NAMES:
        if path := shutil.which(name):
            return Path(path)
    return None


# ------------------------------------------------------------------------------------ packages, hardware


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _extra(name: str) -> Extra:
    found = {distribution: _version(distribution) for distribution in EXTRAS[name]}
    return Extra(
        name=name,
        versions={key: value for key, value in found.items() if value is not None},
        missing=tuple(key for key, value in found.items() if value is None),
    )


def _torch_cuda() -> str | None:
    """The CUDA version torch was built for, read from its version file; None for a CPU build or no torch."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    version_file = Path(spec.origin).with_name("version.py")
    text = version_file.read_text(encoding="utf-8") if version_file.exists() else ""
    match = re.search(r"^cuda\b[^=]*=\s*['\"]([\d.]+)['\"]", text, re.MULTILINE)
    return match[1] if match else None


def _gpus() -> tuple[str, ...]:
    """One line a GPU, as nvidia-smi names them; empty where there is none."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    query = [program, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=PROBE_TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(line.strip() for line in done.stdout.splitlines() if line.strip())


def _cores() -> int:
    """Cores this process may use: its affinity, and a container's quota where one is set."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    quota = _read_text("/sys/fs/cgroup/cpu.max").split()
    if len(quota) == 2 and quota[0].isdigit():
        cores = min(cores, max(1, round(int(quota[0]) / int(quota[1]))))
    return cores


def _memory_gib() -> tuple[float, float]:
    """Total and available memory in GiB; a container's limit counts. (0, 0) where neither can be read."""
    sizes = {
        match[1]: int(match[2]) / 2**20
        for match in re.finditer(r"^(\w+):\s+(\d+) kB", _read_text("/proc/meminfo"), re.MULTILINE)
    }
    total, free = sizes.get("MemTotal", 0.0), sizes.get("MemAvailable", 0.0)
    limit = _read_text("/sys/fs/cgroup/memory.max").strip()
    if limit.isdigit():
        used = _read_text("/sys/fs/cgroup/memory.current").strip()
        total = min(total, int(limit) / 2**30)
        free = min(free, total - (int(used) / 2**30 if used.isdigit() else 0.0))
    return total, free


def _folders_of(path: Path) -> tuple[str, ...]:
    """The names of the folders in a folder, sorted; none where it is not there or cannot be read."""
    try:
        return tuple(sorted(entry.name for entry in path.iterdir() if entry.is_dir()))
    except OSError:
        return ()


def _cache_folder() -> Path:
    """Where prepared models are kept: as in `trainer.models.naming.cache_root`, which stays out of reach here."""
    if override := os.environ.get("REWARD_WORKBENCH_CACHE"):
        return Path(override).expanduser()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "reward-workbench"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "reward-workbench"
    return Path.home() / ".cache" / "reward-workbench"


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


# ----------------------------------------------------------------------------------------------- isolation

_LANDLOCK = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
abi = libc.syscall(444, None, 0, 1)
if abi < 1:
    sys.exit("the kernel has no Landlock")
write_file = ctypes.c_uint64(1 << 1)
ruleset = libc.syscall(444, ctypes.byref(write_file), 8, 0)
if ruleset < 0 or libc.prctl(38, 1, 0, 0, 0) or libc.syscall(446, ruleset, 0):
    sys.exit("refused: " + os.strerror(ctypes.get_errno()))
try:
    open("/dev/null", "r+b", buffering=0)
except PermissionError:
    print(f"ABI {abi}")
else:
    sys.exit("a write was let through")
"""

_SECCOMP = """
import ctypes, os, platform, struct, sys
number = {"x86_64": 110, "aarch64": 173}.get(platform.machine())
if number is None:
    sys.exit("no filter for " + platform.machine())
code = b"".join(struct.pack("HBBI", *step) for step in (
    (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | 13), (0x06, 0, 0, 0x7FFF0000)))
buffer = ctypes.create_string_buffer(code, len(code))
program = struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit("refused: " + os.strerror(ctypes.get_errno()))
print("filter holds") if libc.getppid() < 0 else sys.exit("a call was let through")
"""

_USER_NAMESPACE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000):
    sys.exit("refused: " + os.strerror(ctypes.get_errno()))
print("made one")
"""

_BWRAP = ("--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL")


def probe_isolation() -> tuple[Probe, ...]:
    """Try each means of isolation for real, in a process of its own, and tell what came of it."""
    python = (sys.executable, "-I", "-S", "-c")
    probes = [
        _probe("Landlock", (*python, _LANDLOCK)),
        _probe("seccomp", (*python, _SECCOMP)),
        _probe("user namespaces", (*python, _USER_NAMESPACE)),
    ]
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        probes.append(Probe("bubblewrap", works=False, detail="not installed (apt-get install bubblewrap)"))
    else:
        probes.append(
            _probe("bubblewrap", (bwrap, *_BWRAP, sys.executable, "-I", "-S", "-c", "print('runs')"))
        )
    return tuple(probes)


def probe_sandbox() -> Probe:
    """The level at which model-written code runs here, found by starting its sandbox and trying to get out."""
    from rewards.errors import SandboxError
    from rewards.sandbox import DECLARED, Sandbox

    with Sandbox() as sandbox:
        try:
            level, why = sandbox.level(), sandbox.why()
        except SandboxError as error:
            return Probe("none", works=False, detail=str(error))
    return Probe(level.value, works=level.rank >= DECLARED.rank, detail=why)


def _probe(name: str, command: tuple[str, ...]) -> Probe:
    if not sys.platform.startswith("linux"):
        return Probe(name, works=False, detail="Linux only")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Probe(name, works=False, detail=str(error))
    said = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
    detail = said[-1] if said else f"ended with exit code {done.returncode}"
    return Probe(name, works=done.returncode == 0, detail=detail)
