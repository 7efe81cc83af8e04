import pytest

LAST_WORD = """
def reward(completions, **kwargs):
    scores = []
    for c in completions:
        last = c[-1]["content"].split()[-1]
        scores.append(float(last.endswith("answer>")))
    return scores
"""


def test_exception_on_an_empty_completion_is_found_though_no_sample_is_empty(check):
    [finding] = check(LAST_WORD, "RW110")
    assert finding.severity == "error"
    assert finding.message == "reward raises IndexError: list index out of range on an empty completion."
    assert finding.line == 5
    assert finding.evidence.completion == [{"role": "assistant", "content": ""}]
    assert finding.evidence.got == "IndexError: list index out of range (rewards.py:5)"


@pytest.mark.guide("G24")
def test_failing_sample_is_shrunk_to_what_makes_it_fail(check):
    source = """
    def reward(completions, **kwargs):
        return [1.0 / (0 if "know" in c[-1]["content"] else 1) for c in completions]
    """
    [finding] = check(source, "RW110")
    assert finding.message == "reward raises ZeroDivisionError: float division by zero on 2 of 8 samples."
    assert finding.count == 2
    assert finding.evidence.completion == [{"role": "assistant", "content": "know"}]


def test_one_mistake_met_by_several_odd_completions_is_one_finding(check):
    assert (
        len(check("def reward(completions, **kwargs): return [c[9]['content'] for c in completions]", "RW1"))
        == 1
    )


def test_two_mistakes_are_two_findings(check):
    source = """
    def reward(completions, **kwargs):
        scores = []
        for c in completions:
            if not c[-1]["content"]:
                raise ValueError("empty")
            scores.append(float(c[-1]["content"].split()[0] == "It"))
        return scores
    """
    assert sorted(finding.line for finding in check(source, "RW110")) == [6, 7]


def test_system_exit_is_an_exception_like_any_other(check):
    [finding] = check("import sys\ndef reward(completions, **kwargs): sys.exit(3)", "RW110")
    assert "SystemExit" in finding.message


def test_broken_emoji_is_a_warning_only(check):
    source = "def reward(completions, **kwargs): return [float(len(c[-1]['content'].encode())) for c in completions]"
    [finding] = check(source, "RW110")
    assert finding.severity == "warning"
    assert finding.to_json()["evidence"]["completion"][0]["content"] == "x\ud83dy"


def test_fingerprint_survives_another_layout_of_the_code(check):
    [before] = check(LAST_WORD, "RW110")
    [after] = check("# a comment\n\n" + LAST_WORD.replace("split()[-1]", "split( ) [ -1 ]  # last"), "RW110")
    assert after.line == 7
    assert after.fingerprint == before.fingerprint


def test_reward_that_scores_every_odd_completion_is_left_alone(check, healthy):
    assert check(healthy, "RW110") == []
