"""RW606 to RW610 and RW615: members of a set against each other."""

from pathlib import Path

import pytest

from rewards.running import Runner
from tests.workbench.checks.signal.columns import grouped, members
from workbench.checks.runner import run_checks
from workbench.samples import read_samples

WIDE = [[[0.0, 1.0], [1.0, 9.0], [0.0, 5.0], [1.0, 2.0]]] * 10
CORRECT = '[[reward]]\nfunction = "rewards.py::right"\nkind = "correctness"\n'
EFFORT = """
def right(completions, answer, **kwargs):
    return [float(c.rpartition("=")[2].strip() == a) for c, a in zip(completions, answer)]

def effort(completions, **kwargs):
    return [min(1.0, len(c.split()) / 100) for c in completions]
"""
SUMS = [
    {"prompt": f"{n} + 1", "completion": text, "answer": str(n + 1), "label": label}
    for n in (2, 5, 8)
    for text, label in ((f"x = {n + 1}", "right"), (f"x = {n}", "wrong"), (f"well = {n - 1}", "wrong"))
]


def test_lesser_member_that_makes_nearly_all_differences_is_told(check):
    [finding] = check(members(one=1.0, other=2.0), "RW606", rows=grouped(WIDE, "one_value", "other_value"))
    assert (finding.reward, finding.severity) == ("other", "info")
    assert "other makes 93% of the differences within groups" in finding.message


def test_lesser_member_that_drowns_a_declared_correctness_is_a_warning(check):
    source = members(one=1.0, other=2.0).replace("@mark(weight=1.0)", "@mark(weight=1.0, kind='correctness')")
    [finding] = check(source, "RW606", rows=grouped(WIDE, "one_value", "other_value"))
    assert finding.severity == "warning"
    assert "and one 7%" in finding.message


