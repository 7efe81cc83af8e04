"""A reward of another system goes the whole way: score, explain, check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rewards.running import Runner
from workbench.checks.runner import run_checks
from workbench.explanation import explain
from workbench.samples import read_samples
from workbench.scoring import score

VERL = """
import re


def _number(text):
    found = re.search(r"#### (\\S+)", text)
    return found.group(1) if found else None


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    score = 0.0
    if "####" in solution_str:
        score += 0.1
    if _number(solution_str) == ground_truth:
        score += 0.9
    return {"score": score, "acc": score > 0.5}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "verl.py").write_text(VERL)
    rows = [
        {"prompt": f"{n} + 1", "completion": f"so #### {n + d}", "ground_truth": str(n + 1)}
        | {"label": label}
        for n in range(4)
        for d, label in ((1, "right"), (2, "wrong"))
    ]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_a_verl_function_is_scored_explained_and_checked(place: Path) -> None:
    samples = read_samples([place / "samples.jsonl"])
    with Runner() as runner:
        table = score(place / "verl.py", samples, runner=runner)
        assert table.scores[:, 0].tolist() == pytest.approx([1.0, 0.1] * 4)
        [row] = explain(place / "verl.py", samples, [0], runner=runner)
        report = run_checks(str(place / "verl.py"), samples, runner=runner, select=["RW1", "RW2"])
    [found] = row.rewards
    assert [(credit.points, credit.line) for credit in found.credits] == [
        (pytest.approx(0.1), 13),
        (pytest.approx(0.9), 15),
    ]
    assert found.score == pytest.approx(1.0)
    assert [one.check for one in report.all_findings if one.at_least("warning")] == []
