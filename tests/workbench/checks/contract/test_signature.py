import pytest


@pytest.mark.guide("G6")
def test_function_without_keyword_rest_is_refused_with_its_signature(check):
    [finding] = check("def reward(completions): return [1.0 for _ in completions]", "RW101")
    assert finding.severity == "error"
    assert finding.line == 1
    assert finding.evidence.got == "(completions)"
    assert "reward(completions) cannot be called as TRL calls it" in finding.message


def test_positional_only_argument_is_refused(check):
    [finding] = check("def reward(completions, /, **kwargs): return [1.0 for _ in completions]", "RW101")
    assert "positional-only" in finding.message


def test_function_that_takes_any_keyword_is_left_alone(check, healthy):
    assert check(healthy, "RW101") == []


def test_what_needs_a_call_is_not_tried_on_a_function_that_cannot_be_called(report_of):
    report = report_of("def reward(completions): return [1.0 for _ in completions]")
    assert [finding.check for finding in report.all_findings] == ["RW101"]
    assert ("RW110", "reward: it cannot be called (RW101)") in [
        (item.check, item.to_json()["why"]) for item in report.skipped
    ]
