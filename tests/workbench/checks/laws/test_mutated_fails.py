"""Changed samples on which a reward fails, found by Hypothesis and made small."""

CRASH = """
def reward(completions, answer, **kwargs):
    scores = []
    for c, a in zip(completions, answer):
        text = c[-1]["content"]
        if "</answer></answer>" in text:
            raise ValueError("twice closed")
        scores.append(float(f"<answer>{a}</answer>" in text))
    return scores
"""


def test_a_changed_sample_that_raises_is_found_and_made_small(check):
    [finding] = check(CRASH, "RW214")
    assert finding.message == "reward raises ValueError: twice closed on a changed sample."
    assert finding.evidence.completion == [{"role": "assistant", "content": "</answer></answer>"}]
    assert "--select RW214 (seed 0)" in finding.advice


def test_a_failure_that_another_check_tells_is_told_once(check):
    source = """
    def reward(completions, **kwargs):
        return [float(c[-1]["content"].split()[-1] == "know.") for c in completions]
    """
    [finding] = [f for f in check(source, "RW110 RW214") if f.at_least("warning")]
    assert finding.check == "RW110"


def test_a_sound_reward_survives_changed_samples(check, healthy):
    assert check(healthy, "RW214") == []


def test_found_examples_are_kept_in_the_project_and_tried_first(report_of, tmp_path):
    report_of(CRASH, "RW214", declare="weight = 1.0")
    kept = (tmp_path / ".workbench" / "examples.jsonl").read_text()
    assert kept == '{"property": "reward:fails", "completion": "</answer></answer>"}\n'
    assert (tmp_path / ".workbench" / ".gitignore").exists()
    report = report_of(CRASH, "RW214", declare="weight = 1.0", check="examples = 1\nseed = 99")
    [finding] = report.all_findings
    assert "twice closed" in finding.message


def test_a_damaged_file_of_examples_is_no_obstacle(report_of, tmp_path):
    (tmp_path / ".workbench").mkdir()
    (tmp_path / ".workbench" / "examples.jsonl").write_text("{broken\n[1]\n" + '{"property": 3}\n')
    assert len(report_of(CRASH, "RW214", declare="weight = 1.0").all_findings) == 1
