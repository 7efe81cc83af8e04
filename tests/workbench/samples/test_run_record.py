"""The record of a training run opens again: as it was scored, and ready to be scored anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trainer.rewarding.completions import ScoredBatch, write_batch
from workbench.samples import read_samples


def record(folder: Path, step: int, split: str = "train") -> None:
    write_batch(
        folder,
        ScoredBatch(
            step=step,
            split=split,
            prompts=["p", "p", "q", "q"],
            completions=["a", "b", "c", "d"],
            groups=["g0", "g0", "g1", "g1"],
            names=("correctness", "layout"),
            scores=np.array([[1.0, 0.5], [0.0, np.nan], [1.0, 0.0], [0.0, 0.0]]),
            totals=np.array([1.5, 0.0, 1.0, 0.0]),
            advantages=np.array([0.7, -0.7, 0.7, -0.7]),
            errors={1: {"layout": "TypeError: no"}},
            credits=[[], [], [], []],
            seconds={"correctness": 0.1, "layout": 0.1},
            columns={"answer": [1.0, 1.0, 2.0, 2.0]},
        ),
    )


@pytest.mark.guide("G24")
def test_a_runs_record_is_read_with_its_data_and_scores_apart(tmp_path: Path) -> None:
    record(tmp_path / "completions", 1)
    samples = read_samples([tmp_path])
    assert samples.columns == {"answer": [1.0, 1.0, 2.0, 2.0]}
    assert samples.recorded["correctness"] == [1.0, 0.0, 1.0, 0.0]
    assert samples.recorded["layout"] == [0.5, None, 0.0, 0.0]
    assert set(samples.recorded) == {"correctness", "layout", "total", "advantage"}


def test_groups_of_two_steps_stay_apart_and_evaluation_is_a_call_of_its_own(tmp_path: Path) -> None:
    for step, split in ((1, "train"), (2, "train"), (2, "eval")):
        record(tmp_path / "completions", step, split)
    samples = read_samples([tmp_path / "completions"])
    assert len(set(samples.groups)) == 6
    assert [len(rows) for rows in samples.step_rows()] == [4, 4, 4]
