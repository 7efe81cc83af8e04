def printing(statement: str) -> str:
    return f"""
import os
def reward(completions, **kwargs):
    {statement}
    return [1.0 for _ in completions]
"""


def test_line_for_each_completion_is_a_warning_with_its_line(check):
    [finding] = check(printing("[print('text:', c[-1]['content']) for c in completions]"), "RW122")
    assert finding.severity == "warning"
    assert finding.line == 4
    assert "text: It is easy." in finding.evidence.got


def test_one_line_a_call_is_information(check):
    [finding] = check(printing("print('scoring')"), "RW122")
    assert finding.severity == "info"
    assert "1 line for 8 completions" in finding.message


def test_value_of_the_environment_is_a_warning(check, monkeypatch):
    monkeypatch.setenv("API_TOKEN", "secret-token-123")
    [finding] = check(printing("print(dict(os.environ))"), "RW122")
    assert finding.severity == "warning"
    assert "values of the environment" in finding.message
    assert "secret-token-123" not in finding.message


def test_silent_reward_is_left_alone(check, healthy):
    assert check(healthy, "RW122") == []
