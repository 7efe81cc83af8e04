"""When checkpoints are taken: within the first third of a short run, and never inside a generation window."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewards.manifest import TrainSettings
from trainer.job import Request, prepare_job, replan
from trainer.saving import aligned, every_of, fitting, who_said
from trainer.settings import resolve


def in_epochs(project: Path, *sets: str) -> tuple[int, int]:
    """Planned steps and save_steps of a run of the project: 16 prompts, 2 of them a step."""
    job = prepare_job(Request(str(project), sets=sets))
    return job.plan.max_steps, int(job.settings.trl["save_steps"])


@pytest.fixture
def epochs(project: Path) -> Path:
    """The project planned in epochs; its manifest says nothing of checkpoints."""
    manifest = project / "rewardset.toml"
    text = manifest.read_text().replace("max_steps = 6", "num_train_epochs = 1.0")
    manifest.write_text(text.replace("save_steps = 2\n", ""))
    return project


def test_a_short_run_planned_in_epochs_has_its_first_checkpoint_within_a_third(epochs: Path) -> None:
    assert in_epochs(epochs) == (8, 2)
    assert in_epochs(epochs, "num_train_epochs=20") == (160, 25)


def test_what_the_user_says_stands_unless_the_run_became_shorter_than_that(epochs: Path) -> None:
    assert in_epochs(epochs, "save_steps=8") == (8, 8)
    manifest = epochs / "rewardset.toml"
    manifest.write_text(manifest.read_text() + "save_steps = 12\n")
    assert in_epochs(epochs) == (8, 12)
    assert in_epochs(epochs, "num_train_epochs=3") == (24, 12)
    assert in_epochs(epochs, "num_train_epochs=1") == (8, 2)


def test_a_checkpoint_never_lies_inside_a_generation_window(epochs: Path) -> None:
    assert in_epochs(epochs, "num_iterations=4") == (32, 12)  # a third is 10
    assert aligned(1, 4) == 4


def test_a_checkpoint_that_nobody_asked_for_lies_where_a_line_was_logged(epochs: Path) -> None:
    long = ("num_train_epochs=20", "num_iterations=2", "per_device_train_batch_size=4")
    assert in_epochs(epochs, *long, "logging_steps=20")[1] == 40  # 25, in windows and lines
    assert in_epochs(epochs, *long, "logging_steps=20", "save_steps=26")[1] == 26
    assert in_epochs(epochs, "num_train_epochs=1", "logging_steps=10")[1] == 2  # no room for it


def test_prompts_that_are_left_out_make_the_run_shorter(epochs: Path) -> None:
    job = prepare_job(Request(str(epochs)))
    fewer = replan(job, type(job.data)(**{**vars(job.data), "train": job.data.train[:6]}))
    assert (fewer.plan.max_steps, fewer.settings.trl["save_steps"]) == (3, 1)


def test_settings_of_a_run_that_goes_on_are_left_alone() -> None:
    found = resolve(TrainSettings(model="m"), device="cpu", sets={"num_train_epochs": 1.0})
    again = type(found).from_manifest(found.to_manifest(), device="cpu")
    assert again.planned(8, 1).trl["save_steps"] == found.trl["save_steps"] == 25
    assert found.planned(8, 1).trl["save_steps"] == 2


def test_who_said_it_and_what_follows() -> None:
    assert who_said(({}, {"max_steps": 3}, {})) == "unsaid"
    assert who_said(({"save_steps": 5, "max_steps": 9}, {}, {})) == "said"
    assert who_said(({"save_steps": 5}, {"num_train_epochs": 1}, {})) == "outgrown"
    assert [fitting(25, 12, saves) for saves in ("said", "unsaid", "outgrown")] == [25, 4, 4]
    assert every_of({}) == 100
