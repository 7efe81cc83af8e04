import json
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.cli.pre_commit import defines_rewards, targets_of

REWARD = (
    "import words\ndef neat(completions, **kwargs):\n    return [float(words.few(c)) for c in completions]\n"
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    project = tmp_path / "sums"
    project.mkdir()
    (project / "rewards.py").write_text(REWARD)
    (project / "words.py").write_text("def few(text):\n    return len(text) < 9\n")
    (project / "s.jsonl").write_text(json.dumps({"prompt": "p", "completion": "c"}) + "\n")
    (project / "rewardset.toml").write_text(
        '[set]\nsamples = "s.jsonl"\n[[reward]]\nfunction = "rewards.py::neat"\n'
    )
    (project / "tool.py").write_text("raise RuntimeError('never run')\n")
    (tmp_path / "alone.py").write_text(
        "def one(completions, **kwargs):\n    return [1.0 / len(c) for c in completions]\n"
    )
    return tmp_path


def test_a_set_is_checked_once_for_its_code_its_helpers_and_its_samples(repository):
    project = repository / "sums"
    changed = [project / name for name in ("rewards.py", "words.py", "s.jsonl", "rewardset.toml")]
    assert targets_of(changed, repository) == [project / "rewardset.toml"]


def test_a_reward_file_of_no_set_is_checked_and_others_are_left_alone(repository):
    changed = [repository / "alone.py", repository / "sums" / "tool.py"]
    assert targets_of(changed, repository) == [repository / "alone.py"]


def test_a_manifest_above_the_repository_is_not_looked_for(repository):
    inner = repository / "sums" / "inner"
    inner.mkdir()
    (inner / "other.py").write_text(REWARD)
    assert targets_of([inner / "other.py"], inner) == [inner / "other.py"]


def test_a_broken_manifest_is_checked_so_that_it_is_told(repository):
    (repository / "sums" / "rewardset.toml").write_text("[set\n")
    assert targets_of([repository / "sums" / "rewards.py"], repository) == [
        repository / "sums" / "rewardset.toml"
    ]


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("def a(completions, **k): ...", True),
        ("async def a(*, completions): ...", True),
        ("def _a(completions): ...", False),
        ("class A:\n    def __call__(self, completions): ...", False),
        ("def a(", False),
    ],
)
def test_rewards_are_read_off_the_text(tmp_path, source, answer):
    (tmp_path / "f.py").write_text(source)
    assert defines_rewards(tmp_path / "f.py") is answer


def test_the_hook_ends_with_the_worst_code(repository):
    command = [sys.executable, "-P", "-m", "workbench.cli.pre_commit"]
    fine = subprocess.run(
        [*command, "sums/tool.py"], cwd=repository, capture_output=True, text=True, check=False
    )
    assert (fine.returncode, fine.stdout) == (0, "")
    (repository / "sums" / "words.py").write_text("def few(text:\n")
    broken = subprocess.run(
        [*command, "sums/words.py"], cwd=repository, capture_output=True, text=True, check=False
    )
    assert broken.returncode == 3
    assert "SyntaxError" in broken.stderr
