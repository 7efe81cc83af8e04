"""Running programs: what becomes of them, and of the processes around them."""

# ruff: noqa: E501  # programs, each in one piece

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from rewards.errors import SandboxError
from rewards.permissions import UNSAFE_CODE_VARIABLE
from rewards.sandbox import Job, Level, Limits, Sandbox, starting
from rewards.sandbox import sandbox as sandbox_module

MIB = 1 << 20

ENDINGS = {
    "prints": ("print(6 * 7)", "ok", "42\n"),
    "reads": ("print(sum(map(int, input().split())))", "ok", "3\n"),
    "exits": ("raise SystemExit(0)", "ok", ""),
    "exits with a code": ("raise SystemExit(3)", "failed", ""),
    "raises": ("1 / 0", "failed", ""),
    "does not compile": ("def f(:", "failed", ""),
    "dies": ("import ctypes\nctypes.string_at(0)", "died", ""),
    "hangs": ("print('a', flush=True)\nwhile True: pass", "timeout", "a\n"),
    "sleeps": ("import time\ntime.sleep(60)", "timeout", ""),
    "writes much": ("for n in range(200): open(str(n), 'wb').write(b'x' * (1 << 20))", "disk", ""),
}

BENIGN = {
    "temporary files": "import tempfile\nwith tempfile.NamedTemporaryFile('w+') as f:\n    f.write('ok')\n    f.seek(0)\n    print(f.read())",
    "a thread": "import threading\nthreading.stack_size(1 << 27)\nthreading.Thread(target=lambda: print('ok')).start()",
    "an event loop": "import asyncio\nasync def f():\n    await asyncio.sleep(0.001)\n    return 'ok'\nprint(asyncio.run(f()))",
    "folders": "import os, shutil\nos.makedirs('a/b')\nopen('a/b/c', 'w').write('ok')\nprint(open('a/b/c').read())\nshutil.rmtree('a')",
    "recursion": "import sys\nsys.setrecursionlimit(20000)\ndef f(n): return n and 1 + f(n - 1)\nprint('ok' if f(10000) == 10000 else 'no')",
    "the time zone": "import zoneinfo, datetime\nprint('ok' if datetime.datetime.now() else 'no')",
    "a pool of threads": "from concurrent.futures import ThreadPoolExecutor as P\nwith P(4) as p: print(*p.map(str, ['ok']))",
    "its own module": "import __main__\nx = 'ok'\nprint(__main__.x, end='' if __name__ == '__main__' else 'no')",
    "much of the standard library": "import csv, sqlite3, json, re, html, uuid, zlib, struct, array, queue, secrets\nprint('ok')",
}  # fmt: skip


@pytest.mark.parametrize("kind", ENDINGS)
def test_a_program_ends_as_it_does(sandbox: Sandbox, kind: str) -> None:
    code, status, output = ENDINGS[kind]
    result = sandbox.run(Job(code, "1 2\n", Limits(seconds=0.6, disk=8 * MIB)))
    if kind == "writes much" and result.level is Level.BUBBLEWRAP and result.status == "failed":
        assert "No space left" in result.error  # its file system was full before anybody looked
    else:
        assert (result.status, result.output) == (status, output)


@pytest.mark.parametrize("kind", BENIGN)
def test_an_honest_program_works(sandbox: Sandbox, kind: str) -> None:
    result = sandbox.run(Job(BENIGN[kind]))
    assert (result.output.strip(), result.status, result.error) == ("ok", "ok", "")


def test_an_error_is_told_with_its_line(landlock: Sandbox) -> None:
    assert landlock.run(Job("x = 1\n1 / 0")).error == "ZeroDivisionError: division by zero (line 2)"


def test_memory_is_limited(sandbox: Sandbox) -> None:
    result = sandbox.run(Job("x = bytearray(300 << 20)", limits=Limits(memory=256 * MIB)))
    assert (result.status, result.error) == ("failed", "MemoryError (line 1)")


def test_what_is_printed_is_kept_up_to_a_limit(landlock: Sandbox) -> None:
    result = landlock.run(Job("print('y' * 1000000)", limits=Limits(kept=1000)))
    assert (result.status, result.output) == ("ok", "y" * 1000)


