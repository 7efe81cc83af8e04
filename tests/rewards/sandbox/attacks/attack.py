"""What an attack is, and the ground it is tried on."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rewards.sandbox import Result, Verdict

SECRET = "the secret of the house 4711"
VARIABLE = "REWARD_WORKBENCH_ATTACK_SECRET"


@dataclass
class Ground:
    """Things outside the sandbox that an attack is after, and what happened to them.

    `secret` is a readable file, `victim` a file of the same user, `out` a path nobody wrote yet, `mark` a name
    for what an attack leaves behind.
    """

    folder: Path
    mark: str = field(default_factory=lambda: "rw" + uuid.uuid4().hex[:10])
    hits: list[str] = field(default_factory=list)
    ports: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in (self.secret, self.victim):
            path.write_text(SECRET)
            path.chmod(0o644)
            os.utime(path, (1_000_000_000, 1_000_000_000))

    @property
    def secret(self) -> Path:
        """A file that anyone may read."""
        return self.folder / "secret.txt"

    @property
    def victim(self) -> Path:
        """A file of this user."""
        return self.folder / "victim.txt"

    @property
    def out(self) -> Path:
        """Where an attack would write."""
        return self.folder / "out.txt"

    def filled(self, code: str) -> str:
        """An attack's text with the places of this ground in it."""
        values = {
            "SECRET": str(self.secret),
            "VICTIM": str(self.victim),
            "OUT": str(self.out),
            "FOLDER": str(self.folder),
            "MARK": self.mark,
            "PID": str(os.getpid()),
            "VARIABLE": VARIABLE,
            **{f"PORT_{name}": str(port) for name, port in self.ports.items()},
        }
        for name, value in values.items():
            code = code.replace(f"@{name}@", value)
        return code

    @property
    def victim_changed(self) -> bool:
        """Whether anything about the victim is not as it was."""
        if not self.victim.exists():
            return True
        found = self.victim.stat()
        same = (found.st_mode & 0o777, found.st_mtime, found.st_nlink) == (0o644, 1_000_000_000.0, 1)
        return not same or self.victim.read_text() != SECRET

    @contextlib.contextmanager
    def listening(self) -> Iterator[Ground]:
        """Servers that note who comes: TCP and UDP on the loopback, a socket with a path, an abstract one."""
        servers: dict[str, socket.socket] = {
            "TCP": socket.create_server(("127.0.0.1", 0)),
            "UDP": socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            "PATH": socket.socket(socket.AF_UNIX),
            "ABSTRACT": socket.socket(socket.AF_UNIX),
        }
        servers["UDP"].bind(("127.0.0.1", 0))
        servers["PATH"].bind(str(self.folder / "socket"))
        servers["ABSTRACT"].bind(f"\0{self.mark}")
        for name in ("PATH", "ABSTRACT"):
            servers[name].listen()
        self.ports = {name: servers[name].getsockname()[1] for name in ("TCP", "UDP")}
        for name, server in servers.items():
            server.settimeout(0.05)
            threading.Thread(target=self._note, args=(name, server), daemon=True).start()
        try:
            yield self
        finally:
            for server in servers.values():
                server.close()

    def _note(self, name: str, server: socket.socket) -> None:
        while server.fileno() >= 0:
            with contextlib.suppress(OSError):
                if name == "UDP":
                    server.recv(100)
                else:
                    server.accept()[0].close()
                self.hits.append(name)


def prints(word: str) -> Callable[[Ground, Result], bool]:
    """Broken where the program printed a word."""
    return lambda ground, result: word in result.output


def secret_out(ground: Ground, result: Result) -> bool:
    """Broken where the secret came out."""
    return SECRET in result.output or SECRET in result.error


GOT = prints("GOT")


@dataclass(frozen=True)
class Attack:
    """A program that tries to get out, to stay, or to take too much.

    `broke` says from the outside whether it did. What it prints after `no` names the error it met. `seconds` is
    the time it is given; `before` a program that runs in the same sandbox first.
    """

    name: str
    aim: str
    code: str
    broke: Callable[[Ground, Result], bool] = GOT
    seconds: float = 3.0
    before: str = ""


@dataclass(frozen=True)
class Cheat:
    """A wrong program that wants to be paid: its tests, given as columns of a row."""

    name: str
    aim: str
    code: str
    columns: dict[str, object] = field(default_factory=dict)
    seconds: float = 3.0

    def is_paid(self, verdict: Verdict) -> bool:
        """Whether it got what it wanted."""
        return verdict.all_passed


def tried(body: str) -> str:
    """Python that runs `body`, prints GOT where it comes through, and the error's name where not."""
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    caught = "except Exception as error:\n    print('no', type(error).__name__)\n"
    return f"import ctypes, os, sys, time\ntry:\n{lines}\n    print('GOT')\n{caught}"


def called(number_64: int, number_arm: int, *arguments: str) -> str:
    """Python that makes a system call by its number and fails as the call does."""
    listed = ", ".join(arguments)
    return f"""
import platform
libc = ctypes.CDLL(None, use_errno=True)
number = {number_64} if platform.machine() == "x86_64" else {number_arm}
given = [ctypes.c_long(a) if isinstance(a, int) else a for a in ({listed}{"," if listed else ""})]
if libc.syscall(ctypes.c_long(number), *given) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
"""
