"""The process of a run: silent, with a known number of threads."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from trainer.environment import (
    choose_threads,
    counted_threads,
    describe_environment,
    idle_cores,
    prepare_process,
    usable_cores,
)


def test_telemetry_is_off_before_anything_is_imported() -> None:
    code = (
        "import trainer.__main__ as m, os; m.prepare_process(); print(os.environ['HF_HUB_DISABLE_TELEMETRY'])"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.strip() == "1"


def test_what_the_user_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSFORMERS_VERBOSITY", "info")
    prepare_process()
    assert os.environ["TRANSFORMERS_VERBOSITY"] == "info"


def test_threads_are_as_asked_else_by_environment_else_by_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert choose_threads(5, tiny=True) == 5
    assert choose_threads(0, tiny=True) == 3
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert choose_threads(0, tiny=True) == 1
    monkeypatch.setattr("trainer.environment.idle_cores", lambda: 0.3)
    assert choose_threads(0, tiny=False) == 1
    monkeypatch.setattr("trainer.environment.idle_cores", lambda: 2.6)
    assert choose_threads(0, tiny=False) == 3
    monkeypatch.setattr("trainer.environment.idle_cores", lambda: 64.0)
    assert choose_threads(0, tiny=False) == 8


def test_idle_cores_are_those_of_now_and_not_of_the_last_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (100.0, 0.0, 0.0))
    times = iter([[10, 0, 0, 90, 0, 0, 0, 0], [10, 0, 0, 190, 0, 0, 0, 0]])
    monkeypatch.setattr("trainer.environment._processor_times", lambda: next(times))
    assert idle_cores(0.0) == usable_cores()
    times = iter([[10, 0, 0, 90, 0, 0, 0, 0], [85, 0, 0, 110, 5, 0, 0, 0]])
    assert idle_cores(0.0) == pytest.approx(usable_cores() / 4)


def test_where_the_kernel_does_not_tell_the_load_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainer.environment._processor_times", lambda: None)
    monkeypatch.setattr("os.getloadavg", lambda: (100.0, 0.0, 0.0))
    assert idle_cores() == 0.0


@pytest.mark.guide("G23")
def test_the_environment_names_versions_and_hardware() -> None:
    facts = describe_environment("cpu")
    assert facts["device"] == "cpu"
    assert {"torch", "trl", "transformers", "peft"} <= set(facts["packages"])


def test_one_thread_is_told_as_one() -> None:
    assert [counted_threads(count) for count in (1, 4)] == ["1 CPU thread", "4 CPU threads"]
