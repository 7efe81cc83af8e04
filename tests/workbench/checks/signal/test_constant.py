import pytest

ALWAYS_TRUE = """
def reward(completions, **kwargs):
    return [0.5 if "<think>" or "<answer>" in c[-1]["content"] else 0.0 for c in completions]
"""
NO_MATCH = """
import re
def reward(completions, **kwargs):
    return [float(bool(re.search(r"^<answer>.*</answer>$", c[-1]["content"].upper()))) for c in completions]
"""
PENALTY = """
def reward(completions, **kwargs):
    counts = [c[-1]["content"].split() for c in completions]
    return [-1.0 if len(words) > 2 * len(set(words)) else 0.0 for words in counts]
"""


def test_condition_that_is_always_true_is_named_as_the_reason(check):
    [finding] = check(ALWAYS_TRUE, "RW601")
    assert finding.severity == "error"
    assert "scores 0.5 on all 8 samples, right and wrong alike (4 and 4)" in finding.message
    assert "the text '<think>' on line 3 is true by itself" in finding.message
    assert finding.line == 3


def test_pattern_that_never_matches_is_named_as_the_reason(check):
    source = NO_MATCH.replace(".upper()", "").replace("<answer>.*</answer>", "<result>.*</result>")
    [finding] = check(source, "RW601")
    assert "the pattern '^<result>.*</result>$' on line 4 matches none of the samples" in finding.message


def test_saturated_reward_is_called_so(check):
    source = "def reward(completions, **kwargs): return [1.0 for _ in completions]"
    [finding] = check(source, "RW601", declare="range = [0.0, 1.0]")
    assert "is saturated: it scores 1, the top of its range" in finding.message


def test_none_for_every_sample_is_found(check):
    [finding] = check("def reward(completions, **kwargs): return [None for _ in completions]", "RW601")
    assert finding.severity == "error"
    assert "None for all 8 samples" in finding.message


def test_penalty_that_no_sample_earns_is_information_without_labels(check):
    [finding] = check(PENALTY, "RW601", labels=False)
    assert finding.severity == "info"


def test_penalty_for_length_far_beyond_the_samples_is_information(check):
    source = (
        "def reward(completions, **kwargs):\n"
        "    return [-min(1.0, max(0.0, len(str(c)) / 4000 - 1)) for c in completions]"
    )
    [finding] = check(source, "RW601", labels=False)
    assert finding.severity == "info"
    assert "would score -1" in finding.message


@pytest.mark.guide("G1")
def test_reward_that_never_varies_is_a_warning_without_labels(check):
    [finding] = check(
        "def reward(completions, **kwargs): return [0.2 for _ in completions]", "RW601", labels=False
    )
    assert finding.severity == "warning"
    assert "made-up completions get it too" in finding.message


def test_penalty_in_a_set_is_not_judged_by_labels(check, healthy):
    findings = check(PENALTY.replace("def reward", "def penalty") + healthy, "RW601")
    assert [(finding.reward, finding.severity) for finding in findings] == [("penalty", "info")]


def test_reward_that_varies_is_left_alone(check, healthy):
    assert check(healthy, "RW601") == []


def test_pattern_of_another_reward_of_the_file_is_no_reason(check, healthy):
    other = NO_MATCH.replace("def reward", "def other").replace("<answer>.*</answer>", "<result>.*</result>")
    findings = check(other + PENALTY.replace("def reward", "def penalty"), "RW601")
    assert [("pattern" in finding.message) for finding in findings if finding.reward == "penalty"] == [False]


def test_declared_penalty_that_no_sample_earns_is_information_although_labelled(check):
    [finding] = check(PENALTY, "RW601", declare='kind = "style"\nrange = [-1.0, 0.0]')
    assert finding.severity == "info"


def test_sound_format_that_no_sample_breaks_is_information_whatever_the_labels_say(check):
    source = "def reward(completions, **kwargs): return [float(bool(c[-1]['content'])) for c in completions]"
    for declare in ('kind = "format"', ""):
        [finding] = check(source, "RW601", declare=declare)
        assert finding.severity == "info"
        assert "'' would score 0" in finding.message


def test_format_that_no_sample_has_is_information_with_one_that_would_be_paid(check):
    source = NO_MATCH.replace(".upper()", "").replace("<answer>.*</answer>", "<result>.*</result>")
    [finding] = check(source, "RW601")
    assert finding.severity == "info"
    assert "the nearest sample lacks '<result>'" in finding.message
    assert "'<result>so it is</result>' would score 1" in finding.message


def test_missing_dotall_is_named_with_the_completion_that_would_match(check):
    source = (
        NO_MATCH.replace(".upper()", "").replace("^<answer>", "^It.*<answer>").replace("^It", "^(It|Count)")
    )
    [finding] = check(source, "RW601")
    assert finding.severity == "error"
    assert "it would match with re.DOTALL" in finding.message
    assert finding.advice.endswith("so that . matches line breaks too.")
    assert "\n" in finding.evidence.completion[-1]["content"]


def test_labels_that_the_text_explains_make_a_constant_an_error(check):
    rows = [
        {"prompt": f"p{group}", "completion": text, "label": label}
        for group in range(4)
        for text, label in (
            (f"It is {group}.", "right"),
            (f"IT IS {group}!!!", "wrong"),
            (f"NO {group}!", "wrong"),
        )
    ]
    source = "def reward(completions, **kwargs): return [0.0 if '???' in c else 1.0 for c in completions]"
    [finding] = check(source, "RW601", rows=rows)
    assert finding.severity == "error"


def test_column_that_is_never_read_is_named_as_the_reason(check):
    source = "def reward(completions, answer, **kwargs):\n"
    source += "    return [0.0 if 'xx' in c[-1]['content'] else 1.0 for c in completions]"
    [finding] = check(source, "RW601")
    assert "it takes the column 'answer' and never reads it" in finding.message


def test_exception_that_is_caught_each_time_is_named_as_the_reason(check):
    source = """
    import json
    def reward(completions, **kwargs):
        scores = []
        for completion in completions:
            try:
                json.loads(completion[-1]["content"])
                scores.append(1.0)
            except ValueError:
                scores.append(_low())
        return scores
    def _low():
        try:
            return float("low")
        except ValueError:
            return 0.0
    """
    [finding] = check(source, "RW601")
    assert "each of them raises ValueError on line 14, caught on line 14" in finding.message
    assert finding.severity == "info"
