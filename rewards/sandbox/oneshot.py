"""Sandboxes elsewhere: a container engine or a service, which run a program once with an input.

They are used where the configuration names them (`backend`). The verdict is the same as in the local sandbox:
the tests stay here, and only plain values come back.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Sequence
from typing import Any, Protocol

from rewards.errors import SandboxError
from rewards.sandbox.job import Job, Result
from rewards.sandbox.level import Level
from rewards.sandbox.server import FLOOD, Limits
from rewards.sandbox.starting import INSIDE

VARIABLE = "REWARD_WORKBENCH_SANDBOX"
"""Names the backend where a reward does not."""

IMAGE = "docker.io/library/python:3.12-slim"
_READY = "reward-workbench: ready"
_START_S = 15.0
"""Seconds a container or a service may take besides the program's own time."""


class OneShot(Protocol):
    """Something that runs a program once."""

    def level(self) -> Level:
        """The level it counts as."""

    def require(self) -> Level:
        """The level, if it can be used; SandboxError otherwise."""

    def run(self, job: Job) -> Result:
        """Run a program as a script, as `Sandbox.run` does."""

    def converse(self, job: dict[str, Any], requests: Sequence[dict[str, Any]], limits: Limits) -> Result:
        """Load a program and answer requests; the output has a line for each answer."""

    def close(self) -> None:
        """Let go of what it holds."""


def backend_of(name: str) -> OneShot | None:
    """The backend of a name: "docker" or "podman", with ":IMAGE", or the address of a service; None for "".

    Raises:
        SandboxError: it is none of these.
    """
    name = name or os.environ.get(VARIABLE, "")
    if not name:
        return None
    if name.startswith(("http://", "https://")):
        return Service(name)
    engine, _, image = name.partition(":")
    if engine in ("docker", "podman"):
        return Container(engine, image or IMAGE)
    raise SandboxError(
        f"backend={name!r} must be empty, docker, podman, docker:IMAGE, or the address of a service"
    )


# --------------------------------------------------------------------------------------- what runs there

_DRIVER = """
import base64, json, os, sys, types
{limits}
def _load(told):
    for name, text in told["modules"]:
        module = sys.modules[name] = types.ModuleType(name)
        module.__path__ = []
        exec(compile(text, name, "exec"), module.__dict__)
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)
    inside = sys.modules["rewards.sandbox.inside.candidate"]
    inside.READ, inside.WRITE = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    for name in [name for name in sys.modules if name.partition(".")[0] == "rewards"]:
        del sys.modules[name]
    inside.serve(told["job"])
_load(json.loads(base64.b64decode("{told}")))
"""

_LIMITS = """
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
    resource.setrlimit(resource.RLIMIT_CPU, ({cpu}, {cpu}))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, OSError, ValueError):
    pass
"""


def driver(job: dict[str, Any], limits: Limits) -> str:
    """A program that loads another and answers the requests on its standard input."""
    names = ("values", "job", "candidate")
    modules = [("rewards", ""), ("rewards.sandbox", ""), ("rewards.sandbox.inside", "")]
    modules += [
        (f"rewards.sandbox.inside.{name}", (INSIDE / f"{name}.py").read_text(encoding="utf-8"))
        for name in names
    ]
    told = base64.b64encode(json.dumps({"modules": modules, "job": job}).encode()).decode()
    return _DRIVER.format(limits=_limits(limits), told=told)


def _limits(limits: Limits) -> str:
    return _LIMITS.format(memory=limits.memory, cpu=int(limits.seconds) + 1)


def _lines(requests: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(request, allow_nan=False) + "\n" for request in requests)


# ------------------------------------------------------------------------------------------- containers


