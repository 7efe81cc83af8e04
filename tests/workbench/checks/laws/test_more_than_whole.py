"""Damaged right samples: a part earns no more than the whole."""

import pytest

BLOCKS = [
    ("<plan>Say when.</plan>\n<reply>Come at four.</reply>", "right"),
    ("<plan>Be brief.</plan>\n<reply>I am ill.</reply>", "right"),
    ("Come at four.", "wrong"),
    ("Say when. Come.", "wrong"),
]


def rows():
    return [
        {
            "prompt": [{"role": "user", "content": f"Write number {place // 2}."}],
            "completion": [{"role": "assistant", "content": text}],
            "label": label,
        }
        for place, (text, label) in enumerate(BLOCKS[0:1] + BLOCKS[2:3] + BLOCKS[1:2] + BLOCKS[3:4])
    ]


LAYOUT = """
import re

def reward(completions, **kwargs):
    pattern = r"<plan>[^<]+</plan>\\s*<reply>[^<]+</reply>"
    return [float(bool(re.fullmatch(pattern, c[-1]["content"].strip()))) for c in completions]
"""

DECLARED = 'kind = "format"\nrange = [0.0, 1.0]'


def test_a_sound_layout_reward_is_left_alone(check):
    assert check(LAYOUT, "RW209 RW21", rows=rows(), declare=DECLARED) == []


def test_a_right_sample_without_a_tag_earns_more(check):
    source = """
    def reward(completions, **kwargs):
        scores = []
        for c in completions:
            text = c[-1]["content"]
            paid = "<reply>" in text
            scores.append((0.5 if "<plan>" in text else 1.0) if paid else 0.0)
        return scores
    """
    [finding] = check(source, "RW209", rows=rows(), declare=DECLARED)
    assert "the right sample without its plan block" in finding.message
    assert finding.evidence.got == 1.0
    assert finding.evidence.expected == "at most 0.5"


def test_a_cut_right_sample_earns_more(check):
    source = """
    def reward(completions, **kwargs):
        return [1.5 - len(c[-1]["content"]) / 100 if "<plan>" in c[-1]["content"] else 0.0 for c in completions]
    """
    [finding] = check(source, "RW211", rows=rows(), declare=DECLARED)
    assert finding.check == "RW211"
    assert finding.evidence.got > 1.0


def test_a_damaged_right_sample_is_found_and_made_small(check):
    source = """
    def reward(completions, **kwargs):
        return [0.1 * c[-1]["content"].count("<") for c in completions]
    """
    [finding] = check(source, "RW212", rows=rows(), declare='kind = "format"')
    [message] = finding.evidence.completion
    assert message["content"].count("<") == 5
    assert len(message["content"]) < 80
    assert "(seed 0)" in finding.advice


def test_repetition_without_end_is_told(check):
    source = """
    def reward(completions, **kwargs):
        return [len(c[-1]["content"].split()) / 100 for c in completions]
    """
    [finding] = check(source, "RW210", labels=False)
    assert finding.message.startswith("reward pays repetition: a sample that earns 0.04 earns ")
    assert finding.evidence.completion[0]["content"].count("\n") >= 1


@pytest.mark.parametrize(("paid", "found"), [("words / 50", True), ("words >= 3", False)])
def test_repetition_inside_a_block_is_told_where_the_layout_refuses_two(check, paid, found):
    source = f"""
    import re

    def reward(completions, **kwargs):
        scores = []
        for c in completions:
            m = re.fullmatch(r"<plan>([^<]+)</plan>\\s*<reply>[^<]+</reply>", c[-1]["content"])
            words = len(m.group(1).split()) if m else 0
            scores.append(min(1.0, {paid}) if m else 0.0)
        return scores
    """
    made = [{**row, "completion": [dict(row["completion"][0])]} for row in rows()]
    for row in made[::2]:
        content = row["completion"][0]["content"]
        row["completion"][0]["content"] = content.replace("</plan>", " Then go on.</plan>")
    findings = check(source, "RW210", rows=made)
    assert ["inside its <plan>" in f.message for f in findings] == [True] * found


def test_growth_up_to_a_target_is_no_repetition(check):
    source = """
    def reward(completions, **kwargs):
        return [min(1.0, len(c[-1]["content"].split()) / 100) for c in completions]
    """
    assert check(source, "RW210", labels=False) == []


def test_a_new_line_at_the_end_changes_nothing(check, healthy):
    assert check(healthy, "RW208") == []
    source = """
    def reward(completions, answer, **kwargs):
        return [float(c[-1]["content"].endswith(f"<answer>{a}</answer>")) for c, a in zip(completions, answer)]
    """
    [finding] = check(source, "RW208")
    assert (finding.check, finding.severity) == ("RW208", "warning")
    assert "with a new line at its end" in finding.message
    assert finding.evidence.expected == 1.0


def test_windows_line_ends_alone_are_a_note(check):
    source = """
    def reward(completions, answer, **kwargs):
        texts = [c[-1]["content"].strip() for c in completions]
        return [float("\\r" not in t and t.endswith(f"<answer>{a}</answer>")) for t, a in zip(texts, answer)]
    """
    made = [
        {
            "prompt": [{"role": "user", "content": f"What is {answer} plus 0?"}],
            "completion": [{"role": "assistant", "content": f"It is easy.\n<answer>{said}</answer>"}],
            "answer": answer,
            "label": "right" if said == answer else "wrong",
        }
        for answer in ("4", "21")
        for said in (answer, "7")
    ]
    [finding] = check(source, "RW208", rows=made)
    assert (finding.severity, "with Windows line ends" in finding.message) == ("info", True)
