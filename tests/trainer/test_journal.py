"""What a run tells while it goes on."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from trainer.rundir import RunDir, Stage
from trainer.watching.journal import Journal, Progress, describe_line, duration


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    run = RunDir(tmp_path)
    run.write_stages([Stage("main", ("a", "b"), 20)])
    return Journal(
        run,
        total=20,
        window=2,
        names=("a", "b"),
        extra=lambda: {"rows/failed": 0.0},
        flush=lambda: None,
        progress=Progress(20, terminal=False),
    )


def lines(journal: Journal) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal.run.metrics_path.read_text().splitlines()]


def test_every_log_of_trl_becomes_a_flushed_line_with_ours_beside_it(journal: Journal) -> None:
    journal.begin()
    journal.logged(1, {"reward": 0.5, "grad_norm": float("nan")})
    assert lines(journal) == [{"step": 1, "reward": 0.5, "grad_norm": "nan", "rows/failed": 0.0}]
    journal.end()


def test_evaluation_lines_carry_only_their_own(journal: Journal) -> None:
    journal.begin()
    journal.logged(2, {"eval_reward": 0.5})
    journal.end()
    assert lines(journal) == [{"step": 2, "eval_reward": 0.5}]


def test_the_totals_at_the_end_are_no_line_of_their_own(journal: Journal) -> None:
    journal.begin()
    journal.logged(20, {"train_runtime": 3.0, "train_loss": 0.1, "epoch": 1.0})
    journal.end()
    assert lines(journal) == []
    assert journal.summary == {"train_runtime": 3.0, "train_loss": 0.1}


def test_a_signal_asks_the_run_to_stop_at_the_end_of_its_window(journal: Journal) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with journal.listening():
        assert journal.stopping is None
        os.kill(os.getpid(), signal.SIGTERM)
        assert (journal.may_save(3), journal.may_save(4)) == (False, True)
        assert journal.stopping == "SIGTERM"
    assert signal.getsignal(signal.SIGTERM) is before


def test_without_a_terminal_a_plain_line_stands_every_tenth_of_the_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = Progress(20, terminal=False)
    for step in range(1, 21):
        progress.show(step, "reward 0.50", last=step == 20)
    shown = capsys.readouterr().err.splitlines()
    assert [line.split()[1] for line in shown] == ["1/20", *(f"{step}/20" for step in range(2, 21, 2))]


def test_the_tenth_is_said_though_only_some_steps_are_logged(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(70, terminal=False)
    for step in range(5, 71, 5):
        progress.show(step, "reward 0.50", last=step == 70)
    shown = [int(line.split()[1].partition("/")[0]) for line in capsys.readouterr().err.splitlines()]
    assert shown == [10, 15, 25, 30, 35, 45, 50, 60, 65, 70]


def test_a_line_names_reward_parts_failures_and_time() -> None:
    line = {"reward": 0.41, "rewards/format/mean": 0.55, "rewards/right/mean": None, "rows/failed": 2.0}
    assert describe_line(line, ("format", "right"), 3.71) == (
        "reward 0.41 (format 0.55, right none)  failed rows: 2  3.7 s"
    )
    assert describe_line({"reward": 1.0}, ("format",), 0.1) == "reward 1.00  0.1 s"


def test_durations_are_readable() -> None:
    assert [duration(seconds) for seconds in (5.4, 200, 7500)] == ["5 s", "3 min 20 s", "2 h 5 min"]
