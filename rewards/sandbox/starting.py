"""How the fork server of each level is started: its command, what it may read, what its children put on.

The interpreter is the one this process runs on, without site-packages unless packages are named, with an empty
environment. It gets the texts of `rewards.sandbox.inside` over its control socket, so that no folder of this
project has to be opened to it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import struct
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rewards.errors import SandboxError
from rewards.sandbox.inside import confine, seccomp
from rewards.sandbox.level import Level

INSIDE = Path(__file__).with_name("inside")

MODULES = {
    "candidate": ("values", "seccomp", "confine", "job", "candidate", "probe", "template"),
    "grader": ("values", "seccomp", "confine", "job", "remote", "shim", "grader", "judge", "template"),
}
"""What a server of each kind is told, in the order of need."""

FUNCTIONS = {
    "candidate": ["job:run_program", "candidate:serve", "probe:probe"],
    "grader": ["grader:grade", "judge:judge_all"],
}

PRELOAD = {
    "candidate": "collections re math itertools functools random string heapq bisect typing copy operator statistics "
    "decimal fractions datetime dataclasses traceback json threading",
    "grader": "math random string itertools collections re copy typing json unittest",
}
"""Modules a server imports once, so that its children have them."""

_SYSTEM = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/lib", "/lib32", "/lib64", "/usr/local/lib", "/nix/store")
_READ = ("/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")

FILES = 48
FILE_BYTES = 8 << 20
"""Open descriptors and bytes in one file that a child may have: what it can hide from the disk limit is bounded."""


@dataclass(frozen=True)
class Recipe:
    """A server: the command (with `{fd}` for its control socket), its environment, and what it is told."""

    level: Level
    command: list[str]
    environment: dict[str, str]
    told: bytes


def best_levels() -> list[Level]:
    """The levels this machine may offer, best first; only a start proves them."""
    if sys.platform == "darwin":
        return [Level.SEATBELT, Level.LIMITS]
    if not sys.platform.startswith("linux"):
        return [Level.LIMITS]
    levels = [Level.LIMITS]
    if _filter() is not None:
        if confine.landlock_abi(confine.c_library()):
            levels.insert(0, Level.LANDLOCK)
        if bubblewrap() is not None:
            levels.insert(0, Level.BUBBLEWRAP)
    return levels


def bubblewrap() -> str | None:
    """The path of `bwrap`, None where it is not installed."""
    return shutil.which("bwrap")


def recipe(
    level: Level, kind: str, base: str | None, packages: tuple[str, ...], *, die_with_parent: bool
) -> Recipe:
    """How to start a server.

    Args:
        level: one of `best_levels`.
        kind: "candidate" or "grader".
        base: a folder that is the server's, with its scratch in it; None where the level makes its own.
        packages: names to import from site-packages, which is then readable.
        die_with_parent: bubblewrap ends with the thread that starts it (only right for a lasting one); every server
            ends when its caller is gone, which this makes sure of where the caller stops it first.
    """
    scratch = "/tmp/work" if base is None else f"{base}/work"  # a tmpfs of its own
    paths = package_folders(packages)
    read = [*_libraries(), *paths, *(path for path in _READ if os.path.exists(path))]
    settings: dict[str, Any] = {
        "scratch": scratch,
        "remove": base,
        "path": paths,
        "preload": [*PRELOAD[kind].split(), *packages],
        "functions": FUNCTIONS[kind],
        "files": FILES,
        "file_bytes": FILE_BYTES,
        "seccomp": None,
        "landlock": None,
    }
    if level in (Level.LANDLOCK, Level.BUBBLEWRAP, Level.LIMITS) and sys.platform.startswith("linux"):
        program = _filter(kind == "grader")
        settings["seccomp"] = program.hex() if program is not None else None
    if level in (Level.LANDLOCK, Level.BUBBLEWRAP) and confine.landlock_abi(confine.c_library()):
        settings["landlock"] = {"read": [*read, *_DEVICES[1:]], "devices": ["/dev/null"]}
    python = [_python(), "-P", "-s", "-S", "-B", "-c", _text("boot"), "{fd}"]
    if level is Level.BUBBLEWRAP:
        python = [*_bubblewrap_command(read, die_with_parent), *python]
    elif level is Level.SEATBELT:
        python = ["/usr/bin/sandbox-exec", "-p", seatbelt_profile(read, base or scratch), *python]
    modules = [("rewards", ""), ("rewards.sandbox", ""), ("rewards.sandbox.inside", "")]
    modules += [(f"rewards.sandbox.inside.{name}", _text(name)) for name in MODULES[kind]]
    told = json.dumps({"modules": modules, "settings": settings}).encode()
    return Recipe(level, python, _environment(scratch), struct.pack("!Q", len(told)) + told)


def package_folders(packages: tuple[str, ...]) -> list[str]:
    """The folders that packages are imported from.

    Raises:
        SandboxError: one is not installed.
    """
    folders: list[str] = []
    for name in packages:
        spec = importlib.util.find_spec(name.partition(".")[0])
        if spec is None or spec.origin is None:
            raise SandboxError(f"packages: {name} is not installed, so no program can import it")
        place = Path(spec.origin).resolve()
        folder = str(place.parent.parent if spec.submodule_search_locations else place.parent)
        if folder not in folders:
            folders.append(folder)
    return folders


def _environment(scratch: str) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": scratch,
        "TMPDIR": scratch,
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",  # a program's sets come in the same order each time
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }


def _python() -> str:
    """The interpreter itself, not the link to it that a virtual environment has."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


