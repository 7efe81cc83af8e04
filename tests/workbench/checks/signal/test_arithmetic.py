"""RW611 to RW614: what the trainer's arithmetic makes of the totals."""

import pytest

from tests.workbench.checks.signal.columns import VALUE, grouped, members


@pytest.mark.guide("G1")
def test_prompts_that_hardly_teach_are_a_warning_with_an_interval(check):
    rows = grouped([[0.0] * 8] * 30 + [[0.0] * 7 + [1.0]])
    assert [finding.severity for finding in check(VALUE, "RW611", rows=rows)] == ["info"]
    [finding] = check(VALUE, "RW611", rows=rows, declare="weight = 1.0")
    assert finding.severity == "warning"
    assert "At 8 completions a prompt 3% of the prompts are expected to teach anything" in finding.message
    assert "31 prompts" in finding.message


def test_smaller_samples_than_planned_are_named(check):
    rows = grouped([[0.0] * 4] * 30 + [[0.0] * 3 + [1.0]] * 4)
    [finding] = check(VALUE, "RW611", rows=rows)
    assert "At 4 completions a prompt (planned are 8, the samples have fewer) 12%" in finding.message


def test_prompts_that_teach_are_left_alone(check):
    assert check(VALUE, "RW611", rows=grouped([[0.0] * 4 + [1.0] * 4] * 10)) == []


def test_total_that_goes_with_the_length_is_information_with_a_slope(check):
    texts = ["so " * count for count in (1, 4, 9, 16, 30)]
    rows = grouped([[float(len(text)) for text in texts]] * 12, texts=texts)
    [finding] = check(VALUE, "RW612", rows=rows)
    assert finding.severity == "info"
    assert (
        "higher for longer completions: its correlation with the length inside groups is 1.00"
        in finding.message
    )
    assert "+1e+02 for each hundred characters" in finding.message


def test_length_that_labels_explain_is_no_bias(check):
    rows = grouped([[1.0, 1.0, 0.0, 0.0]] * 16, texts=["so " * 30, "so " * 40, "no", "no no"])
    for row in rows:
        row["label"] = "right" if row["value"] else "wrong"
    assert check(VALUE, "RW612", rows=rows) == []


def test_reward_that_is_about_length_is_left_alone(check):
    texts = ["so " * count for count in (1, 4, 9, 16, 30)]
    rows = grouped([[float(len(text)) for text in texts]] * 12, texts=texts)
    assert check(VALUE, "RW612", rows=rows, declare='kind = "length"') == []


def test_differences_that_the_epsilon_takes_are_a_warning(check):
    [finding] = check(VALUE, "RW613", rows=grouped([[0.9999, 0.99992, 0.99995]] * 10))
    assert finding.severity == "warning"
    assert "In 10 of 10 groups the totals differ by less than 0.001" in finding.message
    assert "TRL's 0.0001 takes 80% of the advantage" in finding.message


def test_large_totals_without_scaling_are_a_warning(check, project, samples, runner):
    from workbench.checks.runner import run_checks

    target = project(VALUE, declare="weight = 1.0")
    with open(f"{target}/rewardset.toml", "a") as file:
        file.write('[set]\nscale_rewards = "none"\n')
    report = run_checks(target, samples(grouped([[0.0, 100.0]] * 6)), select=["RW613"], runner=runner)
    [finding] = report.all_findings
    assert "the advantages are the differences themselves: 70.71 on average" in finding.message
    assert check(VALUE, "RW613", rows=grouped([[0.0, 100.0]] * 6)) == []


def test_scores_that_float32_cannot_tell_apart_are_a_warning_with_the_pair(check):
    [finding] = check(VALUE, "RW614", rows=grouped([[1e8, 1e8 + 1.0, 5.0]]))
    assert finding.severity == "warning"
    assert (
        "100000000.0 and 100000001.0, which are one number in the trainer's float32: 100000000.0"
        in finding.message
    )


def test_sum_that_loses_a_small_member_is_told_of_the_total(check):
    rows = grouped([[[1e8, 0.0], [1e8, 1.0]]], "one_value", "other_value")
    [finding] = check(members(one=1.0, other=1.0), "RW614", rows=rows)
    assert finding.reward is None
    assert "The total gives two completions" in finding.message


def test_noise_of_a_sum_is_no_lost_difference(check):
    assert check(VALUE, "RW614", rows=grouped([[100.1, 100.1 + 1e-9, 0.3]])) == []


def test_normalised_rewards_teach_where_their_normalised_sum_differs(check):
    tied = [(float(place), 2.0 - 2.0 * place) for place in (0, 1, 0, 1)]  # every total is 2
    rows = grouped([tied] * 9 + [[(0.0, 0.0), (1.0, 0.0)] * 2], "one_value", "two_value")
    options = {"rows": rows, "declare": "timeout_s = 5.0", "names": "one two"}
    source = members(one=2.0, two=1.0)
    assert [finding.check for finding in check(source, "RW611", check="seed = 0", **options)] == ["RW611"]
    mode = '[set]\naggregation = "normalize_then_sum"'
    assert check(source, "RW611", check=mode, **options) == []
