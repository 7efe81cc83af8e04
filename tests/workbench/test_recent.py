"""Scores kept in memory between the runs of somebody who edits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import workbench.recent as recent_module
from rewards.contract import Batch
from workbench.recent import Recent
from workbench.samples import Samples, read_samples
from workbench.scoring import ScoreTable, score

FILE = """
import random

def counted(completions, **kwargs):
    return [float(len(text)) for text in completions]

def edited(completions, **kwargs):
    return [1.0 for text in completions]

def drawn(completions, **kwargs):
    return [random.random() for text in completions]

def strict(completions, **kwargs):
    return [float(text) for text in completions]

def loud(completions, **kwargs):
    print("scoring")
    return [0.5 for text in completions]
"""
NAMES = ("counted", "edited", "drawn", "strict", "loud")


@pytest.fixture
def samples(tmp_path: Path) -> Samples:
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(f'{{"prompt": "p", "completion": "{text}"}}\n' for text in ("1", "22", "x")))
    return read_samples([path])


def lay_out(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "rewards.py").write_text(text)
    tables = "".join(f'[[reward]]\nfunction = "rewards.py::{name}"\n' for name in NAMES)
    (folder / "rewardset.toml").write_text(tables)
    return folder


def both(folder: Path, text: str, samples: Samples, batch: Batch, recent: Recent) -> ScoreTable:
    """The table with what is kept, in a folder of its own as the app lays them out; equal to the one without."""
    target = lay_out(folder, text)
    found = score(target, samples, batch=batch, cache=recent)
    fresh = score(target, samples)
    same = [name != "drawn" for name in NAMES]
    assert np.array_equal(found.scores[:, same], fresh.scores[:, same], equal_nan=True)
    assert (found.status == fresh.status).all()
    assert found.errors == fresh.errors
    assert found.printed == fresh.printed
    return found


def test_only_what_changed_and_may_be_kept_is_called_again(tmp_path: Path, samples: Samples) -> None:
    recent, batch = Recent(), samples.batch()
    first = both(tmp_path / "one", FILE, samples, batch, recent)
    again = both(tmp_path / "two", FILE.replace("return [1.0", "return [2.0"), samples, batch, recent)
    assert first.reused == dict.fromkeys(NAMES, 0)
    assert again.reused == {"counted": 3, "edited": 0, "drawn": 0, "strict": 0, "loud": 0}
    assert again.seconds["counted"] == first.seconds["counted"]  # what it costs is still told
    back = both(tmp_path / "three", FILE, samples, batch, recent)
    assert (back.reused["counted"], back.reused["edited"]) == (3, 3)
    assert (back.scores[:, 2] != again.scores[:, 2]).any()  # random numbers are drawn anew


def test_other_rows_are_scored_anew(tmp_path: Path, samples: Samples) -> None:
    recent = Recent()
    target = lay_out(tmp_path / "one", FILE)
    first, second = samples.batch(), samples.batch()
    score(target, samples, batch=first, cache=recent)
    assert score(target, samples, batch=first, cache=recent).reused["counted"] == 3
    assert score(target, samples, batch=second, cache=recent).reused["counted"] == 0


def test_a_helper_that_changed_counts_as_a_change(tmp_path: Path, samples: Samples) -> None:
    recent, batch = Recent(), samples.batch()
    target = lay_out(tmp_path / "one", FILE.replace("float(len(text))", "float(size(text))") + HELPER)
    score(target, samples, batch=batch, cache=recent)
    other = (target / "rewards.py").read_text().replace("len(text) * 1", "len(text) * 3")
    (target / "rewards.py").write_text(other)
    found = score(target, samples, batch=batch, cache=recent)
    assert found.reused["counted"] == 0
    assert found.scores[:, 0].tolist() == [3.0, 6.0, 3.0]


HELPER = "\ndef size(text):\n    return len(text) * 1\n"


def test_no_more_is_kept_than_the_last_ones(
    tmp_path: Path, samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent_module, "MOST", 4)
    recent, batch = Recent(), samples.batch()
    target = lay_out(tmp_path / "one", FILE)
    for number in range(3):
        text = FILE.replace("float(len(text))", f"float(len(text) + {number})").replace(
            "[1.0", f"[{number}.5"
        )
        (target / "rewards.py").write_text(text)
        score(target, samples, batch=batch, cache=recent, only=["counted", "edited"])
    assert len(recent._kept) == 4


def test_more_rewards_than_are_kept_are_scored_all_the_same(
    tmp_path: Path, samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent_module, "MOST", 1)
    recent, batch = Recent(), samples.batch()
    target = lay_out(tmp_path / "one", FILE)
    only = ["counted", "edited"]
    score(target, samples, batch=batch, cache=recent, only=only)
    found = score(target, samples, batch=batch, cache=recent, only=only)
    assert found.reused == {"counted": 0, "edited": 3}
    assert found.scores.tolist() == [[1.0, 1.0], [2.0, 1.0], [1.0, 1.0]]
