"""The process of a training command: what it hears, and what is told of its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from workbench.cli import trainer_process

WAITS = (
    "import subprocess, sys\n"
    "from workbench.cli.trainer_process import wait_for\n"
    "code = 'import signal\\ntry:\\n    print(1, flush=True)\\n    signal.pause()\\n'\n"
    "code += 'except KeyboardInterrupt:\\n    raise SystemExit(7)'\n"
    "sys.exit(wait_for(subprocess.Popen([sys.executable, '-c', code])))\n"
)


@pytest.mark.skipif(not hasattr(signal, "sigtimedwait"), reason="who sent a signal cannot be told here")
def test_an_interrupt_sent_to_the_command_alone_reaches_the_trainer() -> None:
    with subprocess.Popen(
        [sys.executable, "-P", "-c", WAITS],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(30) == 7


def test_a_trainer_killed_from_outside_is_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    real = subprocess.Popen
    dies = [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: real(dies))
    assert trainer_process.run_trainer(["train", "x"]) == 137
    assert capfd.readouterr().err == (
        "error: train was ended by SIGKILL from outside (is there enough memory?); "
        "the same command with --resume goes on from its last checkpoint, or from the start where it had none\n"
    )


COMMAND_WITH_TRAINER = (
    "import subprocess, sys\n"
    "from workbench.cli import trainer_process\n"
    "child = 'from trainer.environment import end_with_command; import signal\\n'\n"
    "child += 'end_with_command(); print(1, flush=True); signal.pause()'\n"
    "real = subprocess.Popen\n"
    "subprocess.Popen = lambda command, **options: real([sys.executable, '-P', '-c', child], **options)\n"
    "trainer_process.run_trainer(['train', 'x'])\n"
)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells a process of the death of its parent")
def test_a_trainer_ends_with_its_command_however_that_ends() -> None:
    with subprocess.Popen(
        [sys.executable, "-P", "-c", COMMAND_WITH_TRAINER], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"1\n"
        process.kill()
        assert (
            process.stdout.read() == b""
        )  # comes back once the trainer, which holds the other end, has ended too