def test_a_program_that_prints_without_end_is_ended(sandbox: Sandbox) -> None:
    started = time.monotonic()
    result = sandbox.run(Job("while True: print('y' * 10000)", limits=Limits(seconds=20.0)))
    assert (result.status, len(result.output)) == ("output", 65536)
    assert time.monotonic() - started < 15


def test_two_runs_of_a_program_give_the_same_random_numbers_and_order_of_sets() -> None:
    code = "import random\nprint(random.random(), set('abcdefgh'), hash('a'))"
    with Sandbox() as one, Sandbox() as other:
        assert one.run(Job(code)).output == other.run(Job(code)).output


def test_the_environment_is_empty_but_for_what_python_needs(sandbox: Sandbox) -> None:
    output = sandbox.run(Job("import os\nprint(*sorted(os.environ))")).output.split()
    assert {"HOME", "PATH", "TMPDIR"} <= set(output) <= {
        "HOME", "LANG", "LC_CTYPE", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PATH", "PWD",
        "PYTHONHASHSEED", "PYTHONUTF8", "TMPDIR",
    }  # fmt: skip


def test_only_what_is_named_can_be_imported(landlock: Sandbox) -> None:
    assert landlock.run(Job("import numpy")).error.startswith("ModuleNotFoundError")
    with Sandbox(only=Level.LANDLOCK, packages=("numpy",)) as box:
        result = box.run(Job("import numpy\nprint(numpy.linalg.inv(numpy.eye(3) * 2).sum())"))
        assert (result.output, result.error) == ("1.5\n", "")


def test_a_package_that_is_not_there_is_named() -> None:
    with (
        Sandbox(packages=("no_such_package",)) as box,
        pytest.raises(SandboxError, match="no_such_package is not inst"),
    ):
        box.run(Job("1"))


# ------------------------------------------------------------------------------------------ the level


def test_the_best_level_that_works_is_chosen(bubblewrap: Sandbox) -> None:
    with Sandbox() as box:
        assert (box.level(), box.why()) == (Level.BUBBLEWRAP, "")


def test_a_bubblewrap_that_does_not_work_is_passed_over_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, landlock: Sandbox
) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with Sandbox() as box:
        assert box.level() is Level.LANDLOCK
        assert "setting up uid map: Permission denied" in box.why()


def test_a_bubblewrap_that_lets_things_through_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, landlock: Sandbox
) -> None:
    monkeypatch.setattr(
        sandbox_module, "probe", lambda server: {"files"} if server.level is Level.BUBBLEWRAP else set()
    )
    program = tmp_path / "bwrap"
    program.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with Sandbox() as box:
        assert box.level() is Level.LANDLOCK
        assert "files stood open" in box.why()


def test_model_written_code_is_refused_below_the_level_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(UNSAFE_CODE_VARIABLE, raising=False)
    with (
        Sandbox(only=Level.LIMITS) as box,
        pytest.raises(SandboxError, match="asks for the level"),
    ):
        box.run(Job("print(1)"))


def test_it_runs_where_the_user_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(UNSAFE_CODE_VARIABLE, "1")
    with Sandbox(only=Level.LIMITS) as box:
        assert box.run(Job("print(1)")).output == "1\n"


# -------------------------------------------------------------------------------------- the processes


def test_a_server_that_died_is_replaced(landlock: Sandbox) -> None:
    with landlock.server("candidate") as server:
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
    assert landlock.run(Job("print(1)")).output == "1\n"


def test_a_server_that_dies_under_a_program_is_replaced(landlock: Sandbox) -> None:
    def end() -> None:
        time.sleep(0.3)
        for server in servers:
            os.kill(server, signal.SIGKILL)

    with landlock.server("candidate") as server:
        servers = [server.process.pid]
    thread = threading.Thread(target=end)
    thread.start()
    result = landlock.run(Job("import time\ntime.sleep(0.8)\nprint(1)"))
    thread.join()
    assert (result.status, result.output) == ("ok", "1\n")


def test_sandboxes_can_be_used_from_several_threads(sandbox: Sandbox) -> None:
    found: list[str] = []

    def use() -> None:
        found.extend(sandbox.run(Job(f"print({number})")).output for number in range(20))

    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(f"{number}\n" for number in range(20) for _ in range(3))


def test_a_pool_outlives_the_thread_that_started_it() -> None:
    with Sandbox() as box:
        thread = threading.Thread(target=box.level)
        thread.start()
        thread.join()
        time.sleep(0.2)
        with box.server("candidate") as server:
            assert server.alive
        assert box.run(Job("print(1)")).output == "1\n"


