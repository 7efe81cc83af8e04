"""RW501 and RW506."""

import pytest

from workbench.checks.robustness import hostile_text

DEEP = """
import json
def reward(completions, **kwargs):
    scores = []
    for c in completions:
        try:
            scores.append(float(bool(json.loads(c[-1]["content"]))))
        except ValueError:
            scores.append(0.0)
    return scores
"""


def test_brackets_too_deep_for_a_parser_are_an_error(check):
    [finding] = [finding for finding in check(DEEP, "RW501 RW110") if finding.severity == "error"]
    assert (finding.check, finding.severity, finding.line) == ("RW501", "error", 7)
    assert "raises RecursionError" in finding.message
    assert set(finding.evidence.completion[0]["content"]) == {"["}


def test_parser_that_expects_them_is_left_alone(check):
    findings = check(DEEP.replace("ValueError", "(ValueError, RecursionError)"), "RW501")
    assert [finding.severity for finding in findings] == ["info"]  # a completion without any message


def test_what_no_model_writes_is_a_note(check):
    source = """
    def reward(completions, **kwargs):
        return [float(len(completion[-1]["content"])) for completion in completions]
    """
    [finding] = check(source, "RW501")
    assert finding.severity == "info"
    assert "on a message whose content is None, which no model writes, but logs hold" in finding.message
    assert finding.message.endswith("so it does on a completion without any message.")


def test_one_mistake_met_by_odd_and_hostile_texts_is_one_finding(check):
    source = "def reward(completions, **k): return [1.0 / len(c[-1]['content'].split()) for c in completions]"
    errors = [finding for finding in check(source, "RW110 RW501") if finding.severity == "error"]
    assert [finding.check for finding in errors] == ["RW110"]


def test_hang_on_hostile_text_is_found_and_the_rest_is_tried(check, monkeypatch):
    monkeypatch.setattr(hostile_text, "PATIENCE_S", 0.5)
    monkeypatch.setattr(hostile_text, "ENDLESS_S", 0.5)
    source = """
    def reward(completions, **kwargs):
        for c in completions:
            while c[-1]["content"].startswith("\\x00"):
                pass
        return [float(len(c[-1]["content"] or "")) for c in completions]
    """
    found = check(source, "RW501", declare="timeout_s = 0.4")
    [finding] = [f for f in found if f.severity == "error"]
    assert "does not return within" in finding.message


WHOLE = """
import json
def reward(completions, answer, **kwargs):
    try:
        found = [c[-1]["content"].split("<answer>")[1].split("<")[0] if "<answer>" in c[-1]["content"] else ""
                 for c in completions]
        return [float(int(f or -1) == int(a)) for f, a in zip(found, answer)]
    except ValueError:
        return [0.0] * len(completions)
"""


@pytest.mark.guide("G24")
def test_bad_row_that_takes_its_neighbours_along_is_found(check):
    [finding] = check(WHOLE, "RW506")
    assert finding.severity == "error"
    assert "a sample that earns 1 earns 0" in finding.message
    assert "<answer>" in finding.evidence.completion[0]["content"]


def test_reward_that_fails_row_by_row_is_left_alone(check, healthy):
    assert check(healthy, "RW501 RW506") == []


def test_reward_that_compares_on_purpose_is_left_alone(check):
    source = """
    def reward(completions, **kwargs):
        lengths = [len(c[-1]["content"]) for c in completions]
        return [float(n == max(lengths)) for n in lengths]
    """
    assert check(source, "RW506", declare='scope = "group"') == []


def test_answer_that_is_short_to_write_and_long_to_compute_is_tried(check, monkeypatch):
    monkeypatch.setattr(hostile_text, "PATIENCE_S", 0.5)
    monkeypatch.setattr(hostile_text, "ENDLESS_S", 0.5)
    source = """
    from fractions import Fraction
    def reward(completions, answer, **kwargs):
        scores = []
        for c, a in zip(completions, answer):
            said = c[-1]["content"].rpartition("<answer>")[2].partition("<")[0]
            try:
                scores.append(float(Fraction(said) == Fraction(a)))
            except (ValueError, ZeroDivisionError):
                scores.append(0.0)
        return scores
    """
    [finding] = [f for f in check(source, "RW501", declare="timeout_s = 0.5") if f.severity == "error"]
    assert "1e999999999</answer>" in finding.evidence.completion[0]["content"]
