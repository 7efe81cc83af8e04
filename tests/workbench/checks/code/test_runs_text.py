"""RW901: the proof."""

import pytest

CALCULATOR = """
import re
def reward(completions, answer, **kwargs):
    scores = []
    for c, a in zip(completions, answer):
        found = re.search(r"<answer>(.*?)</answer>", c[-1]["content"])
        try:
            scores.append(float(found is not None and eval(found.group(1)) == float(a)))
        except Exception:
            scores.append(0.0)
    return scores
"""


def test_eval_of_the_answer_is_an_error_with_the_completion_that_was_run(check):
    [finding] = check(CALCULATOR, "RW901")
    assert (finding.severity, finding.line) == ("error", 8)
    assert finding.message == "reward executes what the completion says, in its own process."
    assert "<answer>workbench_probe_of_text()</answer>" in str(finding.evidence.completion)


def test_eval_of_digits_alone_stays_a_note(check):
    source = CALCULATOR.replace("(.*?)", "([0-9+ ]*)")
    [finding] = check(source, "RW901")
    assert finding.severity == "info"


FORMULA = """
import re
def reward(completions, numbers, **kwargs):
    scores = []
    for c, wanted in zip(completions, numbers):
        text = c[-1]["content"].rpartition("<answer>")[2].partition("</answer>")[0]
        used = sorted(map(int, re.findall("[0-9]+", text)))
        try:
            scores.append(float(used == wanted and READ == 26))
        except Exception:
            scores.append(0.0)
    return scores
"""


@pytest.mark.parametrize(
    ("read", "severities"),
    [("eval(text, {'__builtins__': None})", ["error"]), ("sum(map(int, text.split('+')))", [])],
)
def test_eval_that_is_only_guarded_by_its_numbers_is_found_by_an_attribute(check, read, severities):
    rows = [
        {
            "prompt": [{"role": "user", "content": "Make 26 of 4, 10 and 12."}],
            "completion": [{"role": "assistant", "content": f"<answer>{text}</answer>"}],
            "numbers": [4, 10, 12],
            "label": label,
        }
        for text, label in (("4 + 10 + 12", "right"), ("12 + 10 + 4", "right"), ("4 + 12", "wrong"))
    ]
    found = check(FORMULA.replace("READ", read), "RW901", rows=rows)
    assert [finding.severity for finding in found] == severities
    assert all(").workbench_probe_of_text" in str(f.evidence.completion) for f in found)


def test_exec_of_a_program_of_our_own_is_a_constant_and_fine(check):
    source = """
    exec("LIMIT = 3")
    def reward(completions, **kwargs):
        return [float(len(c) > LIMIT) for c in completions]
    """
    assert check(source, "RW901") == []
