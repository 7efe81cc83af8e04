DIES = """
import os
def reward(completions, **kwargs):
    for c in completions:
        if "know" in c[-1]["content"]:
            os._exit(7)
    return [float(len(c[-1]["content"])) for c in completions]
"""


def test_completion_that_ends_the_process_is_named_and_the_other_checks_still_run(report_of):
    report = report_of(DIES, "RW104 RW112 RW121")
    [finding] = report.all_findings
    assert finding.check == "RW112"
    assert "ends its process on 2 samples" in finding.message
    assert "exit code 7" in finding.evidence.got
    assert finding.evidence.completion[0]["content"] == "I do not know."
    assert [code for code, _ in report.ran] == ["RW104", "RW112", "RW121"]


def test_death_on_an_odd_completion_is_found(check):
    [finding] = check(DIES.replace('"know" in c[-1]["content"]', 'not c[-1]["content"]'), "RW112")
    assert "on an empty completion" in finding.message


def test_reward_that_lives_is_left_alone(check, healthy):
    assert check(healthy, "RW112") == []
