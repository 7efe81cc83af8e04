"""Processes that run the user's code: results, deadlines, deaths, and nothing left behind."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewards.contract import Batch, Status
from rewards.errors import LoadError, TargetError, UsageError, WorkerDied, WorkerError, WorkerTimeout
from rewards.running import Runner
from rewards.running import runner as runner_module

FILE = """
import os, sys, time

def plain(completions, **_):
    return [float(text) for text in completions]

def raises(completions, **_):
    print("hello")
    return [1 / (17 - int(text)) for text in completions]

def hangs(completions, **_):
    for text in completions:
        while text == "13":
            pass
    return [1.0] * len(completions)

def dies(completions, **_):
    for text in completions:
        if text == "5":
            os._exit(3)
        if text == "7":
            os.kill(os.getpid(), 11)
        if text == "9":
            sys.exit(2)
    return [None if text == "1" else 1.0 for text in completions]

def deaf(completions, **_):
    import signal
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if "2" in completions:
        time.sleep(60)
    return [1.0] * len(completions)

def greedy(completions, **_):
    return [float(len(bytearray(8 << 30))) if text == "3" else 1.0 for text in completions]

def few(completions, **_):
    return [1.0]

def shouts(completions, **_):
    os.write(1, b"from the descriptor")
    return [1.0] * len(completions)

def daemon(completions, **_):
    if os.fork() == 0:
        os.setsid()
        time.sleep(300)
    return [1.0] * len(completions)
"""

ROWS = Batch(["p"] * 200, [str(row) for row in range(200)])


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("running") / "rewards.py"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module", params=[False, True], ids=["forked", "spawned"])
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    with Runner(spawn=request.param) as made:
        yield made


def test_scores_come_back_with_their_rows(runner: Runner, target: Path) -> None:
    with runner.worker(target, ROWS) as worker:
        assert worker.call("plain").scores.tolist() == [float(row) for row in range(200)]
        assert worker.call("plain", rows=[5, 3]).scores.tolist() == [5.0, 3.0]
        assert worker.call("plain", Batch(["p"], ["42"])).scores.tolist() == [42.0]


def test_a_reward_that_raises_on_row_17_scores_the_other_199(runner: Runner, target: Path) -> None:
    with runner.worker(target, ROWS) as worker:
        result = worker.call("raises")
    assert list(result.errors) == [17]
    assert "ZeroDivisionError: division by zero (rewards.py:9)" in result.errors[17]
    assert (result.status == Status.NUMBER).sum() == 199
    assert "hello" in result.printed


def test_an_endless_row_is_ended_and_its_neighbours_are_scored(runner: Runner, target: Path) -> None:
    with runner.worker(target, ROWS) as worker:
        result = worker.call("hangs", rows=list(range(10, 20)), timeout_s=0.3)
    assert result.errors == {3: "took over 0.3 s and was ended"}
    assert (result.status == Status.NUMBER).sum() == 9


def test_death_of_the_process_is_a_status_of_the_row(runner: Runner, target: Path) -> None:
    with runner.worker(target, ROWS) as worker:
        result = worker.call("dies")
    assert result.errors[5] == "ended its process: exit code 3"
    assert result.errors[7] == "ended its process: signal SIGSEGV"
    assert result.errors[9].startswith("SystemExit: 2")
    assert (Status(result.status[1]), (result.status == Status.NUMBER).sum()) == (Status.ABSTAINED, 196)


def test_a_process_that_ignores_signals_is_ended_all_the_same(runner: Runner, target: Path) -> None:
    with runner.worker(target, ROWS) as worker:
        assert worker.call("deaf", rows=[1, 2, 3], timeout_s=0.3).errors == {
            1: "took over 0.3 s and was ended"
        }


def test_a_reward_without_end_to_its_memory_gets_an_error(runner: Runner, target: Path) -> None:
    with runner.worker(target, ROWS) as worker:
        result = worker.call("greedy", rows=[2, 3, 4])
    assert list(result.errors) == [1]
    assert "MemoryError" in result.errors[1]


def test_a_reward_that_always_hangs_is_given_up_soon(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text("def loop(completions, **_):\n    while True: pass\n")
    with runner.worker(tmp_path / "loop.py", ROWS) as worker:
        result = worker.call("loop", rows=list(range(20)), timeout_s=0.1)
    assert (result.status == Status.TIMEOUT).all()
    assert "not run: 6 calls in a row took over 0.1 s" in result.errors[19]


def test_what_is_written_past_pythons_streams_does_not_reach_ours(
    runner: Runner, target: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with runner.worker(target, ROWS) as worker:
        worker.call("shouts")
        assert "from the descriptor" in worker.printed
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("while True: pass\n", "bad.py was not loaded after 3 s: is there an endless loop at import?"),
        ("import os\nos._exit(4)\n", "bad.py ended the process while it was imported (exit code 4)"),
        ("import os\nos.kill(os.getpid(), 9)\n", "(signal SIGKILL)"),
        ("import sys\nsys.exit(3)\n", "it ends the process at import (exit code 3)"),
        ("def x(:\n", "bad.py, line 1: SyntaxError"),
    ],
)
def test_a_file_that_does_not_load_is_one_sentence(
    runner: Runner, tmp_path: Path, source: str, sentence: str
) -> None:
    (tmp_path / "bad.py").write_text(source)
    with pytest.raises(LoadError) as caught:
        runner.inspect(tmp_path / "bad.py", load_timeout_s=3)
    assert sentence in str(caught.value)


def test_a_wrong_target_is_told_as_such(runner: Runner, target: Path) -> None:
    with pytest.raises(TargetError, match="did you mean 'plain'"):
        runner.inspect(f"{target}::plane")


PROBES = """
import os, time

