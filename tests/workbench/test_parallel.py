"""The number of processes never changes a score."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from workbench.samples import Samples, read_samples
from workbench.scoring import score

FILE = """
import os, time
from rewards.marks import reward

@reward(scope="row")
def own_row(completions, log_extra, log_metric, **_):
    log_extra("process", [os.getpid()] * len(completions))
    log_metric("rows", float(len(completions)))
    time.sleep(0.02)
    if "77" in completions:
        raise ValueError("no")
    return [float(text) for text in completions]

def whole_call(completions, **_):
    time.sleep(0.1)
    return [float(len(completions))] * len(completions)

@reward(scope="group")
def of_groups(completions, **_):
    return [float(len(completions))] * len(completions)
"""


@pytest.fixture
def samples(tmp_path: Path) -> Samples:
    (tmp_path / "rewards.py").write_text(FILE)
    rows = [{"prompt": f"p{row // 4}", "completion": str(row)} for row in range(400)]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_samples([tmp_path / "s.jsonl"])


@pytest.mark.parametrize("jobs", [2, 3])
def test_scores_errors_and_order_are_those_of_one_process(
    tmp_path: Path, samples: Samples, jobs: int
) -> None:
    one, many = (score(tmp_path / "rewards.py", samples, jobs=count) for count in (1, jobs))
    assert np.array_equal(one.scores, many.scores, equal_nan=True)
    assert np.array_equal(one.status, many.status)
    assert one.errors == many.errors
    assert list(one.errors) == [(77, "own_row")]
    assert one.scores[:, 1:].tolist() == [[400.0, 400.0]] * 400


def test_only_a_reward_that_declares_rows_is_split(tmp_path: Path, samples: Samples) -> None:
    table = score(tmp_path / "rewards.py", samples, jobs=2)
    assert len({process for process in table.extra["process"] if process is not None}) == 2


KEEPS = """
seen = []

def first(completions, **_):
    seen.extend(completions)
    return [1.0] * len(completions)

def second(completions, **_):
    return [float(len(seen))] * len(completions)

def third(completions, **_):
    return [float(len(completions))] * len(completions)
"""


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_rewards_keep_together_is_the_same(tmp_path: Path, samples: Samples, jobs: int) -> None:
    (tmp_path / "keeps.py").write_text(KEEPS)
    rows = [{"prompt": "p", "completion": str(row), "step": row // 100} for row in range(400)]
    (tmp_path / "steps.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = score(tmp_path / "keeps.py", read_samples([tmp_path / "steps.jsonl"]), jobs=jobs)
    assert set(table.scores[:, 1]) == {400.0}


SLEEPS = """
import time
from rewards.marks import reward

@reward(scope="row")
def sleeps(completions, **_):
    time.sleep(0.1 * len(completions))
    return [1.0] * len(completions)
"""


def test_an_interrupt_ends_the_helpers_too(tmp_path: Path, samples: Samples) -> None:
    (tmp_path / "sleeps.py").write_text(SLEEPS)

    def interrupt(name: str, done: int, total: int) -> None:
        if done:
            ended.append(total - done)
            raise KeyboardInterrupt

    ended: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        score(tmp_path / "sleeps.py", samples, jobs=2, progress=interrupt)
    assert len(ended) <= 2
    assert ended[0] > 4


def test_progress_ends_with_everything_done(tmp_path: Path, samples: Samples) -> None:
    told: list[tuple[str, int, int]] = []
    score(tmp_path / "rewards.py", samples, jobs=2, progress=lambda *report: told.append(report))
    last = {name: (done, total) for name, done, total in told}
    assert all(done == total for done, total in last.values())
    assert set(last) == {"own_row", "whole_call", "of_groups"}
