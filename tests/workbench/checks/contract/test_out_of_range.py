import pytest

RANGE = "range = [0.0, 1.0]"
COUNTS = """
def reward(completions, **kwargs):
    return [0.25 * c[-1]["content"].count("<answer>") for c in completions]
"""


def test_sample_above_the_declared_range_is_found_with_the_smallest_one(check):
    source = "def reward(completions, **kwargs): return [len(c[-1]['content']) / 10 for c in completions]"
    [finding] = check(source, "RW107", declare=RANGE)
    assert finding.severity == "error"
    assert "above its declared range [0, 1]: 1.4" in finding.message
    assert finding.evidence.completion[0]["content"] == "I do not know."
    assert finding.evidence.expected == "at most 1"


def test_score_that_repetition_drives_out_of_the_range_is_found(check):
    [finding] = check(COUNTS, "RW107", declare=RANGE)
    assert "written 8 times over" in finding.message
    assert finding.evidence.got == 2.0


def test_score_below_the_range_is_a_finding_of_its_own(check):
    source = "def reward(completions, **kwargs): return [-0.5 for c in completions]"
    [finding] = check(source, "RW107", declare=RANGE)
    assert "below its declared range" in finding.message
    assert "max(0, score)" in finding.advice


def test_capped_score_is_left_alone(check):
    assert check(COUNTS.replace("0.25 *", "0.25 * min(4,").replace('")', '"))'), "RW107", declare=RANGE) == []


def test_reward_without_declared_range_is_left_alone(check):
    assert check(COUNTS, "RW107") == []


@pytest.mark.parametrize(("held", "found"), [("", True), ("max(0.0, ", False)])
def test_number_far_off_that_costs_a_multiple_of_all_else_is_told_without_a_range(check, held, found):
    source = f"""
    import re
    def reward(completions, answer, **kwargs):
        said = [re.search("<answer>([0-9]+)<", c[-1]["content"]) for c in completions]
        far = [abs(int(m[1]) - int(a)) / 100 if m else 1.0 for m, a in zip(said, answer)]
        return [{held or "("}1 - x) for x in far]
    """
    findings = check(source, "RW107")
    assert [f.severity for f in findings] == ["warning"] * found
    assert check(source, "RW107", declare="range = [-2000.0, 1.0]") == []


@pytest.mark.parametrize(("scale", "severity"), [(100, "error"), (99000, "warning")])
def test_severity_follows_how_far_a_number_far_off_leads_out_of_the_range(check, scale, severity):
    source = f"""
    import re
    def reward(completions, answer, **kwargs):
        said = [re.search("<answer>([0-9]+)<", c[-1]["content"]) for c in completions]
        return [1 - abs(int(m[1]) - int(a)) / {scale} if m else 0.0 for m, a in zip(said, answer)]
    """
    [finding] = check(source, "RW107", declare=RANGE)
    assert finding.severity == severity
    assert "(the number 100000 as the answer) below its declared range" in finding.message


@pytest.mark.parametrize(("score", "severity"), [("1.5", "warning"), ("7.5", "error")])
def test_score_beyond_the_range_on_broken_text_alone_is_a_warning_unless_it_is_far_beyond(
    check, score, severity
):
    source = f"""
    def reward(completions, **kwargs):
        texts = [c[-1]["content"] for c in completions]
        return [{score} if "\\ud83d" in text else float("<answer>" in text) for text in texts]
    """
    [finding] = check(source, "RW107", declare=RANGE)
    assert finding.severity == severity
