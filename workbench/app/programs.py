"""Programs that go on when the app is closed: training, merging, comparing, each in a process of its own.

What a program prints lies in `.workbench/programs/NAME.log` of the project, who it is in `NAME.json` beside it, so
that a server started anew finds it again. Nothing here knows torch.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rewards.errors import UsageError
from workbench.versions import FOLDER, make_folder
from workbench.whole_files import write_whole

TAIL = 6_000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")
MODULE = "trainer"


@dataclass(frozen=True)
class Program:
    """`running`, the exit `code` where this server saw it, the end of what was printed; `known` if ever started."""

    name: str
    running: bool
    code: int | None
    said: str
    known: bool = True

    @property
    def failed(self) -> bool:
        """Whether it ended and failed: by its code, where that is not known by a line that tells an error."""
        if self.running or self.code is not None:
            return not self.running and self.code != 0
        return any(line.startswith("error: ") for line in self.said.splitlines())

    @property
    def interrupted(self) -> bool:
        """Whether it ended because it was asked to; one that was not ready yet says nothing of it."""
        last = self.said.rstrip().rpartition("\n")[2]
        told = self.code != 0 and last in ("interrupted", "KeyboardInterrupt")
        return not self.running and (told or self.code in (-signal.SIGINT, 128 + signal.SIGINT))


class Programs:
    """The programs of the project in `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / FOLDER / "programs"
        self._own: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    def start(self, name: str, arguments: Sequence[str]) -> None:
        """Run `python -P -m trainer ARGUMENTS` detached from this process.

        Raises:
            UsageError: one of that name is running, or nothing can be written into the project.
        """
        if not NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no name of a run")
        with self._lock:
            if self.look(name).running:
                raise UsageError(f"{name} is running already")
            command = [sys.executable, "-P", "-m", MODULE, *arguments]
            try:
                make_folder(self.root / FOLDER)
                self.folder.mkdir(exist_ok=True)
                with (self.folder / f"{name}.log").open("wb") as log:
                    process = subprocess.Popen(
                        command,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                        cwd=self.root,
                        start_new_session=True,
                    )
                who = json.dumps({"pid": process.pid, "command": list(arguments)})
                write_whole(self.folder / f"{name}.json", who.encode())
            except OSError as error:
                raise UsageError(f"{self.folder} cannot be written: {error.strerror}") from error
            self._own[name] = process
        threading.Thread(
            target=process.wait, name=f"program-{name}", daemon=True
        ).start()  # nobody is left a zombie

    def look(self, name: str) -> Program:
        """The program as it is now; one that was never started has said nothing."""
        own = self._own.get(name)
        code = own.poll() if own is not None else None
        running = code is None if own is not None else self._pid(name) is not None
        return Program(name, running, code, self._tail(name), (self.folder / f"{name}.json").is_file())

    def ask_to_stop(self, name: str) -> None:
        """Ask it to end in order, as Ctrl+C does: a training stops after its step and can be resumed.

        Raises:
            UsageError: it is not running.
        """
        self._send(name, signal.SIGINT)

    def kill(self, name: str) -> None:
        """End it and all it started, now; a training can be resumed at its last checkpoint.

        Raises:
            UsageError: it is not running.
        """
        self._send(name, signal.SIGKILL)

    def _send(self, name: str, number: signal.Signals) -> None:
        pid = self._pid(name)
        if pid is None:
            raise UsageError(f"{name} is not running")
        with contextlib.suppress(ProcessLookupError):
            if number == signal.SIGKILL:
                os.killpg(pid, number)
            else:
                os.kill(pid, number)

    def _pid(self, name: str) -> int | None:
        """The process, if it is alive and still that program; numbers of processes are used again."""
        own = self._own.get(name)
        if own is not None:
            return own.pid if own.poll() is None else None
        try:
            found = json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))
            pid, command = int(found["pid"]), [str(part) for part in found["command"]]
            seen = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return pid if MODULE in seen and all(part in seen for part in command) else None

    def _tail(self, name: str) -> str:
        try:
            with (self.folder / f"{name}.log").open("rb") as log:
                log.seek(0, os.SEEK_END)
                log.seek(max(0, log.tell() - 4 * TAIL))
                text = log.read().decode("utf-8", "replace")
        except OSError:
            return ""
        lines = [line.rpartition("\r")[2] for line in text.replace("\r\n", "\n").split("\n")]
        return "\n".join(lines)[-TAIL:]
