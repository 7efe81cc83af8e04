"""A lead is taken into the finding that proves it."""

from workbench.checks.code.lead import SILENT, fold
from workbench.checks.finding import Cost, Finding

SEARCH = """
import re
def reward(completions, answer, **kwargs):
    scores = []
    for c, a in zip(completions, answer):
        found = re.search(r"<answer>(.*?)</answer>", c[-1]["content"], re.DOTALL)
        scores.append(float(bool(found) and found.group(1).strip() == a))
    return scores
"""


def finding(
    check: str, severity: str = "info", line: int | None = 2, reward: str = "reward", cause: str = "c"
):
    message = f"{reward}: line {line} reads the first of several places."
    return Finding(check, "n", severity, message, "Do it.", cause, Cost.HAMPERS, reward=reward, line=line)


def test_a_proved_lead_gives_its_line_and_reason_to_the_proof():
    [folded] = fold(
        [finding("RW310", "error"), finding("RW908", line=7)], {"RW908": ("RW310",)}, {"reward": 2}
    )
    assert (folded.check, folded.severity, folded.line) == ("RW310", "error", 7)
    assert folded.advice == "Line 7 reads the first of several places. Do it."
    assert folded.fingerprint == finding("RW310", "error").fingerprint


def test_a_proof_keeps_a_line_of_its_own():
    [folded] = fold(
        [finding("RW110", "error", line=9), finding("RW904", line=7)], {"RW904": ("RW110",)}, {"reward": 2}
    )
    assert folded.line == 9


def test_a_lead_of_another_reward_or_a_note_proves_nothing():
    proofs, lines = {"RW909": ("RW4",)}, {"reward": 2}
    others = [finding("RW403", "error", reward="other"), finding("RW408", "info")]
    assert len(fold([*others, finding("RW909")], proofs, lines)) == 3


def test_a_silent_lead_without_proof_is_not_told():
    assert fold([finding("RW908", cause=SILENT + "first")], {"RW908": ("RW310",)}, {}) == []


def test_search_for_the_first_answer_is_told_where_a_completion_shows_it(check):
    assert check(SEARCH, "RW908") == []
    found = [f for f in check(SEARCH, "RW310 RW406 RW908") if f.at_least("warning")]
    assert found
    assert {f.line for f in found} == {6}
    assert all(f.advice.startswith("Line 6 takes the first of several places (search).") for f in found)


def test_misspelt_name_and_the_exception_it_raises_are_one_finding(check):
    source = """
    def reward(completions, answer, **kwargs):
        return [float(c[-1]["content"] == anser) for c, a in zip(completions, answer)]
    """
    [finding] = check(source, "RW110 RW904")
    assert (finding.check, finding.severity, finding.line) == ("RW110", "error", 3)
    assert "reads anser, which nothing defines" in finding.advice


LAYOUT = r"""
import re
LAYOUT = re.compile(r"<think>.*?</think>\s*<answer>.*?</answer>", re.DOTALL)
def reward(completions, **kwargs):
    return [float(bool(LAYOUT.search(c[-1]["content"]))) for c in completions]
"""


def test_layout_that_is_not_anchored_is_told_where_a_completion_shows_it(check):
    text = "<think>6 and 7.</think>\n<answer>42</answer>"
    rows = [
        {"prompt": "6 times 7?", "completion": [{"role": "assistant", "content": said}], "label": label}
        for said, label in (
            (text, "right"),
            (text.replace("6", "7"), "right"),
            ("42", "wrong"),
            ("<think>", "wrong"),
        )
    ]
    assert check(LAYOUT, "RW907", rows=rows) == []
    found = check(LAYOUT, "RW3 RW2 RW907", rows=rows, declare='kind = "format"\nrange = [0.0, 1.0]')
    told = [finding for finding in found if "accepts text around the layout" in finding.advice]
    assert {finding.line for finding in told} == {3}