def test_member_that_hardly_counts_is_told(check):
    rows = grouped([[[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]] * 10, "one_value", "two_value", "other_value")
    [finding] = check(members(one=1.0, two=1.0, other=0.001), "RW606", rows=rows)
    assert (finding.reward, finding.severity) == ("other", "info")
    assert "other hardly counts" in finding.message


def test_few_groups_do_not_make_a_member_loud(check):
    assert (
        check(members(one=1.0, other=2.0), "RW606", rows=grouped(WIDE[:3], "one_value", "other_value")) == []
    )


@pytest.mark.guide("G8")
def test_two_members_that_measure_the_same_are_a_warning(check, healthy):
    copy = healthy.replace("def correct", "def numeric").partition("def numeric")[2]
    source = healthy + "def numeric" + copy.replace("1.0 if", "0.5 if")
    [finding] = check(source, "RW607")
    assert finding.severity == "warning"
    assert finding.reward is None
    assert (
        "correct and numeric measure the same: their correlation inside groups is 1.00 on 8 samples"
        in finding.message
    )


def test_members_that_agree_on_few_samples_alone_are_left_alone(check, healthy):
    source = (
        healthy
        + "\ndef layout(completions, **kwargs):\n    return [float('I do' not in _text(c)) for c in completions]\n"
    )
    rows = None
    assert check(source, "RW607 RW608", rows=rows) == []


def test_members_that_undo_each_other_but_for_a_little_are_told(check):
    source = """
def more(completions, **kwargs): return [min(1.0, len(c) / 60) for c in completions]
def less(completions, **kwargs): return [1.0 - min(1.0, len(c) / 66) for c in completions]
"""
    texts = ["a", "so it is", "so it is then and now", "so it goes on and on for a while"]
    rows = grouped([[0.0] * 4] * 4, texts=texts)
    [finding] = check(source, "RW608", rows=rows)
    assert finding.severity == "warning"
    assert "more and less take from each other what they give" in finding.message


def test_wrong_completion_that_outranks_a_right_one_in_a_group_is_an_error(check):
    rows = [*SUMS, {**SUMS[1], "completion": "so " * 200 + "= 2"}]
    source = EFFORT.replace("/ 100)", "/ 100) * 3").replace("min(1.0,", "min(3.0,")
    [finding] = check(source, "RW609 RW701", rows=rows)
    assert (finding.check, finding.severity) == ("RW609", "error")
    assert "that right calls wrong totals 6" in finding.message
    assert "effort outweighs it. The margin is -4.97" in finding.message
    assert finding.evidence.got["right"] == 0.0


@pytest.mark.guide("G4")
def test_made_up_wrong_completion_that_would_outrank_a_right_one_is_a_warning(check):
    source = EFFORT.replace("min(1.0,", "min(2.0,")
    [finding] = check(source, "RW609", rows=SUMS)
    assert finding.severity == "warning"
    assert "A made-up completion that right calls wrong" in finding.message
    assert finding.evidence.completion.count(" ") > 100


def test_lesser_member_of_small_weight_is_left_alone(check):
    assert check(EFFORT.replace("min(1.0,", "0.5 * min(1.0,"), "RW609", rows=SUMS) == []


@pytest.mark.parametrize(("weight", "found"), [(5.0, True), (0.5, False)])
def test_layout_that_weighs_a_multiple_of_correctness_is_told(check, weight, found):
    source = f"""
from rewards import reward

def right(completions, answer, **kwargs):
    return [float(c.startswith("x") and c.rpartition("=")[2].strip() == a) for c, a in zip(completions, answer)]

@reward(weight={weight})
def layout(completions, **kwargs):
    return [float(c.startswith(("x = ", "well = "))) for c in completions]
"""
    said = [("x = {}", 1, "right"), ("well = {}", 1, "right"), ("well = {}", 0, "wrong"), ("{}", 0, "wrong")]
    made = [
        {"prompt": f"{n} + 1", "completion": text.format(n + add), "answer": str(n + 1), "label": label}
        for n in (2, 5, 8)
        for text, add, label in said
    ]
    findings = check(source, "RW609", rows=made)
    assert [f.severity for f in findings] == ["warning"] * found
    if found:
        assert findings[0].message.startswith("layout weighs 5 times as much as right")


def test_without_labels_or_declaration_no_member_is_taken_for_correctness(check):
    source = EFFORT.replace("min(1.0,", "min(2.0,")
    assert check(source, "RW609", rows=[{k: v for k, v in row.items() if k != "label"} for row in SUMS]) == []


def test_modes_that_rank_differently_are_information_with_a_pair(check):
    rows = grouped([[[1.0, 0.0], [0.9, 0.02], [0.0, 0.01], [0.95, 0.0]]] * 8, "one_value", "other_value")
    [finding] = check(members(one=1.0, other=1.0), "RW610", rows=rows)
    assert finding.severity == "info"
    assert "Under normalize_then_sum" in finding.message
    assert "against sum_then_normalize" in finding.message


def test_modes_that_agree_are_left_alone(check):
    rows = grouped([[[1.0, 1.0], [0.0, 0.0], [0.5, 0.5]]] * 8, "one_value", "other_value")
    assert check(members(one=1.0, other=1.0), "RW610", rows=rows) == []


@pytest.mark.guide("G8")
def test_project_with_one_reward_is_told_so_and_a_file_is_not(check, healthy):
    source = healthy.replace("def correct", "def reward")
    [finding] = check(source, "RW615", declare="weight = 1.0")
    assert finding.severity == "info"
    assert "reward is the only reward" in finding.message


def test_file_with_one_reward_is_left_alone(check, healthy):
    assert check(healthy, "RW615") == []


def test_set_that_never_looks_at_a_ground_truth_is_told_so(check):
    source = "def a(completions, **kwargs): return [float(len(c)) for c in completions]\n"
    [finding] = check(source + source.replace("def a", "def b"), "RW615")
    assert "None of the 2 rewards reads a ground truth or the prompt (columns: answer)" in finding.message


def test_real_groups_of_a_sound_set_raise_no_alarm(runner: Runner):
    folder = Path(__file__).resolve().parents[4] / "fixtures" / "gsm8k"
    report = run_checks(str(folder), read_samples([folder / "samples.jsonl"]), select=["RW6"], runner=runner)
    assert [finding for finding in report.all_findings if finding.at_least("warning")] == []
