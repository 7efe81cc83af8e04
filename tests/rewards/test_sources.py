"""Knowing an unchanged set without loading it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewards.errors import TargetError
from rewards.rewardset import RewardSet
from rewards.sources import source_digest
from rewards.targets import parse_target

FILE = """
import os
import helper
os.environ['RAN'] = '1'

def f(completions, **_):
    return helper.g(completions)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "rewards.py").write_text(FILE)
    (tmp_path / "sub" / "helper.py").write_text("def g(completions):\n    return [1.0] * len(completions)\n")
    (tmp_path / "rewardset.toml").write_text(
        '[[reward]]\nfunction = "sub/rewards.py::f"\n[train]\nbeta = 0.1\n'
    )
    return tmp_path


def digest_of(path: Path) -> str:
    return source_digest(parse_target(path))


def test_nothing_is_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.delenv("RAN", raising=False)
    assert digest_of(project) == digest_of(project)
    assert "RAN" not in os.environ


@pytest.mark.parametrize(
    ("file", "old", "new", "same"),
    [
        ("sub/rewards.py", "import os\n", "import os  # a comment\n\n", True),
        ("sub/rewards.py", "helper.g(completions)", "helper.g(completions[:])", False),
        ("sub/helper.py", "[1.0]", "[0.5]", False),
        ("rewardset.toml", "beta = 0.1", "beta = 0.2", True),
        ("rewardset.toml", '::f"', '::f"\nweight = 2.0', False),
        ("rewardset.toml", "[train]", '[set]\nscale_rewards = "none"\n[train]', False),
        ("rewardset.toml", "[train]", '[set]\nread_as = "text"\n[train]', False),
        ("rewardset.toml", '::f"', '::f"\ntimeout_s = 9.0', False),
    ],
)
def test_what_a_seal_covers_changes_the_digest(
    project: Path, file: str, old: str, new: str, same: bool
) -> None:
    before, sealed = digest_of(project), RewardSet.load(project).fingerprint
    text = (project / file).read_text()
    assert old in text
    (project / file).write_text(text.replace(old, new))
    assert (digest_of(project) == before) is same
    assert (RewardSet.load(project).fingerprint == sealed) is same


def test_our_own_library_counts_as_code_and_missing_things_are_told(project: Path) -> None:
    (project / "rewardset.toml").write_text('[[reward]]\nfunction = "rewards.library:exact_match"\n')
    assert digest_of(project)
    (project / "rewardset.toml").write_text('[[reward]]\nfunction = "nowhere_at_all.mod:f"\n')
    with pytest.raises(TargetError, match="no module 'nowhere_at_all"):
        digest_of(project)


def test_a_file_called_rewards_beside_the_manifest_is_not_our_library(project: Path) -> None:
    (project / "rewards.py").write_text(
        "def f(completions, **kwargs):\n    return [1.0 for _ in completions]\n"
    )
    manifest = (
        '[[reward]]\nfunction = "rewards.py::f"\n[[reward]]\nfunction = "rewards.library:exact_match"\n'
    )
    (project / "rewardset.toml").write_text(manifest)
    assert digest_of(project)
    assert RewardSet.load(project).names == ["f", "exact_match"]
