"""A child process that works for a page and reports in JSON lines; the app itself runs none of the user's code.

The child reads one JSON object from its standard input, and after that words it is told (`seal`); it ends when its
standard input ends, so a child outlives neither its desk nor the server.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

STILL = 400
"""Characters of what a child that broke said last."""


class Child:
    """`state` is running, done, failed or stopped; `said` has the newest value under each key the child sent.

    `gathered` has every value under `gather`, in order: what came of a run that was stopped stays.

    Args:
        module: what is run, with `python -m`.
        task: the object it reads first.
        changed: called after every message and at the end, from another thread.
    """

    def __init__(
        self, module: str, task: Mapping[str, Any], changed: Callable[[], None], *, gather: str = ""
    ) -> None:
        self.state = "running"
        self.gathered: list[Any] = []
        self._gather = gather
        self.said: dict[str, Any] = {}
        self._changed = changed
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        self._errors = ""
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._read, self._read_errors)
        ]
        self.tell(json.dumps(task))
        for thread in self._threads:
            thread.start()

    def tell(self, words: str) -> None:
        """Write a line to the child; one that has ended does not hear it."""
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(OSError, ValueError):
            stdin.write(words + "\n")
            stdin.flush()

    @property
    def listens(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        for line in stdout:
            try:
                message = json.loads(line)
            except ValueError:
                continue  # somebody printed
            if self._gather in message:
                self.gathered.append(message.pop(self._gather))
            self.said.update(message)
            if self.state == "running" and "error" in message:
                self.state = "failed"
            elif self.state == "running" and "result" in message:
                self.state = "done"
            self._changed()
        self._process.wait()
        if self.state == "running":
            self.state = "failed"
            self._threads[1].join(timeout=2)
            last = self._errors.strip().splitlines()[-1:] or ["it said nothing"]
            self.said["error"] = f"the process ended with code {self._process.returncode}: {last[0][-STILL:]}"
            self._changed()

    def _read_errors(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        for line in stderr:
            self._errors = (self._errors + line)[-20 * STILL :]

    def stop(self) -> None:
        """End it and everything it started, now."""
        if self.state == "running":
            self.state = "stopped"
        self.close()
        self._changed()

    def close(self) -> None:
        """Let it go."""
        if self._process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)  # its workers end when it is gone
        self._process.wait()
        for thread in self._threads:
            thread.join(timeout=5)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