def fine(context, number):
    return {"twice": number * 2, "rows": len(context.batch), "names": context.rewardset.names[:1]}

def fault(context):
    raise KeyError("mine")

def leave(context):
    os._exit(7)

def linger(context):
    time.sleep(30)
"""


def test_functions_named_by_their_import_path_run_inside(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "rewards.py").write_text(FILE)
    (tmp_path / "probes_of_this_test.py").write_text(PROBES)
    home = "probes_of_this_test:"
    with runner.worker(tmp_path / "rewards.py", ROWS) as worker:
        assert worker.run(home + "fine", number=21) == {"twice": 42, "rows": 200, "names": ["plain"]}
        with pytest.raises(WorkerError, match="KeyError") as caught:
            worker.run(home + "fault")
        assert caught.value.kind == "KeyError"
        with pytest.raises(WorkerDied, match="exit code 7"):
            worker.run(home + "leave")
        worker.restart()
        with pytest.raises(WorkerTimeout, match=r"no answer after 0\.2 s"):
            worker.run(home + "linger", timeout_s=0.2)


def processes_of(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if mark.encode() in environment and state != "Z":
                found.append(int(entry.name))
    return found


def gone(mark: str) -> bool:
    for _ in range(200):
        if not processes_of(mark):
            return True
        time.sleep(0.02)
    return False


SCRIPT = """
import sys, time
from rewards.contract import Batch
from rewards.running import Runner
from rewards.running import runner as runner_module
if __name__ == "__main__":
    runner = Runner(spawn=sys.argv[2] == "spawn")
    worker = runner.worker(sys.argv[1], Batch(["p"] * 20, [str(row) for row in range(20)]))
    worker.call("daemon")
    busy = runner.worker(sys.argv[1], Batch(["p"] * 20, [str(row) for row in range(20)]))
    print("ready", flush=True)
    if sys.argv[3] == "busy":
        busy.call("hangs", timeout_s=60)
    runner.close()
"""


@pytest.mark.parametrize("how", ["fork", "spawn"])
@pytest.mark.parametrize("end", ["busy", "closes"])
def test_no_process_is_left_when_the_parent_closes_or_is_killed(
    target: Path, tmp_path: Path, how: str, end: str
) -> None:
    script = tmp_path / "parent.py"
    script.write_text(SCRIPT)
    mark = f"RW_TEST_MARK_{os.getpid()}_{how}_{end}"
    command = [sys.executable, "-P", str(script), str(target), how, end]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, mark: "1"}) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        if end == "busy":
            time.sleep(0.1)
            parent.send_signal(signal.SIGKILL)
        parent.wait(20)
    assert gone(mark)


NO_FORK = """
import os

real, calls = os.fork, []

def fork():
    calls.append(1)
    if len(calls) == 2:  # that of the first worker goes well
        raise BlockingIOError(11, "Resource temporarily unavailable")
    return real()

