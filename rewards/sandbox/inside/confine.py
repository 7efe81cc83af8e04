"""A process confines itself: Landlock, capabilities, limits, seccomp. Nothing of it can be taken back.

A `Confinement` is prepared once in the fork server (the Landlock rules are a descriptor, the filter a piece of
memory) and put on in each child with five system calls.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import resource
import signal
import struct
import sys
from typing import Any

from rewards.sandbox.inside.seccomp import Filter

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PDEATHSIG, _DUMPABLE, _NO_NEW_PRIVS = 1, 4, 38

_WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_SOCK, _MAKE_BLOCK = 1 << 6, 1 << 9, 1 << 11
_EXECUTE, _TRUNCATE, _IOCTL = 1 << 0, 1 << 14, 1 << 15
_HANDLED = {0: 0, 1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_SCRATCH = ((1 << 15) - 1) & ~(_EXECUTE | _MAKE_CHAR | _MAKE_SOCK | _MAKE_BLOCK)
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL

_CAPSET = {"x86_64": 126, "aarch64": 91}
_NO_CAPABILITIES = struct.pack("=Ii", 0x20080522, 0)


def c_library() -> ctypes.CDLL:
    """The C library, with its errno kept."""
    return ctypes.CDLL(None, use_errno=True)


def landlock_abi(libc: ctypes.CDLL) -> int:
    """The version of Landlock the kernel speaks; 0 for none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)))


def landlock_rules(libc: ctypes.CDLL, abi: int, read: list[str], devices: list[str], scratch: str) -> int:
    """A descriptor of rules: `read` may be read, `devices` read and written, `scratch` used as a folder.

    No TCP, no signals to and no abstract sockets of processes outside, as far as the kernel's version knows.

    Raises:
        OSError: the kernel refused them.
    """
    handled = _HANDLED[min(abi, 5)]
    rules = struct.pack("=QQQ", handled, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    ruleset = int(libc.syscall(_CREATE_RULESET, rules, ctypes.c_size_t(size), 0))
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    wanted = [(path, _READ_FILE | _READ_DIR) for path in read]
    wanted += [(path, _READ_FILE | _WRITE_FILE) for path in devices]
    wanted.append((scratch, _SCRATCH))
    for path, rights in wanted:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        allowed = rights & handled if os.path.isdir(path) else rights & handled & _OF_FILES
        refused = libc.syscall(_ADD_RULE, ruleset, 1, struct.pack("=Qi", allowed, place), 0)
        os.close(place)
        if refused:
            raise OSError(ctypes.get_errno(), f"landlock_add_rule {path}")
    return ruleset


def _limit(limit: int, value: int) -> None:
    try:
        resource.setrlimit(limit, (value, value))
    except (ValueError, OSError):  # it was lower already, or macOS, which knows no limit of the address space
        hard = resource.getrlimit(limit)[1]
        if hard != resource.RLIM_INFINITY:
            resource.setrlimit(limit, (min(value, hard), hard))


class Confinement:
    """What each child puts on. What all children share, the server puts on itself: it needs no privileges either.

    Args:
        settings: "landlock" ({"read", "devices"} or None), "seccomp" (the filter in hexadecimal or None),
            "files" (open descriptors), "file_bytes" (largest file).
        scratch: the folder a child may use.
    """

    def __init__(self, settings: dict[str, Any], scratch: str) -> None:
        self.libc = c_library()
        self.linux = sys.platform.startswith("linux")
        self.abi = landlock_abi(self.libc)
        files = int(settings["files"])
        rules = settings["landlock"]
        self.ruleset = -1
        if rules is not None:
            ruleset = landlock_rules(self.libc, self.abi, rules["read"], rules["devices"], scratch)
            self.ruleset = fcntl.fcntl(ruleset, fcntl.F_DUPFD_CLOEXEC, files - 1)
            os.close(ruleset)
        filter_hex = settings["seccomp"]
        self.filter = Filter(bytes.fromhex(filter_hex)) if filter_hex is not None else None
        _limit(resource.RLIMIT_NOFILE, files)
        _limit(resource.RLIMIT_FSIZE, int(settings["file_bytes"]))
        _limit(resource.RLIMIT_CORE, 0)
        if self.linux:
            self._renounce()

    def _renounce(self) -> None:
        """Give up privileges, and hide from others of the same user: no reading of memory, no tracing."""
        number = _CAPSET.get(platform.machine())
        if number is not None:  # the superuser without privileges; anyone else has none anyway
            self.libc.syscall(number, _NO_CAPABILITIES, bytes(24))
        if self.libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "no_new_privs")
        self.libc.prctl(_DUMPABLE, 0, 0, 0, 0)

    def put_on(self, memory: int, seconds: float) -> None:
        """Confine this process, a child of the one that prepared this.

        Raises:
            OSError: a layer that was asked for is refused.
        """
        _limit(resource.RLIMIT_AS, memory)
        _limit(resource.RLIMIT_CPU, int(seconds * 2) + 2)  # a second line: the fork server ends it before
        libc = self.libc
        if self.linux:
            libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if self.ruleset >= 0:
            if libc.syscall(_RESTRICT_SELF, self.ruleset, 0):
                raise OSError(ctypes.get_errno(), "landlock_restrict_self")
            os.close(self.ruleset)
        if self.filter is not None:
            self.filter.load(libc)
