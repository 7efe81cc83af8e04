"""Reward files are checked without samples too: by their code alone, and never with an exception."""

from pathlib import Path

import pytest

from workbench.checks.runner import run_checks

FIXTURES = Path(__file__).parents[3] / "fixtures"
FILES = [
    *sorted((FIXTURES / "zoo" / "rewards").glob("*.py"))[::16],
    *sorted((FIXTURES / "zoo_second" / "rewards").glob("*.py"))[::16],
    *sorted((FIXTURES / "zoo_third" / "rewards").glob("*.py"))[::16],
]
WITH_DOTS = {
    "compiled": """
import re
LAYOUT = re.compile(r"^<a>.*</a>$")
def tagged(completions, **kwargs):
    return [1.0 if LAYOUT.match(text) else 0.0 for text in completions]
""",
    "as in TRL's docs": """
import re
def format_reward(completions, **kwargs):
    pattern = r"^<think>.*</think><answer>.*</answer>$"
    return [1.0 if re.match(pattern, message[0]["content"]) else 0.0 for message in completions]
""",
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parts[-3]}-{file.stem}")
def test_a_reward_file_is_checked_without_samples(file):
    report = run_checks(str(file), None, quick=True)
    assert report.rewards
    assert any(item.check == "RW402" and "no samples" in item.why for item in report.skipped)


@pytest.mark.parametrize("source", WITH_DOTS.values(), ids=WITH_DOTS)
def test_a_pattern_with_a_dot_is_checked_without_samples(source, tmp_path):
    file = tmp_path / "rewards.py"
    file.write_text(source)
    report = run_checks(str(file), None)
    assert report.verdict == "pass"
    assert "RW906" in {code for code, _ in report.ran}
