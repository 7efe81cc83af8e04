import pytest

SOURCE = "def reward(completions, solution, **kwargs): return [1.0 for _ in completions]"


@pytest.mark.guide("G6")
def test_required_argument_without_column_is_named_with_the_columns_and_the_likely_one(check):
    [finding] = check(SOURCE, "RW102")
    assert "requires the column 'solution'" in finding.message
    assert "(columns: answer)" in finding.message
    assert "'answer' looks like it" in finding.message
    assert finding.evidence.got == ["answer"]
    assert finding.evidence.expected == "solution"
    assert finding.line == 1


def test_missing_column_is_told_once_and_not_by_the_other_checks(check):
    assert [finding.check for finding in check(SOURCE)] == ["RW102"]


def test_argument_that_a_column_fills_is_left_alone(check, healthy):
    assert check(healthy, "RW102") == []


def test_argument_bound_by_the_manifest_needs_no_column(check):
    assert check(SOURCE, "RW102", declare='params = { solution = "4" }') == []
