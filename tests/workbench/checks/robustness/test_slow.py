"""RW502, RW503, RW504."""

import pytest

NEVER = """
import re
WORDS = re.compile(r"^\\W*[Aa]nswer:\\s*((?:\\w+\\s?)+)\\.?$")

def reward(completions, answer, **kwargs):
    lines = [c[-1]["content"].strip().rpartition("\\n")[2] for c in completions]
    return [float(bool(WORDS.match(line)) or f"<answer>{a}</answer>" in line) for line, a in zip(lines, answer)]
"""


def test_pattern_that_never_ends_is_an_error_with_its_line_and_a_completion(check):
    [finding] = check(NEVER, "RW502")
    assert finding.severity == "error"
    assert finding.line == 3
    assert "does not come to an end on" in finding.message
    assert "nswer:" in finding.evidence.completion[0]["content"]


def test_pattern_put_together_when_the_reward_runs_is_found_too(check):
    source = NEVER.replace("WORDS.match(line)", "re.match('^' + '(a+)' + '+$', line)")
    source = source.replace("WORDS = re", "WORD = re")
    assert [finding.line for finding in check(source, "RW502")] == [7]


def test_pattern_of_a_helper_in_another_file_is_found(check, tmp_path):
    (tmp_path / "reading_words.py").write_text('import re\nWORDS = re.compile(r"^((?:\\w+\\s?)+)\\.?$")\n')
    source = """
    from reading_words import WORDS as words
    def reward(completions, **kwargs):
        return [float(bool(words.match(c[-1]["content"]))) for c in completions]
    """
    [finding] = check(source, "RW502")
    assert (finding.severity, finding.line) == ("error", 3)


def test_pattern_that_only_sees_short_texts_is_left_alone(check):
    source = """
    import re
    def reward(completions, answer, **kwargs):
        texts = [c[-1]["content"][-60:] for c in completions]
        return [float(bool(re.search(r"<answer>.*?</answer>\\\\s*x?.*$", t, re.DOTALL))) for t in texts]
    """
    assert check(source, "RW502 RW503") == []


@pytest.mark.parametrize(("cut", "severity"), [("", "warning"), ("[-3000:]", "info")])
def test_pattern_that_sees_the_end_of_long_texts_alone_is_a_note(check, cut, severity):
    source = f"""
    import re
    def reward(completions, **kwargs):
        texts = [c[-1]["content"]{cut} for c in completions]
        return [float(bool(re.search(r"answer\\W*:\\W*(yes|no)", t))) for t in texts]
    """
    [finding] = check(source, "RW502")
    assert finding.severity == severity
    assert ("only a part of a long text" in finding.message) == bool(cut)


def test_loop_over_all_pairs_of_words_grows_with_the_square(check):
    source = """
    def reward(completions, **kwargs):
        scores = []
        for c in completions:
            words = c[-1]["content"].split()
            scores.append(sum(sum(w == v for v in words) > 1 for w in words) / max(1, len(words)))
        return scores
    """
    [finding] = check(source, "RW502 RW503")
    assert finding.check == "RW503"
    assert finding.severity == "warning"
    assert "its time grows with the power" in finding.message


def test_growth_of_a_pattern_is_told_once(check):
    source = """
    import re
    def reward(completions, **kwargs):
        found = [re.search(r"<answer>\\\\s*(.*?)\\\\s*</answer>", c[-1]["content"], re.DOTALL) for c in completions]
        return [float(bool(f)) for f in found]
    """
    [finding] = check(source, "RW502 RW503")
    assert (finding.check, finding.severity, finding.line) == ("RW502", "warning", 4)


def test_sound_reward_is_not_slow(check, healthy):
    assert check(healthy, "RW502 RW503 RW504") == []


WAITS = """
import time
def reward(completions, **kwargs):
    for _ in completions:
        time.sleep(0.15)
    return [float(len(c[-1]["content"])) for c in completions]
"""


def test_reward_that_waits_row_by_row_is_a_warning(check):
    [finding] = check(WAITS, "RW504")
    assert finding.severity == "warning"
    assert "waits 0.15" in finding.message
    assert "one after another: a batch of 64 takes" in finding.message


def test_reward_that_says_how_long_it_takes_gets_a_note(check):
    [finding] = check(WAITS, "RW504", declare="timeout_s = 2.0")
    assert finding.severity == "info"


def test_reward_that_waits_once_for_the_batch_is_left_alone(check):
    assert check(WAITS.replace("for _ in completions:", "if completions:"), "RW504") == []
