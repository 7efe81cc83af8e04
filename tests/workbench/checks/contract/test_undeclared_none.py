MIXED = """
def reward(completions, **kwargs):
    return [None if "<answer>" not in c[-1]["content"] else 1.0 for c in completions]
"""
WHOLE = """
def reward(completions, answer, **kwargs):
    return [None if a == "21" else float(len(c[-1]["content"])) for c, a in zip(completions, answer)]
"""


def test_none_beside_scored_completions_of_the_prompt_is_a_warning(check):
    [finding] = check(MIXED, "RW108")
    assert finding.severity == "warning"
    assert finding.count == 2
    assert finding.evidence.completion[0]["content"] == "I do not know."
    assert finding.evidence.got is None


def test_declared_abstention_inside_a_prompt_is_only_information(check):
    [finding] = check(MIXED, "RW108", declare="abstains = true")
    assert finding.severity == "info"


def test_undeclared_none_for_whole_prompts_is_information(check):
    [finding] = check(WHOLE, "RW108")
    assert finding.severity == "info"
    assert "abstains = true" in finding.advice


def test_declared_none_for_whole_prompts_is_left_alone(check):
    assert check(WHOLE, "RW108", declare="abstains = true") == []


def test_none_for_an_odd_completion_is_found_though_no_sample_shows_it(check):
    source = "def reward(completions, **kwargs): return [len(c[-1]['content']) or None for c in completions]"
    [finding] = check(source, "RW108")
    assert "returns None for an empty completion" in finding.message


def test_none_for_cut_completions_alone_is_a_note(check):
    source = """
    def reward(completions, **kwargs):
        texts = [c[-1]["content"] for c in completions]
        return [None if t.count("<answer>") == 1 and "</answer>" not in t else len(t) + 1.0 for t in texts]
    """
    [finding] = check(source, "RW108")
    assert finding.severity == "info"
    assert "cut just before its end" in finding.message


def test_reward_that_always_scores_is_left_alone(check, healthy):
    assert check(healthy, "RW108") == []
