import pytest

CANCELS = """
def more(completions, **kwargs):
    return [min(1.0, len(c[-1]["content"]) / 50) for c in completions]

def less(completions, **kwargs):
    return [1.0 - min(1.0, len(c[-1]["content"]) / 50) for c in completions]
"""


def grouped(scores: list[list[float]]) -> list[dict[str, object]]:
    return [
        {"prompt": f"prompt {group}", "completion": f"text {place}", "value": value}
        for group, values in enumerate(scores)
        for place, value in enumerate(values)
    ]


VALUE = "def reward(completions, value, **kwargs): return list(value)"


def test_members_that_cancel_each_other_are_named(check):
    [finding] = check(CANCELS, "RW602")
    assert finding.severity == "error"
    assert finding.reward is None
    assert "In 2 of 2 groups every completion has the same total" in finding.message
    assert "more and less differ, but take from each other what they give" in finding.message


def test_weights_of_the_set_decide(check):
    source = CANCELS + "\nfrom rewards.marks import reward as mark\nless = mark(weight=0.5)(less)\n"
    assert check(source, "RW602") == []


@pytest.mark.guide("G1")
def test_most_groups_dead_is_a_warning_in_a_project_with_an_example(check):
    rows = grouped([[0.0, 0.0]] * 9 + [[0.0, 1.0]])
    assert [finding.severity for finding in check(VALUE, "RW602", rows=rows)] == ["info"]
    [finding] = check(VALUE, "RW602", rows=rows, declare="weight = 1.0")
    assert finding.severity == "warning"
    assert finding.count == 18
    assert "9 of 10 groups (90%, interval 60% to 98%)" in finding.message
    assert finding.evidence.got == [0.0, 0.0]


def test_some_groups_dead_is_information(check):
    [finding] = check(VALUE, "RW602", rows=grouped([[0.0, 0.0]] * 2 + [[0.0, 1.0]] * 3))
    assert finding.severity == "info"


def test_groups_of_one_completion_are_left_out(check):
    assert check(VALUE, "RW602", rows=grouped([[1.0]] * 6)) == []


def test_few_groups_that_happen_to_be_dead_are_no_alarm(check):
    rows = grouped([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    assert [finding.severity for finding in check(VALUE, "RW602", rows=rows)] == ["info"]


def test_all_of_many_groups_dead_is_an_error(check):
    rows = grouped([[0.0, 0.0], [1.0, 1.0]] * 6)
    assert [finding.severity for finding in check(VALUE, "RW602", rows=rows)] == ["error"]


def test_one_score_for_all_samples_is_told_once_as_a_constant(check):
    assert check(VALUE, "RW602", rows=grouped([[1.0, 1.0]] * 12)) == []


def test_groups_with_spread_are_left_alone(check, healthy):
    assert check(healthy, "RW602") == []
