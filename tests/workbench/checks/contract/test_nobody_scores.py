ABSTAINS = """
def reward(completions, answer, **kwargs):
    return [None if a == "21" else 1.0 for a in answer]
"""


def test_prompt_that_no_reward_scores_is_counted(check):
    [finding] = check(ABSTAINS, "RW109")
    assert finding.reward is None
    assert finding.severity == "info"
    assert finding.message.startswith("4 of 8 samples get None from every reward")


def test_single_rows_that_nobody_scores_are_a_warning(check):
    source = """
    def reward(completions, **kwargs):
        return [None if "know" in c[-1]["content"] else 1.0 for c in completions]
    """
    [finding] = check(source, "RW109")
    assert finding.severity == "warning"
    assert finding.evidence.completion[0]["content"] == "I do not know."


def test_row_that_another_member_scores_is_left_alone(check, healthy):
    assert check(ABSTAINS + healthy, "RW109") == []
