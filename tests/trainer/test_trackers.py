"""Trackers for real, without a network, where they are installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from trainer.job import Request
from trainer.run import train

pytestmark = pytest.mark.filterwarnings("ignore")  # a tracker's own


def tracked(project: Path, tracker: str) -> Path:
    """The folder of a run of two steps that reports to a tracker."""
    sets = (f"report_to={tracker}", "max_steps=2", "save_steps=2", "kl_every=0")
    return train(Request(str(project), sets=sets, allow_unsealed=True)).run.path


@pytest.mark.guide("G27")
@pytest.mark.skipif(importlib.util.find_spec("tensorboard") is None, reason="tensorboard is not installed")
def test_tensorboard_gets_every_reward(project: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    [file] = tracked(project, "tensorboard").glob("checkpoints/runs/*/events.out.tfevents.*")
    events = EventAccumulator(str(file))
    events.Reload()
    tags = events.Tags()["scalars"]
    assert {"train/reward", "train/rewards/tagged/mean", "train/rewards/right/mean"} <= set(tags)
    assert [event.step for event in events.Scalars("train/reward")] == [1, 2]


@pytest.mark.skipif(importlib.util.find_spec("trackio") is None, reason="trackio is not installed")
def test_trackio_keeps_its_runs_on_this_machine(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    tracked(project, "trackio")
    assert list((tmp_path / "trackio").rglob("*.db"))


@pytest.mark.skipif(importlib.util.find_spec("wandb") is None, reason="wandb is not installed")
def test_wandb_writes_offline_where_it_is_told_to(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    tracked(project, "wandb")
    import wandb

    wandb.teardown()  # it leaves a process of its own behind
    assert list(tmp_path.rglob("run-*.wandb"))
