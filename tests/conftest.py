"""What holds for every test: no network, fixed seeds, no process left behind, nothing this machine lacks."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# Two spinning OpenMP threads on a busy machine are many times slower than one. numpy and torch load later.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Nothing may wait for a hub or report home; the socket guard below would turn it into a failure, late.
for _name in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")


SESSION_MARK = "REWARD_WORKBENCH_TEST_SESSION"  # inherited by every child, so that leftovers can be found
LEFTOVER_PATIENCE_S = 5.0

hypothesis.settings.register_profile("repository", derandomize=True, deadline=None, print_blob=False)
hypothesis.settings.load_profile("repository")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-docs",
        action="store_true",
        help="write the generated documents (docs/coverage.md, docs/checks.md) instead of comparing them",
    )


@pytest.fixture
def write_docs(request: pytest.FixtureRequest) -> bool:
    """Whether generated documents are to be written: only when asked for."""
    return bool(request.config.getoption("--write-docs"))


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return Path(__file__).resolve().parent.parent


# --------------------------------------------------------------------------------------- no network

LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")


def _is_local(host: object) -> bool:
    text = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    return text == "" or text.startswith(LOOPBACK)


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    """Connecting or asking a name server about anything but this machine raises."""
    real_connect, real_connect_ex, real_getaddrinfo = (
        socket.socket.connect,
        socket.socket.connect_ex,
        socket.getaddrinfo,
    )

    def refuse(host: object) -> None:
        if not _is_local(host):
            raise RuntimeError(f"no network in tests: connection to {host!r} refused")

    def connect(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple):
            refuse(address[0])
        real_connect(self, address)

    def connect_ex(self: socket.socket, address: Any) -> int:
        if isinstance(address, tuple):
            refuse(address[0])
        return real_connect_ex(self, address)

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        refuse(host)
        return real_getaddrinfo(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        patch.setattr(socket.socket, "connect_ex", connect_ex)
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


# --------------------------------------------------------------------------- what this machine lacks


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    from workbench.machine import find_chromium

    lacking = {
        "browser": None if find_chromium() else "no Chromium found: apt-get install chromium",
        "gpu": None if Path("/dev/nvidia0").exists() else "no CUDA device",
    }
    # Playwright keeps an event loop running in the main thread, under which asyncio.run() raises: browsers go last.
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
    for item in items:
        for marker, reason in lacking.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the Chromium that browser tests drive."""
    from workbench.machine import find_chromium

    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium found: apt-get install chromium")
    return str(path)


# --------------------------------------------------------------------------------- nothing left behind


@pytest.fixture(autouse=True, scope="session")
def sandboxes_end() -> Iterator[None]:
    """The sandboxes of this process, which else last as long as it does, end before the session is looked through."""
    yield
    if "rewards.sandbox" in sys.modules:
        sys.modules["rewards.sandbox"].close_all()


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(
        config, "workerinput"
    ):  # the first process of the session; xdist's workers inherit its mark
        os.environ[SESSION_MARK] = uuid.uuid4().hex


def _stat(pid: int) -> tuple[int, int, str]:
    """Parent, process group and state of a process."""
    after_name = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return int(after_name[1]), int(after_name[2]), after_name[0]


def _ours(pid: int, ancestors: set[int], mark: bytes) -> bool:
    """Whether this session started a process: told by its environment, or as a plain fork of this one."""
    if pid in ancestors:
        return False
    parent, group, state = _stat(pid)
    command = Path(f"/proc/{pid}/cmdline").read_bytes()
    if state in "ZX" or b"resource_tracker" in command:  # the standard library's own, ends with us
        return False
    environment = Path(f"/proc/{pid}/environ").read_bytes()
    if mark in environment:
        return True
    if not environment and parent == os.getpid():  # between its fork and its program's first step
        return True
    same_program = os.readlink(f"/proc/{pid}/exe") == os.path.realpath(sys.executable)
    return same_program and (parent == os.getpid() or (parent == 1 and group == os.getpgid(0)))


def _leftovers() -> dict[int, str]:
    """Processes of this session that still run: process id -> command line."""
    ancestors, pid = {os.getpid()}, os.getppid()
    while pid > 1:
        ancestors.add(pid)
        pid = _stat(pid)[0]
    mark = f"{SESSION_MARK}={os.environ[SESSION_MARK]}".encode()
    found = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if entry.name.isdigit() and _ours(int(entry.name), ancestors, mark):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found[int(entry.name)] = command.strip()[:200]
    return found


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process that outlives the tests fails the session: users would find it on their machine too."""
    if hasattr(session.config, "workerinput") or not Path("/proc/self/stat").exists():
        return
    deadline = time.monotonic() + LEFTOVER_PATIENCE_S
    while (left := _leftovers()) and time.monotonic() < deadline:
        time.sleep(0.1)
    if not left:
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    for pid, command in left.items():
        if reporter is not None:
            reporter.write_line(f"\nleft running by the tests, ended now: {pid} {command}", red=True)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    session.exitstatus = pytest.ExitCode.TESTS_FAILED