def _libraries() -> list[str]:
    """The folders of Python's own library and of shared libraries, none inside another."""
    paths = sysconfig.get_paths(vars={"base": sys.base_prefix, "platbase": sys.base_exec_prefix})
    folders = {os.path.realpath(paths["stdlib"]), os.path.realpath(paths["platstdlib"])}
    if sys.base_prefix not in ("/usr", "/usr/local"):
        folders.add(os.path.realpath(f"{sys.base_prefix}/lib"))
    folders |= {os.path.realpath(path) for path in _SYSTEM if os.path.isdir(path)}
    return [
        folder
        for folder in sorted(folders)
        if not any(folder.startswith(other + os.sep) for other in folders)
    ]


@cache
def _text(module: str) -> str:
    return (INSIDE / f"{module}.py").read_text(encoding="utf-8")


@cache
def _filter(receives: bool = False) -> bytes | None:
    """The seccomp filter of this machine; None where there is no table for it."""
    try:
        return seccomp.build(platform.machine(), receives=receives)
    except KeyError:
        return None


# ------------------------------------------------------------------------------------------ bubblewrap


@cache
def _bubblewrap_options() -> frozenset[str]:
    """The options this version has; older ones lack some."""
    import subprocess

    path = bubblewrap()
    if path is None:
        return frozenset()
    done = subprocess.run([path, "--help"], capture_output=True, text=True, timeout=10, check=False)
    return frozenset(word for word in (done.stdout + done.stderr).split() if word.startswith("--"))


def _bubblewrap_command(read: list[str], die_with_parent: bool) -> list[str]:
    """`bwrap` with namespaces of every kind, a root of its own, and nothing in it but what Python needs."""
    known = _bubblewrap_options()
    command = [bubblewrap() or "bwrap", "--unshare-all", "--unshare-user", "--new-session"]
    command += ["--cap-drop", "ALL", "--uid", "65534", "--gid", "65534", "--hostname", "sandbox"]
    if "--disable-userns" in known:
        command.append("--disable-userns")
    if die_with_parent:
        command.append("--die-with-parent")
    links = [path for path in _SYSTEM if os.path.islink(path)]
    python = _python()
    loader = [] if any(python.startswith(folder + os.sep) for folder in read) else [python]
    for path in [*read, *loader]:
        command += ["--ro-bind", path, path]
    for link in links:
        command += ["--symlink", os.path.realpath(link), link]
    for device in _DEVICES:
        command += ["--dev-bind-try", device, device]
    if "--size" in known:
        command += ["--size", str(64 << 20)]
    command += ["--tmpfs", "/tmp", "--dir", "/tmp/work", "--remount-ro", "/", "--chdir", "/tmp"]
    return [*command, "--"]


# -------------------------------------------------------------------------------------------- macOS


def seatbelt_profile(read: list[str], scratch: str) -> str:
    """A profile for macOS's `sandbox-exec`: Python's files to read, one folder to write, no network.

    Never measured on a macOS machine. The server has to fork, so its children can; nothing else is left open.
    """
    readable = "".join(
        f" (subpath {json.dumps(path)})" for path in [*read, sys.base_prefix, "/usr/lib", "/System"]
    )
    return f"""(version 1)
(deny default)
(allow process-fork)
(allow process-exec (literal {json.dumps(_python())}) (subpath {json.dumps(sys.base_prefix)}))
(allow sysctl-read)
(allow signal (target same-sandbox))
(allow file-read-metadata)
(allow file-read*{readable} (literal "/dev/null") (literal "/dev/urandom") (literal "/dev/random") (literal "/"))
(allow file-write-data (literal "/dev/null"))
(allow file-read* file-write* (subpath {json.dumps(os.path.realpath(scratch))}))
"""
