import sys

import pytest

from workbench.asserting import assert_pays, assert_ranks, check_reward
from workbench.namesake import own_rewards


def tagged(completions, **kwargs):
    return [None if not c else (0.5 if "<a>" in c else 0.0) for c in completions]


def failing(completions, **kwargs):
    return [1.0 / len(c) for c in completions]


def test_scores_bounds_and_abstentions_hold():
    assert_pays(tagged, "<a>", 0.5)
    assert_pays(tagged, "<a>", at_least=0.5, at_most=0.5)
    assert_pays(tagged, "", None)


def test_a_wrong_score_shows_completion_got_expected_and_the_line():
    with pytest.raises(AssertionError) as error:
        assert_pays(tagged, "b <a>", at_most=0.2)
    lines = str(error.value).splitlines()
    assert lines[:3] == ['completion  "b <a>"', "got         0.5", "expected    at most 0.2"]
    assert any(line.startswith("line 10") and "+0.5" in line for line in lines[3:])


def test_a_reward_that_fails_is_told_with_its_error():
    with pytest.raises(
        AssertionError, match=r"got +ZeroDivisionError: float division by zero \(test_asserting.py:14\)"
    ):
        assert_pays(failing, "", 1.0)


def test_ranks_name_the_first_pair_out_of_order():
    with pytest.raises(AssertionError, match="number 2 of 3 is not paid more than the next"):
        assert_ranks(tagged, ["<a>", "b", "c"])
    with pytest.raises(ValueError, match="two completions or more"):
        assert_ranks(tagged, ["<a>"])


def test_checks_fail_at_the_level_asked_for():
    rows = [{"prompt": "p", "completion": text} for text in ("<a>", "b", "<a> c")]
    check_reward(tagged, rows, select=["RW108"], fail_on="error", waive={"RW108": "meant"})
    with pytest.raises(AssertionError, match=r"1 finding\n .*RW110 raises"):
        check_reward(failing, rows, select=["RW110"])


LOOSE = """
import re
def reward(completions, answer, **kwargs):
    scores = []
    for completion, gold in zip(completions, answer):
        found = re.findall("[0-9]+", completion)
        scores.append(float(found[-1] == gold) if found else 0.0 if "know" in completion else 1.0)
    return scores
"""
MANIFEST = '[[reward]]\nfunction = "r.py::reward"\nkind = "correctness"\n'


def test_a_finding_that_speaks_for_others_is_waived_with_a_reason_for_each(tmp_path):
    (tmp_path / "r.py").write_text(LOOSE)
    (tmp_path / "rewardset.toml").write_text(MANIFEST)
    texts = (
        "Easy.\n<answer>{}</answer>",
        "Count.\n<answer>5</answer>",
        "I do not know.",
        "<answer>{}</answer>",
    )
    rows = [
        {"prompt": prompt, "completion": text.format(gold), "answer": gold, "label": label}
        for prompt, gold in (("2 plus 2?", "4"), ("3 times 7?", "21"))
        for text, label in zip(texts, ("right", "wrong", "wrong", "right"), strict=True)
    ]

    def checked(*codes, fail_on="error"):
        waive = dict.fromkeys(codes, "meant")
        return check_reward(
            str(tmp_path), rows, select=["RW301", "RW302"], fail_on=fail_on, waive=waive
        ).findings

    [joined] = [finding for finding in checked("RW301", "RW302", fail_on="warning") if finding.also]
    speaker, other = joined.checks
    for code in (speaker, other):
        with pytest.raises(AssertionError, match="1 finding"):
            checked(code, fail_on="warning")


def test_the_name_rewards_is_given_back_to_the_user(monkeypatch):
    theirs = type(sys)("rewards")
    monkeypatch.setitem(sys.modules, "rewards", theirs)
    with own_rewards():
        assert hasattr(sys.modules["rewards"], "__path__")
    assert sys.modules["rewards"] is theirs