def test_a_forked_copy_of_the_process_starts_a_pool_of_its_own(landlock: Sandbox) -> None:
    landlock.run(Job("1"))
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if landlock.run(Job("print(2)")).output == "2\n" else 2
            landlock.close()
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    assert landlock.run(Job("print(1)")).output == "1\n"


CALLER = """
import sys, time
from rewards.sandbox import Job, Level, Limits, Sandbox, starting
box = Sandbox(only=Level(sys.argv[1]))
box.level()
with box.server("candidate") as server:
    print(server.process.pid, server.base or "-", flush=True)
    pass
box.run(Job("while True: pass", limits=Limits(seconds=60.0)))
"""


@pytest.mark.parametrize("level", ["landlock", "bubblewrap"])
def test_nothing_stays_when_the_caller_is_killed_under_a_program(
    level: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(level)
    caller = subprocess.Popen([sys.executable, "-P", "-c", CALLER, level], stdout=subprocess.PIPE, text=True)
    assert caller.stdout is not None
    pid, folder = caller.stdout.readline().split()
    time.sleep(0.3)
    session = int(pid)
    assert processes_of(session)
    caller.kill()
    caller.wait()
    caller.stdout.close()
    deadline = time.monotonic() + 5
    while processes_of(session) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert processes_of(session) == []
    assert not Path(folder).exists()


def processes_of(session: int) -> list[int]:
    """The processes of a session, and their children in sessions of their own."""
    found, parents = [], {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            if int(fields[3]) == session and fields[0] not in "ZX":
                found.append(int(entry.name))
    return found + [pid for pid, parent in parents.items() if parent in found and pid not in found]


def test_closing_ends_the_pool_and_removes_its_folder() -> None:
    box = Sandbox(only=Level.LANDLOCK)
    box.run(Job("1"))
    with box.server("candidate") as server:
        pid, folder = server.process.pid, server.base
    box.close()
    assert folder is not None
    assert not Path(folder).exists()
    assert not Path(f"/proc/{pid}").exists()


def test_the_folder_of_a_server_that_was_killed_is_removed_by_the_next() -> None:
    with Sandbox(only=Level.LANDLOCK) as first:
        first.level()
        with first.server("candidate") as server:
            folder = server.base
            os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()
            server.base = None  # as if this process had been killed too
    assert folder is not None
    assert Path(folder).exists()
    with Sandbox(only=Level.LANDLOCK) as second:
        second.level()
    assert not Path(folder).exists()


@pytest.mark.parametrize("kind", ["prints", "exits with a code", "raises", "dies", "hangs", "sleeps"])
def test_a_server_without_descriptors_of_processes_works_too(
    kind: str, landlock: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = starting._text
    told = real("template").replace('"pidfd_open"', '"no_such_call"')
    monkeypatch.setattr(starting, "_text", lambda module: told if module == "template" else real(module))
    code, status, output = ENDINGS[kind]
    with Sandbox(only=Level.LANDLOCK) as box:
        for _ in range(2):
            result = box.run(Job(code, "1 2\n", Limits(seconds=0.4)))
            assert (result.status, result.output) == (status, output)


KILLERS = [
    "import os\nos._exit(1)",
    "import ctypes\nctypes.string_at(0)",
    "raise SystemExit",
    "x = [0] * 10**10",
    "open('left', 'w').write('x')",
    "import threading\nthreading.Thread(target=print, daemon=True).start()\n1 / 0",
]


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("times", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_programs_that_die_leave_no_process_and_no_open_file(sandbox: Sandbox, times: int) -> None:
    sandbox.run(Job("1"))
    with sandbox.server("candidate") as server:
        session, before, files = server.process.pid, len(processes_of(server.process.pid)), open_files()
        inside = processes_of(session)[-1]
        theirs = len(os.listdir(f"/proc/{inside}/fd"))
    for number in range(times):
        sandbox.run(Job(KILLERS[number % len(KILLERS)]))
    with sandbox.server("candidate") as server:
        assert server.process.pid == session
        assert len(processes_of(session)) == before
        assert open_files() <= files  # others of this process may have been closed meanwhile
        assert len(os.listdir(f"/proc/{inside}/fd")) == theirs
