import pytest

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


FORMULA = """
import re
def reward(completions, **kwargs):
    said = [c[-1]["content"].partition(">")[2].partition("<")[0] for c in completions]
    return [float(bool(re.fullmatch("[0-9+*() -]+", s)) and READ == 98) for s in said]
"""


@pytest.mark.parametrize(
    ("read", "found"),
    [("eval(s)", True), ("sum(int(n) for n in s.split('+') if n.strip().isdigit())", False)],
)
def test_formula_whose_numbers_are_piled_up_to_powers_never_comes_back_from_eval(check, read, found):
    rows = [
        {
            "prompt": [{"role": "user", "content": "Make 98 of 44, 19 and 35."}],
            "completion": [{"role": "assistant", "content": f"<answer>{said}</answer>"}],
        }
        for said in ("44 + 19 + 35", "19 + 35")
    ]
    findings = check(FORMULA.replace("READ", read), "RW111", rows=rows, declare="timeout_s = 0.5")
    assert ["a tower of powers" in f.message for f in findings] == [True] * found
