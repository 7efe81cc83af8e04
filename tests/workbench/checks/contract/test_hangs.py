HANGS = """
import time
def reward(completions, **kwargs):
    for c in completions:
        while "know" in c[-1]["content"]:
            time.sleep(0.01)
    return [float(len(c[-1]["content"])) for c in completions]
"""


def test_hanging_completion_is_named_and_the_other_checks_still_run(report_of):
    report = report_of(HANGS, "RW110 RW111 RW104", declare="timeout_s = 0.3")
    [finding] = report.all_findings
    assert finding.check == "RW111"
    assert finding.message.startswith("reward does not return within 0.3 s on 2 samples")
    assert finding.evidence.completion[0]["content"] == "I do not know."
    assert finding.count == 2
    assert [code for code, _ in report.ran] == ["RW104", "RW110", "RW111"]


def test_hang_on_an_odd_completion_is_found(check):
    source = HANGS.replace('"know" in c[-1]["content"]', 'not c[-1]["content"]')
    [finding] = check(source, "RW111", declare="timeout_s = 0.3")
    assert "on an empty completion" in finding.message


def test_reward_that_returns_is_left_alone(check, healthy):
    assert check(healthy, "RW111") == []