os.fork = fork
"""


def test_a_process_that_the_system_refuses_hurts_no_other(target: Path, tmp_path: Path) -> None:
    (tmp_path / "no_fork.py").write_text(NO_FORK)
    environment = {"PYTHONPATH": str(tmp_path)}
    with (
        Runner(spawn=True, preload=("no_fork",), environment=environment) as runner,
        runner.worker(target, ROWS) as first,
    ):
        refused = "no process could be started for the rewards: Resource temporarily unavailable"
        with pytest.raises(WorkerError, match=refused):
            runner.worker(target, ROWS)
        assert first.call("plain", rows=[3]).scores.tolist() == [3.0]
        with runner.worker(target, ROWS) as third:
            assert third.call("plain", rows=[2]).scores.tolist() == [2.0]


STOPS = """
import os, signal, threading, time

def stops(completions, **_):
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGSTOP)).start()
    return [1.0] * len(completions)
"""


def test_a_process_that_reads_nothing_any_more_is_ended(tmp_path: Path) -> None:
    (tmp_path / "stops.py").write_text(STOPS)
    with Runner() as runner, runner.worker(tmp_path / "stops.py", ROWS) as worker:
        assert worker.call("stops", rows=[1]).scores.tolist() == [1.0]
        time.sleep(0.3)
        result = worker.call("stops", Batch(["p"], ["x" * (8 << 20)]), timeout_s=0.5)
    assert result.errors == {0: "took over 0.5 s and was ended"}


def test_many_open_descriptors_and_endless_deadlines_are_no_matter(target: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = min(before[1], 4096) if before[1] != resource.RLIM_INFINITY else 4096
    if most < 1500:
        pytest.skip("fewer than 1,500 descriptors are allowed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(most, before[0]), before[1]))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1200)]
    try:
        with Runner() as runner, runner.worker(target, ROWS) as worker:
            assert worker.call("plain", rows=[3], timeout_s=1e300).scores.tolist() == [3.0]
    finally:
        for fd in opened:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.parametrize("text", ["abc", "-1", "nan", "inf"])
def test_a_load_time_that_is_none_is_one_sentence(
    target: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("REWARD_WORKBENCH_LOAD_TIMEOUT_S", text)
    with Runner() as runner, pytest.raises(UsageError, match="is no number of seconds above 0"):
        runner.worker(target, ROWS)


LEAVES = """
import subprocess

def sleeps(completions, **_):
    return [float(subprocess.Popen(["setsid", "sleep", "300"]).pid)] * len(completions)

def parent(completions, **_):
    import os
    return [float(os.getppid())] * len(completions)
"""


@pytest.mark.parametrize("spawn", [False, True])
@pytest.mark.parametrize("killed", ["template", "guard", "stopped"])
def test_what_workers_started_ends_with_the_template(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spawn: bool, killed: str
) -> None:
    (tmp_path / "leaves.py").write_text(LEAVES)
    with Runner(spawn=spawn) as runner, runner.worker(tmp_path / "leaves.py", ROWS) as worker:
        sleeper = int(worker.call("sleeps", rows=[0]).scores[0])
        template = int(worker.call("parent", rows=[0]).scores[0])
        guard = runner._process.pid if runner._process is not None else runner._forked
        assert guard is not None
        assert Path(f"/proc/{sleeper}").exists()
        if killed == "stopped":
            monkeypatch.setattr(runner_module, "CLOSE_S", 0.2)
            os.kill(guard, signal.SIGTERM)  # as from a system that tells every process to end
            os.kill(template, signal.SIGSTOP)
            runner.close()
        else:
            os.kill(template if killed == "template" else guard, signal.SIGKILL)
        for _ in range(500):
            if not any(Path(f"/proc/{pid}").exists() for pid in (sleeper, worker.pid, template)):
                break
            time.sleep(0.02)
        assert not any(Path(f"/proc/{pid}").exists() for pid in (sleeper, worker.pid, template))


def test_a_template_that_died_is_replaced(target: Path) -> None:
    with Runner(spawn=True) as runner:
        assert runner._process is not None
        runner._process.kill()
        runner._process.wait()
        with runner.worker(target, ROWS) as worker:
            assert worker.call("plain", rows=[4]).scores.tolist() == [4.0]
