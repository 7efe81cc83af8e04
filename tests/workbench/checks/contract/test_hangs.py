import pytest

from workbench.checks import subject
from workbench.checks.contract.hangs import Hangs
from workbench.checks.subject import RewardSubject

HANGS = """
import time
def reward(completions, **kwargs):
    for c in completions:
        while "know" in c[-1]["content"]:
            time.sleep(0.01)
    return [float(len(c[-1]["content"])) for c in completions]
"""


def test_hanging_completion_is_named_and_the_other_checks_still_run(report_of):
    report = report_of(HANGS, "RW110 RW111 RW104", declare="timeout_s = 0.3")
    [finding] = report.all_findings
    assert finding.check == "RW111"
    assert finding.message.startswith("reward does not return within 0.3 s on 2 samples")
    assert finding.evidence.completion[0]["content"] == "I do not know."
    assert finding.count == 2
    assert [code for code, _ in report.ran] == ["RW104", "RW110", "RW111"]


def test_hang_on_an_odd_completion_is_found(check):
    source = HANGS.replace('"know" in c[-1]["content"]', 'not c[-1]["content"]')
    [finding] = check(source, "RW111", declare="timeout_s = 0.3")
    assert "on an empty completion" in finding.message


@pytest.fixture
def hasty(monkeypatch):
    """All patience is a second and a half, a glance a fifth of a second."""
    monkeypatch.setattr(RewardSubject, "patience_s", 1.5)
    monkeypatch.setattr(subject, "GLANCE_S", 0.2)


def test_samples_that_hang_are_not_all_waited_for(report_of, hasty, monkeypatch):
    asked = []
    ask = subject.RewardSubject._pace

    def noted(self, rows, patience_s):
        asked.append((len(rows), patience_s))
        return ask(self, rows, patience_s)

    monkeypatch.setattr(RewardSubject, "_pace", noted)
    report = report_of(HANGS, "RW104 RW111 RW704")
    [finding] = report.all_findings
    assert "within 1.5 s on a sample; the trainer" in finding.message
    assert finding.message.endswith("On 1 more it does not within 0.8 s.")
    assert finding.count == 1
    assert asked.count((1, 1.5)) == 1  # the shortest has all patience, the others a glance
    assert [item.why for item in report.skipped if item.check == "RW704"] == [
        "could not be run: it hangs on samples (RW111), which has to be mended before changes are tried"
    ]


def test_reward_that_never_returns_is_waited_for_once(report_of, hasty, monkeypatch):
    monkeypatch.setattr(subject, "FIRST_LOOK_S", 0.3)
    report = report_of(HANGS.replace('while "know" in c[-1]["content"]', "while True"), "RW104 RW111")
    [finding] = report.all_findings
    assert finding.count == 1
    assert finding.message.endswith("On 3 more it does not within 0.8 s.")


def test_samples_that_take_longer_than_a_glance_keep_their_scores(report_of, hasty):
    slow = HANGS.replace("while", "if").replace("0.01", "0.5")
    report = report_of(slow, "RW111 RW601 RW104")
    assert [f.check for f in report.all_findings] == []


MIXED = """
import time
def reward(completions, prompts, **kwargs):
    for prompt, c in zip(prompts, completions):
        second = "3 times" in prompt[-1]["content"]
        while "know" in c[-1]["content"] and (BOTH or not second):
            time.sleep(0.01)
        if second:
            time.sleep(0.3)
    return [float(len(c[-1]["content"])) for c in completions]
"""
"""Hangs on one sample, or on two; the others of the second prompt are slower than a glance."""


@pytest.mark.parametrize(
    ("both", "kept", "end"),
    [
        pytest.param(False, 7, "ever.", marks=pytest.mark.slow),
        (True, 6, "On 1 more it does not within 1.2 s."),
    ],
)
def test_samples_that_are_only_slow_beside_one_that_hangs_are_scored_and_not_counted(
    report_of, hasty, monkeypatch, both, kept, end
):
    monkeypatch.setattr(subject, "LOOKS", 6)
    seen, run = [], Hangs.run
    monkeypatch.setattr(Hangs, "run", lambda self, of: [*run(self, of), *(seen.append(of) or ())])
    [finding] = report_of(MIXED.replace("BOTH", str(both)), "RW111").all_findings
    assert (finding.count, finding.message.endswith(end)) == (1, True)
    [of] = seen
    assert (of.stuck, len(of.usable)) == ([2], kept)
    assert all(of.scores[row] == len(of.text(row)) for row in of.usable)


def test_samples_that_had_all_patience_when_looked_at_again_are_counted(report_of, hasty, monkeypatch):
    monkeypatch.setattr(subject, "LOOKS", 100)
    [finding] = report_of(HANGS, "RW111").all_findings
    assert (finding.count, finding.message.endswith("for ever.")) == (2, True)


def test_reward_that_returns_is_left_alone(check, healthy):
    assert check(healthy, "RW111") == []


FORMULA = """
import re
def reward(completions, **kwargs):
    said = [c[-1]["content"].partition(">")[2].partition("<")[0] for c in completions]
    return [float(bool(re.fullmatch("[0-9+*() -]+", s)) and READ == 98) for s in said]
"""


@pytest.mark.parametrize(
    ("read", "found"),
    [("eval(s)", True), ("sum(int(n) for n in s.split('+') if n.strip().isdigit())", False)],
)
def test_formula_whose_numbers_are_piled_up_to_powers_never_comes_back_from_eval(check, read, found):
    rows = [
        {
            "prompt": [{"role": "user", "content": "Make 98 of 44, 19 and 35."}],
            "completion": [{"role": "assistant", "content": f"<answer>{said}</answer>"}],
        }
        for said in ("44 + 19 + 35", "19 + 35")
    ]
    findings = check(FORMULA.replace("READ", read), "RW111", rows=rows, declare="timeout_s = 0.5")
    assert ["a tower of powers" in f.message for f in findings] == [True] * found
