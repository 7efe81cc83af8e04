"""A run followed from its folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trainer.rundir import RunDir
from trainer.watching.watch import ending, follow, line_text, look, loss_note, number, spark, table, watch


def set_stage(run: Path, **changes: Any) -> None:
    stages = json.loads((run / "stages.json").read_text())
    stages["stages"][0].update(changes)
    (run / "stages.json").write_text(json.dumps(stages))


def add_step(run: Path, step: int, reward: float) -> None:
    with (run / "metrics.jsonl").open("a") as stream:
        stream.write(json.dumps({"step": step, "reward": reward}) + "\n")


@pytest.mark.guide("G13")
def test_the_reward_leads_and_the_loss_comes_last(tiny_run: Path) -> None:
    view = look(RunDir.open(tiny_run))
    line = {
        "step": 2,
        "loss": 0.1,
        "reward": 0.75,
        "rewards/tagged/mean": 0.5,
        "groups/zero_spread": 0.25,
        "rows/failed": 3.0,
    }
    assert line_text(line, view) == (
        "step 2/2  reward 0.75 (tagged 0.50, right -)  groups without spread 25%  loss 0.100  3 rows failed"
    )


@pytest.mark.guide("G13")
@pytest.mark.parametrize(
    ("beta", "loss_type", "said"),
    [
        (0.0, "dapo", "shorter answers earn more"),
        (0.0, "grpo", "about 0 at every step"),
        (0.04, "grpo", "so it rises while the model learns"),
    ],
)
def test_the_note_on_the_loss_is_about_the_runs_own_settings(beta: float, loss_type: str, said: str) -> None:
    note = loss_note(beta, loss_type)
    assert note.startswith("watch the reward, not the loss")
    assert said in note
    assert f"loss_type={loss_type}" in note


def test_a_finished_run_is_shown_whole_and_ends(tiny_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    watch(RunDir.open(tiny_run), terminal=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("sums-1: watch the reward, not the loss")
    assert lines[1].startswith("step 1/2  reward 0.25")
    assert lines[-1] == (
        f"finished: step 2 of 2, reward 0.25 -> 0.75 (first and last step); next: reward-workbench merge {tiny_run}"
    )


def test_a_growing_run_is_followed_until_it_ends(tiny_run: Path) -> None:
    set_stage(tiny_run, status="running", step=0, max_steps=4)
    run = RunDir.open(tiny_run)

    def wait(seconds: float) -> None:
        step = 3 if len(look(run).lines) < 3 else 4
        add_step(tiny_run, step, 1.0)
        if step == 4:
            set_stage(tiny_run, status="done", step=4)

    with run.locked():
        views = list(follow(run, sleep=wait))
    assert [(view.status, view.step) for view in views] == [("running", 2), ("running", 3), ("done", 4)]


def test_a_killed_run_is_not_waited_for(tiny_run: Path) -> None:
    set_stage(tiny_run, status="running")
    (view,) = follow(RunDir.open(tiny_run), sleep=lambda seconds: pytest.fail("waited"))
    assert ending(view) == "the training process is gone at step 2 of 2; go on with --resume"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("failed", "failed at step 2 of 2 (why)"),
        ("stopped", "stopped at step 2 of 2 (why); go on with --resume"),
    ],
)
def test_the_end_says_why(tiny_run: Path, status: str, said: str) -> None:
    set_stage(tiny_run, status=status, reason="why")
    assert ending(look(RunDir.open(tiny_run))) == said


def test_metrics_that_are_no_number_are_shown_by_name(tiny_run: Path) -> None:
    assert [number(value) for value in (0.5, "nan", None)] == ["0.50", "nan", "-"]


def test_bars_rise_with_the_values() -> None:
    assert spark([0.0, 1.0]) == "▁█"
    assert spark([2.0, 2.0]) == "▄▄"
    assert spark([]) == ""
    assert len(spark([float(n) for n in range(1000)])) == 40


def test_the_table_has_a_row_for_each_reward(tiny_run: Path) -> None:
    from rich.console import Console

    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115  (closed with the test)
    console.print(table(look(RunDir.open(tiny_run))))
    console.file.close()
    text = console.export_text()
    assert "tagged" in text
    assert "watch the reward" in text


def test_watching_loads_no_torch(tiny_run: Path) -> None:
    code = (
        "import sys; from trainer.__main__ import main; code = main(sys.argv[1:]); "
        "sys.exit(9 if 'torch' in sys.modules else code)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "watch", str(tiny_run)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "finished: step 2 of 2" in done.stdout
