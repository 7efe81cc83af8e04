def test_nan_of_an_empty_completion_is_found_though_no_sample_is_empty(check):
    source = """
    import math
    def reward(completions, **kwargs):
        words = [c[-1]["content"].split() for c in completions]
        return [len(set(w)) / len(w) if w else math.nan for w in words]
    """
    [finding] = check(source, "RW106")
    assert finding.severity == "error"
    assert finding.message == "reward scores a completion (an empty completion) NaN."
    assert finding.evidence.completion == [{"role": "assistant", "content": ""}]
    assert finding.to_json()["evidence"]["got"] == "nan"


def test_infinity_on_a_sample_is_found_with_the_count(check):
    source = "def reward(completions, **kwargs): return [float('-inf') for _ in completions]"
    [finding] = check(source, "RW106")
    assert finding.message == "reward scores 8 completions of the samples -inf."
    assert finding.count == 8


def test_value_beyond_float32_counts_as_infinite(check):
    [finding] = check("def reward(completions, **kwargs): return [1e39 for _ in completions]", "RW106")
    assert "1e+39" in finding.message


def test_finite_scores_are_left_alone(check, healthy):
    assert check(healthy, "RW106") == []
