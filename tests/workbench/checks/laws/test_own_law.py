"""Laws that a project states, in the reward file and beside it."""

import pytest

REWARD = """
from workbench.laws import law

def reward(completions, answer, **kwargs):
    texts = [c[-1]["content"] for c in completions]
    return [float(f"<answer>{a}</answer>" in t) + 0.01 * t.count("x") for t, a in zip(texts, answer)]
"""


def test_a_broken_law_is_told_with_the_smallest_completion(check):
    source = (
        REWARD
        + """
@law
def crosses_pay_nothing(score, completion):
    \"\"\"An x more or less is nothing.\"\"\"
    return score(completion + "x") == score(completion)
"""
    )
    [finding] = check(source, "RW213")
    assert finding.severity == "error"
    assert finding.message.startswith(
        "reward breaks the law crosses_pay_nothing (An x more or less is nothing.)"
    )
    assert finding.evidence.completion == [{"role": "assistant", "content": ""}]
    assert "rewards.py, line 8" in finding.advice


def test_a_law_that_needs_a_changed_completion_is_broken_by_hypothesis(check):
    source = (
        REWARD
        + """
@law
def lower_case_is_enough(score, completion):
    assert "</answer></answer>" not in completion
"""
    )
    [finding] = check(source, "RW213")
    assert "</answer></answer>" in finding.evidence.completion[0]["content"]
    assert "seed 0" in finding.advice


def test_a_law_that_holds_says_nothing(check):
    source = (
        REWARD
        + """
@law
def never_negative(score, completion, answer, prompt, other):
    assert score(completion) >= 0 and score(other, answer="7") >= 0 and prompt and answer
"""
    )
    assert check(source, "RW213") == []


def test_laws_may_stand_in_a_file_of_their_own(check, tmp_path):
    (tmp_path / "laws.py").write_text(
        "from workbench.laws import law\n\n@law(rewards='other')\ndef not_mine(score, completion):\n    return False\n"
        "@law\ndef mine(score, completion):\n    return False\n"
    )
    [finding] = check(REWARD, "RW213")
    assert "law mine" in finding.message


def test_a_law_that_raises_is_a_warning_about_the_law(check):
    source = (
        REWARD
        + """
@law
def broken(score, completion):
    return undefined_name > 0
"""
    )
    [finding] = check(source, "RW213")
    assert finding.severity == "warning"
    assert "itself raises NameError" in finding.message


@pytest.mark.parametrize("text", ["@law", "@law()", "@law(rewards='x', examples=3)"])
def test_the_mark_returns_the_function_unchanged(text):
    space: dict[str, object] = {}
    exec(f"from workbench.laws import law, is_law\n{text}\ndef f(score): return 1\nfound = is_law(f)", space)
    assert space["found"] is True
    assert space["f"](None) == 1  # type: ignore[operator]
