import json

import pytest

from workbench.checks.paid import NOT_RECORDED, Recording
from workbench.checks.runner import run_checks

JUDGE = """
import os, pathlib

def reward(completions, answer, **kwargs):
    with open(pathlib.Path(__file__).with_name("calls"), "a") as file:
        file.write("x" * len(completions))
    return [float(f"<answer>{a}</answer>" in c[-1]["content"]) for c, a in zip(completions, answer)]
"""
PAID = 'cost = "paid"\ndeterministic = false'


@pytest.fixture
def judged(project, samples, runner, tmp_path):
    """A run over the sums with a paid reward; gives the report, the questions asked, and how many calls were made."""
    target, rows = project(JUDGE, declare=PAID), samples()

    def run(answer: bool | None, select: str = "RW1 RW2 RW3 RW6"):
        asked = []

        def pay(reward: str, calls: int, recorded: int) -> bool:
            asked.append((reward, calls, recorded))
            return bool(answer)

        report = run_checks(
            target, rows, select=select.split(), runner=runner, pay=None if answer is None else pay
        )
        file = tmp_path / "calls"
        return report, asked, len(file.read_text()) if file.exists() else 0

    return run


def test_paid_reward_is_never_called_without_a_word(judged):
    report, asked, calls = judged(None)
    assert (asked, calls) == ([], 0)
    [why] = {item.why for item in report.skipped if item.check == "RW601"}
    assert why == 'it is paid for (cost = "paid"), and 8 of its answers are not recorded: --pay asks for them'


def test_the_number_of_calls_is_told_before_any_is_made(judged):
    _, asked, calls = judged(False)
    assert (asked, calls) == ([("reward", 8, 0)], 0)


def test_each_sample_is_judged_once_and_replayed_from_then_on(judged, tmp_path):
    report, _, calls = judged(True)
    assert calls == 8
    assert "RW601" in dict(report.ran)
    again, asked, calls = judged(True)
    assert (asked, calls) == ([], 8)
    assert dict(again.ran) == dict(report.ran)
    assert len((tmp_path / ".workbench" / "paid-answers.jsonl").read_text().splitlines()) == 8
    assert "!paid-answers.jsonl" in (tmp_path / ".workbench" / ".gitignore").read_text()


def test_what_cannot_be_replayed_is_listed_with_the_reason(judged):
    report, _, _ = judged(True)
    skipped = {item.check: item.why for item in report.skipped}
    assert {skipped[code] for code in ("RW121", "RW201", "RW204")} == {NOT_RECORDED}
    assert not set(skipped) & {"RW104", "RW106", "RW601"}


def test_findings_come_from_the_recorded_answers(project, samples, runner):
    source = "def reward(completions, **kwargs): return [float('nan')] * len(completions)"
    report = run_checks(
        project(source, declare=PAID), samples(), select=["RW106"], runner=runner, pay=lambda *_: True
    )
    assert [finding.check for finding in report.all_findings] == ["RW106"]


def test_changed_code_needs_new_answers(judged, tmp_path):
    judged(True)
    (tmp_path / "rewards.py").write_text(JUDGE.replace("float(", "0.5 * float("))
    assert judged(False)[1] == [("reward", 8, 0)]


def test_recording_passes_over_a_line_that_was_cut_off(tmp_path):
    Recording(tmp_path).add([("k", "reward", 0.5, 0), ("n", "reward", float("nan"), 1)])
    file = tmp_path / ".workbench" / "paid-answers.jsonl"
    file.write_text(file.read_text() + '{"key": "z", "sco')
    kept = Recording(tmp_path)
    assert (kept.get("k"), kept.get("z")) == ((0.5, 0), None)
    assert json.loads(file.read_text().splitlines()[1])["score"] is None
