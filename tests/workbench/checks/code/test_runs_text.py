"""RW901: the proof."""

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


def test_exec_of_a_program_of_our_own_is_a_constant_and_fine(check):
    source = """
    exec("LIMIT = 3")
    def reward(completions, **kwargs):
        return [float(len(c) > LIMIT) for c in completions]
    """
    assert check(source, "RW901") == []
