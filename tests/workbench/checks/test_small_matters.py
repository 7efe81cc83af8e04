"""Matters told as information, and a setting that a column replaces: found where they are, not where they are not."""

import pytest

NUMBERS = [
    {"prompt": f"What is {a} - {b}?", "completion": f"Answer: {given}", "answer": str(a - b), "label": label}
    for a, b in ((900, 150), (7, 7), (400, 25))
    for given, label in ((a - b, "right"), (a - b + 300, "wrong"))
]
CLOSE = """
import re

def reward(completions, answer, **kwargs):
    out = []
    for text, gold in zip(completions, answer):
        found = re.findall(r"Answer: (-?[0-9.]+)", text)
        got = float(found[-1].rstrip(".")) if found else float("inf")
        out.append(float(abs(got - float(gold)) <= TOLERANCE))
    return out
"""


@pytest.mark.parametrize(
    ("tolerance", "found"), [("0.01 * abs(float(gold))", True), ("0.01 * abs(float(gold)) + 0.01", False)]
)
def test_tolerance_without_any_at_zero(check, tolerance, found):
    findings = check(CLOSE.replace("TOLERANCE", tolerance), "RW410", rows=NUMBERS, chat=False)
    assert [f.severity for f in findings] == ["info"] * found
    if found:
        assert "near 0 none" in findings[0].message
        assert findings[0].evidence.completion == "Answer: 0.00001"


@pytest.mark.parametrize(("how", "found"), [("text", True), ("text.casefold()", False)])
def test_phrase_missed_at_the_start_of_a_sentence(check, how, found):
    source = f"""
    def reward(completions, **kwargs):
        return [0.2 * ("according to" in {how}) for text in (c[-1]["content"] for c in completions)]
    """
    findings = check(source, "RW411")
    assert [f.check for f in findings] == ["RW411"] * found
    if found:
        assert "'According to' at the start of a sentence nothing" in findings[0].message


@pytest.mark.parametrize(("name", "found"), [("ideal_tokens", True), ("ideal_words", False)])
def test_words_that_are_called_tokens(check, name, found):
    source = f"""
    def reward(completions, {name}=20, **kwargs):
        return [min(1.0, len(c[-1]["content"].split()) / {name}) for c in completions]
    """
    assert [f.check for f in check(source, "RW215")] == ["RW215"] * found


@pytest.mark.parametrize(("least", "found"), [("0", True), ("3", False)])
def test_penalty_for_a_text_that_is_too_short_to_judge(check, least, found):
    source = f"""
    def reward(completions, **kwargs):
        out = []
        for c in completions:
            words = c[-1]["content"].split()
            threes = [tuple(words[i:i + 3]) for i in range(len(words) - 2)]
            unique = len(set(threes)) / max(1, len(threes))
            out.append(-0.3 if len(words) >= {least} and unique < 0.7 else 0.0)
        return out
    """
    findings = check(source, "RW216", declare='kind = "style"\nrange = [-0.3, 0.0]')
    assert [f.check for f in findings] == ["RW216"] * found


LAYOUT = """
def reward(completions, NAME=["answer"], **kwargs):
    return [float(all(f"<{tag}>" in c[-1]["content"] for tag in NAME)) for c in completions]
"""


@pytest.mark.parametrize(("name", "found"), [("answer", True), ("tags", False)])
def test_column_that_takes_the_place_of_a_setting(check, name, found):
    rows = [
        {
            "prompt": [{"role": "user", "content": f"Count to {n}."}],
            "completion": [{"role": "assistant", "content": text}],
            "answer": "ok",
            "label": label,
        }
        for n in (3, 4)
        for text, label in ((f"<answer>{n}</answer>", "right"), (f"It is {n}.", "wrong"))
    ]
    findings = check(LAYOUT.replace("NAME", name), "RW127", rows=rows)
    assert [(f.check, f.severity) for f in findings] == [("RW127", "warning")] * found
    if found:
        assert findings[0].evidence.got != findings[0].evidence.expected


TAKEN = """
def reward(prompts, completions, **kwargs):
    texts = [WHERE for p, c in zip(prompts, completions)]
    return [0.5 * ("Conclusion:" in text) + 0.5 * (text.count("- ") >= 2) for text in texts]
"""


@pytest.mark.parametrize(
    ("where", "found"), [('p[-1]["content"] + c[-1]["content"]', True), ('c[-1]["content"]', False)]
)
def test_layout_that_is_taken_from_the_prompt(check, where, found):
    rows = [
        {
            "prompt": [{"role": "user", "content": f"Two points on {what} and a Conclusion: line."}],
            "completion": [{"role": "assistant", "content": text}],
            "label": label,
        }
        for what in ("tea", "chess")
        for text, label in (
            (f"- {what} is good\n- it is old\nConclusion: fine", "right"),
            (f"- {what} is good\n- it is old", "wrong"),
            ("I like it.", "wrong"),
        )
    ]
    findings = check(TAKEN.replace("WHERE", where), "RW305", rows=rows, declare='kind = "format"')
    assert [f.check for f in findings] == ["RW305"] * found
    if found:
        assert "takes what a completion lacks from its prompt" in findings[0].message


def test_attribute_that_does_not_exist_is_told_on_right_samples(check):
    source = """
    def reward(completions, answer, **kwargs):
        out = []
        for c, a in zip(completions, answer):
            try:
                out.append(float(f">{a}<" in c[-1]["content"] and a.value > 0))
            except AttributeError:
                out.append(0.5)
        return out
    """
    [finding] = check(source, "RW126")
    assert "AttributeError: 'str' object has no attribute 'value'" in finding.message


def test_json_of_another_sort_is_tried(check):
    source = """
    import json

    def reward(completions, **kwargs):
        out = []
        for c in completions:
            try:
                value = json.loads(c[-1]["content"])
            except ValueError:
                out.append(0.0)
                continue
            out.append(float(value.get("n") == 1))
        return out
    """
    rows = [
        {
            "prompt": [{"role": "user", "content": "JSON, please."}],
            "completion": [{"role": "assistant", "content": text}],
        }
        for text in ('{"n": 1}', '{"n": 2}', "no")
    ]
    [finding] = check(source, "RW110", rows=rows)
    assert "has no attribute 'get'" in finding.message
