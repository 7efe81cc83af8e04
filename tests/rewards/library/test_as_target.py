"""The library as a user names it: as a target, and in a manifest with parameters."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import rewards.library
from rewards.contract import Batch, call
from rewards.rewardset import RewardSet
from rewards.seal import SealedSamples, read_seal, seal_of, verify, write_seal

MANIFEST = """
[[reward]]
function = "rewards.library:numeric"
params = { relative_tolerance = 0.01 }
[[reward]]
function = "rewards.library:incremental_format"
name = "layout"
weight = 1.0
params = { tag_names = ["think", "answer"] }
"""


@pytest.fixture
def loaded(tmp_path: Path) -> RewardSet:
    (tmp_path / "rewardset.toml").write_text(MANIFEST)
    return RewardSet.load(tmp_path)


@pytest.mark.parametrize("name", rewards.library.__all__)
def test_each_member_is_a_target_with_its_own_declaration(name: str) -> None:
    (entry,) = RewardSet.load(f"rewards.library:{name}").entries
    assert entry.name == name
    assert entry.kind in ("correctness", "format", "length", "style", "diversity")
    assert entry.range is not None


def test_a_manifest_binds_parameters_and_wins_over_the_mark(loaded: RewardSet) -> None:
    text = "<think>99 or so</think><answer>99</answer>"
    batch = Batch(["q"], [text], [[]], {"answer": ["100"]}, ["q"])
    assert loaded.names == ["numeric", "layout"]
    assert loaded.weights == [2.0, 1.0]
    for entry, function in zip(loaded.entries, loaded.functions, strict=True):
        assert call(function, batch, params=entry.params).scores.tolist() == [1.0]


def test_a_set_of_members_can_be_sealed(loaded: RewardSet) -> None:
    seal = seal_of(loaded.describe(), SealedSamples("ab", 4, 1, right=2, wrong=2), created="2026-01-01")
    write_seal(loaded.seal_path, seal)
    assert verify(read_seal(loaded.seal_path), loaded.describe()) == []


def test_the_seal_covers_the_members_own_code_from_any_folder(loaded: RewardSet) -> None:
    numeric, layout = loaded.describe().rewards
    assert {"rewards/library/numeric.py", "rewards/library/extraction.py"} <= set(numeric.code)
    assert numeric.file is not None
    assert numeric.file.endswith("rewards/library/numeric.py")
    assert layout.file is not None
    assert layout.file.endswith("rewards/library/incremental.py")


def test_describing_a_member_reads_no_syntax_trees(loaded: RewardSet) -> None:
    start = time.process_time()
    loaded.describe()
    assert time.process_time() - start < 0.2
