UNFILLED = """
def reward(completions, solution=None, **kwargs):
    if solution is None:
        return [0.5] * len(completions)
    return [float(f">{s}<" in c[0]["content"]) for c, s in zip(completions, solution)]
"""


def test_default_that_hides_the_missing_column_is_found_by_filling_it(check):
    [finding] = check(UNFILLED, "RW103")
    assert finding.severity == "error"
    assert "'solution' of reward is never filled" in finding.message
    assert "with the column 'answer' in its place the scores differ" in finding.message
    assert (finding.evidence.got, finding.evidence.expected) == (
        0.5,
        0.0,
    )  # the shortest of those that move most
    assert finding.count == 8


def test_constant_is_not_told_again_beside_its_reason(check):
    assert [finding.check for finding in check(UNFILLED, "RW103 RW6")] == ["RW103"]


def test_setting_with_a_default_is_left_alone(check):
    source = """
    def reward(completions, max_words=3, **kwargs):
        return [float(len(c[0]["content"].split()) <= max_words) for c in completions]
    """
    assert check(source, "RW103") == []


def test_default_that_makes_no_difference_is_left_alone(check):
    source = "def reward(completions, tags=('a',), **kwargs): return [0.0 for _ in completions]"
    assert check(source, "RW103") == []


def test_sample_that_is_shown_is_one_whose_score_the_column_moves(check):
    source = """
    def reward(completions, solution=None, **kwargs):
        golds = solution or [""] * len(completions)
        texts = [c[0]["content"] for c in completions]
        return [float("<answer>" in t and (not g or f">{g}<" in t)) for t, g in zip(texts, golds)]
    """
    [finding] = check(source, "RW103")
    assert finding.evidence.completion[0]["content"] == "Count them.\n<answer>5</answer>"
    assert (finding.evidence.got, finding.evidence.expected) == (1.0, 0.0)