class Container:
    """A container engine: a fresh container for each run, without network, capabilities or a writable root.

    Args:
        engine: "docker" or "podman", found on the search path.
        image: one with `python3` in it that is on this machine; none is pulled.
    """

    def __init__(self, engine: str, image: str) -> None:
        self._engine = engine
        self._image = image

    def level(self) -> Level:
        """`Level.CONTAINER`."""
        return Level.CONTAINER

    def require(self) -> Level:
        """See `OneShot`."""
        if shutil.which(self._engine) is None:
            raise SandboxError(f"backend '{self._engine}': there is no {self._engine} on the search path")
        return self.level()

    def close(self) -> None:
        """Nothing is held."""

    def run(self, job: Job) -> Result:
        """See `OneShot`."""
        return self._run(f"{_limits(job.limits)}\n{_AS_SCRIPT}", job.code, job.stdin, job.limits)

    def converse(self, job: dict[str, Any], requests: Sequence[dict[str, Any]], limits: Limits) -> Result:
        """See `OneShot`."""
        return self._run(driver(job, limits), "", _lines(requests), limits)

    def command(self, name: str, limits: Limits) -> list[str]:
        """The engine's command line; the program comes on standard input."""
        memory = f"{(limits.memory >> 20) + 64}m"
        return [
            *(self._engine, "run", "--rm", "--interactive", "--name", name, "--pull", "never"),
            *("--network", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
            *("--read-only", "--tmpfs", f"/tmp:rw,size={limits.disk}", "--workdir", "/tmp"),
            *("--user", "65534:65534", "--pids-limit", "64", "--memory", memory, "--memory-swap", memory),
            *("--env", "PYTHONHASHSEED=0", "--env", "PYTHONDONTWRITEBYTECODE=1"),
            *(self._image, "python3", "-S", "-c", _FIRST_LINE),
        ]

    def _run(self, driver_text: str, code: str, stdin: str, limits: Limits) -> Result:
        self.require()
        name = f"reward-workbench-{uuid.uuid4().hex[:12]}"
        first = json.dumps({"driver": driver_text, "code": code})
        started = time.monotonic()
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as said,
        ):
            given.write(f"{first}\n{stdin}".encode("utf-8", "replace"))
            given.seek(0)
            try:
                process = subprocess.Popen(self.command(name, limits), stdin=given, stdout=out, stderr=said)
            except OSError as error:
                return Result("error", error=f"{self._engine}: {error}", level=self.level())
            status = self._wait(process, name, out, started, limits)
            output, error_text = _tail(out, _most(limits)), _tail(said, FLOOD)
        seconds = time.monotonic() - started
        ready, _, own = error_text.partition(_READY)
        if _READY not in error_text:
            why = ready.strip().splitlines()
            text = why[-1] if why else f"ended with exit code {process.returncode}"
            return Result("error", error=f"{self._engine}: {text[:300]}", level=self.level(), seconds=seconds)
        code_number = process.returncode
        status = status or ("ok" if code_number == 0 else "died" if code_number in (137, 139) else "failed")
        return Result(status, output, own.strip()[-2000:], code_number, seconds, 0.0, self.level())

    def _wait(
        self, process: subprocess.Popen[bytes], name: str, out: Any, started: float, limits: Limits
    ) -> str:
        """ "" where it ended by itself, else why it was ended."""
        while True:
            try:
                process.wait(0.05)
                return ""
            except subprocess.TimeoutExpired:
                late = time.monotonic() - started > limits.seconds + _START_S
                if late or os.fstat(out.fileno()).st_size > _most(limits):
                    with contextlib.suppress(OSError, subprocess.SubprocessError):
                        subprocess.run(
                            [self._engine, "kill", name], capture_output=True, timeout=10, check=False
                        )
                    process.kill()
                    process.wait()
                    return "timeout" if late else "output"


_FIRST_LINE = f"""
import os, sys
data = b""
while not data.endswith(b"\\n"):
    data += os.read(0, 1) or b"\\n"
import json
told = json.loads(data)
os.write(2, b"{_READY}\\n")
exec(compile(told["driver"], "driver.py", "exec"), {{"__name__": "driver", "CODE": told["code"]}})
"""

_AS_SCRIPT = """
import sys, types
main = sys.modules["__main__"] = types.ModuleType("__main__")
exec(compile(CODE, "program.py", "exec"), main.__dict__)
"""


def _most(limits: Limits) -> int:
    """Bytes of output above which a program is ended."""
    return max(FLOOD, 2 * limits.kept)


def _tail(file: Any, most: int) -> str:
    file.seek(0)
    return bytes(file.read(most)).decode("utf-8", "replace")


# --------------------------------------------------------------------------------------------- services


class Service:
    """A sandbox service that speaks SandboxFusion's protocol: `POST /run_code`.

    Args:
        address: where it is, with or without `/run_code`.
    """

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/").removesuffix("/run_code") + "/run_code"

    def level(self) -> Level:
        """`Level.SERVICE`."""
        return Level.SERVICE

    def require(self) -> Level:
        """See `OneShot`; that the service is there is found out by the first run."""
        return self.level()

    def close(self) -> None:
        """Nothing is held."""

    def run(self, job: Job) -> Result:
        """See `OneShot`."""
        return self._post(job.code, job.stdin, job.limits)

    def converse(self, job: dict[str, Any], requests: Sequence[dict[str, Any]], limits: Limits) -> Result:
        """See `OneShot`."""
        return self._post(driver(job, limits), _lines(requests), limits)

    def _post(self, code: str, stdin: str, limits: Limits) -> Result:
        body = {
            "code": code,
            "language": "python",
            "stdin": stdin,
            "compile_timeout": _START_S,
            "run_timeout": limits.seconds,
            "memory_limit_MB": limits.memory >> 20,
        }
        why = ""
        for _ in range(2):
            try:
                return self._read(self._answer(json.dumps(body).encode(), limits))
            except (OSError, ValueError, KeyError, TypeError) as error:
                why = str(error) or type(error).__name__
        return Result(
            "error", error=f"the sandbox service at {self._address}: {why[:300]}", level=self.level()
        )

    def _answer(self, body: bytes, limits: Limits) -> Any:
        request = urllib.request.Request(  # http or https, see backend_of
            self._address, data=body, headers={"Content-Type": "application/json"}, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=limits.seconds + 2 * _START_S) as response:
                return json.loads(response.read(4 * _most(limits)))
        except urllib.error.HTTPError as error:
            error.close()
            raise OSError(f"HTTP status {error.code}") from None

    def _read(self, answer: Any) -> Result:
        ran = answer.get("run_result")
        if answer["status"] == "SandboxError" or not isinstance(ran, dict):
            raise ValueError(str(answer.get("message") or "it failed"))
        code = int(ran.get("return_code") or 0)
        status = {"TimeLimitExceeded": "timeout", "Error": "error"}.get(str(ran["status"]), "")
        if status == "error":
            raise ValueError(str(ran.get("stderr") or answer.get("message") or "it failed"))
        status = status or ("ok" if code == 0 else "died" if code < 0 or code in (137, 139) else "failed")
        output, said = str(ran.get("stdout") or ""), str(ran.get("stderr") or "")
        seconds = float(ran.get("execution_time") or 0.0)
        return Result(status, output, said.strip()[-2000:], code, seconds, 0.0, self.level())
