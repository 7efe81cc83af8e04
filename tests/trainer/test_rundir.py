"""The run folder: whole writes, whole checkpoints, reading after a kill."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rewards.errors import UsageError
from trainer.rundir import (
    RunDir,
    Stage,
    choose_run_folder,
    find_run,
    is_whole_checkpoint,
    latest_run,
    record_checkpoint,
    strict_json,
    write_whole,
)


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    folder = tmp_path / "runs" / "sums-1"
    (folder / "completions").mkdir(parents=True)
    (folder / "checkpoints").mkdir()
    (folder / "manifest.toml").write_text("")
    RunDir(folder).write_stages([Stage("main", ("a",), 9)])
    return RunDir.open(folder)


def checkpoint(run: RunDir, step: int, *, state: str | None = None) -> Path:
    path = run.checkpoints / f"checkpoint-{step}"
    path.mkdir()
    (path / "adapter_model.safetensors").write_bytes(b"weights")
    (path / "trainer_state.json").write_text(json.dumps({"global_step": step}) if state is None else state)
    record_checkpoint(path)
    return path


def test_a_folder_that_is_no_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such run folder"):
        RunDir.open(tmp_path / "nothing")
    with pytest.raises(UsageError, match="is not a run folder"):
        RunDir.open(tmp_path)


def test_a_run_is_found_by_path_and_by_name(run: RunDir, tmp_path: Path) -> None:
    assert find_run(run.path) == run
    assert find_run("sums-1", tmp_path) == run


def test_runs_are_numbered_and_never_overwritten(run: RunDir, tmp_path: Path) -> None:
    assert choose_run_folder(tmp_path, "sums", None).name == "sums-2"
    assert latest_run(tmp_path, "sums") == run.path
    with pytest.raises(UsageError, match="exists already; go on with it by --resume, or give another --run"):
        choose_run_folder(tmp_path, "sums", run.path)


def test_metrics_are_merged_by_step_and_a_torn_last_line_is_left_out(run: RunDir) -> None:
    run.metrics_path.write_text(
        '{"step": 1, "reward": 0.1}\n{"step": 2, "reward": 0.2}\n{"step": 2, "eval_reward": 0.3}\n'
        '{"step": 2, "reward": 0.25}\n{"step": 3, "rew'
    )
    assert run.metrics() == [
        {"step": 1, "reward": 0.1},
        {"step": 2, "reward": 0.25, "eval_reward": 0.3},
    ]


def test_numbers_that_are_not_finite_are_written_as_texts() -> None:
    line = strict_json({"a": float("nan"), "b": [float("inf"), -float("inf")], "c": 1.5})
    assert line == '{"a": "nan", "b": ["inf", "-inf"], "c": 1.5}'


@pytest.mark.parametrize("state", ["", '{"global_step": 4', "[]", '{"global_step": 3}'])
def test_a_checkpoint_without_a_whole_state_is_void(run: RunDir, state: str) -> None:
    assert not is_whole_checkpoint(checkpoint(run, 4, state=state))


def test_a_checkpoint_without_its_record_is_void_however_whole_it_looks(run: RunDir) -> None:
    path = checkpoint(run, 4)
    assert is_whole_checkpoint(path)
    (path / "whole.json").unlink()
    assert not is_whole_checkpoint(path)


def test_a_checkpoint_without_state_or_weights_is_void(run: RunDir) -> None:
    path = checkpoint(run, 4)
    (path / "adapter_model.safetensors").unlink()
    assert not is_whole_checkpoint(path)
    (path / "trainer_state.json").unlink()
    assert not is_whole_checkpoint(path)


def test_later_damage_to_a_recorded_checkpoint_is_seen(run: RunDir) -> None:
    path = checkpoint(run, 4)
    record_checkpoint(path)
    assert is_whole_checkpoint(path)
    (path / "adapter_model.safetensors").write_bytes(b"weig")
    assert not is_whole_checkpoint(path)


def test_the_last_whole_checkpoint_is_taken_not_the_highest(run: RunDir) -> None:
    good = checkpoint(run, 2)
    checkpoint(run, 10, state="{")
    assert run.last_checkpoint() == good


def test_what_comes_after_a_checkpoint_is_dropped(run: RunDir) -> None:
    checkpoint(run, 2)
    torn = checkpoint(run, 4, state="{")
    run.metrics_path.write_text("".join(f'{{"step": {step}}}\n' for step in (1, 2, 3, 4)))
    for name in (
        "step_00002.parquet",
        "step_00003.parquet",
        "eval_00004_001.parquet",
        ".step_00005.parquet.tmp",
    ):
        (run.completions / name).touch()
    assert run.drop_after(2) == 2
    assert [line["step"] for line in run.metrics()] == [1, 2]
    assert [file.name for file in run.completions.iterdir()] == ["step_00002.parquet"]
    assert not torn.exists()


def test_an_older_file_survives_a_write_that_fails(run: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    path = run.path / "stages.json"
    before = path.read_text()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == before
    assert [file.name for file in run.path.iterdir() if file.name.endswith(".tmp")] == []


def test_a_stage_is_updated_in_place(run: RunDir) -> None:
    run.update_stage(0, status="done", step=9)
    assert run.stages() == [Stage("main", ("a",), 9, 9, "done")]
    assert run.is_finished()


def test_one_process_at_a_time_trains_a_run(run: RunDir) -> None:
    with run.locked():
        assert run.is_live()
        with pytest.raises(UsageError, match="is being trained by another process"), run.locked():
            pass
    assert not run.is_live()


def test_what_a_tracker_wrote_beside_the_checkpoints_stays_when_a_run_goes_back(tmp_path: Path) -> None:
    run = RunDir(tmp_path)
    run.write_stages([Stage("main", ("a",), 4)])
    (run.checkpoints / "runs").mkdir(parents=True)
    (run.checkpoints / "checkpoint-4").mkdir()  # not whole
    run.drop_after(0)
    assert [path.name for path in run.checkpoints.iterdir()] == ["runs"]
