"""A dot that stops at the end of a line is named where it is why a completion earns less."""

import pytest

ROWS = [
    {"prompt": f"p{n // 2}", "completion": text, "label": label}
    for n, (text, label) in enumerate(
        [(f"<think>so {n}</think><answer>{n}</answer>", "right") for n in range(4)]
        + [(f"so {n}", "wrong") for n in range(4)]
    )
]
DECLARED = 'kind = "format"\nrange = [0.0, 1.0]'
FORMS = {
    "in a helper": """
import re
def has(pattern, text):
    return re.search(pattern, text) is not None
def reward(completions, **kwargs):
    texts = [c[-1]["content"] if isinstance(c, list) else c for c in completions]
    return [float(has("<think>.+</think>", t) and has("<answer>.+</answer>", t)) for t in texts]
""",
    "compiled at import": """
import re
LAYOUT = re.compile("<think>.+</think><answer>.+</answer>")
def reward(completions, **kwargs):
    texts = [c[-1]["content"] if isinstance(c, list) else c for c in completions]
    return [float(bool(LAYOUT.search(t))) for t in texts]
""",
    "put together": """
import re
def reward(completions, **kwargs):
    texts = [c[-1]["content"] if isinstance(c, list) else c for c in completions]
    pattern = "".join(f"<{tag}>.+?</{tag}>" for tag in ("think", "answer"))
    return [float(bool(re.match(pattern, t))) for t in texts]
""",
}


@pytest.mark.parametrize("where", FORMS)
def test_the_pattern_and_the_flag_are_named(check, where):
    [finding] = [
        f for f in check(FORMS[where], "RW402", rows=ROWS, declare=DECLARED) if f.at_least("warning")
    ]
    assert "is used without re.DOTALL, so its dot stops at the end of a line" in finding.advice
    assert "<think>" in finding.advice
    assert "re.DOTALL), this completion earns 1" in finding.advice


def test_a_pattern_that_misses_for_another_reason_is_not_blamed(check):
    source = """
import re
def reward(completions, **kwargs):
    texts = [c[-1]["content"] if isinstance(c, list) else c for c in completions]
    return [float(bool(re.match(r"<think>[^<\\n]+</think><answer>.+</answer>", t))) for t in texts]
"""
    found = [f for f in check(source, "RW402", rows=ROWS, declare=DECLARED) if f.at_least("warning")]
    assert found
    assert all("re.DOTALL" not in f.advice for f in found)


def test_right_completion_without_a_place_for_the_answer_is_told_as_a_whole(check):
    [finding] = check(FORMS["in a helper"], "RW402", rows=ROWS, declare=DECLARED)
    assert (
        "refuses right completions because of how they are written: a right sample with line breaks inside <think> "
        "earns 0 instead of 1"
    ) in finding.message


LISTS = [
    {"prompt": f"p{n}", "completion": f"Items: {text}", "items": items, "label": label}
    for n, items in enumerate((["a", "e"], ["x", "y", "z"]))
    for text, label in ((", ".join(items), "right"), ("zebra", "wrong"))
]


def test_flag_that_raises_the_score_and_does_not_reach_the_expected_one_is_not_advised(check):
    source = """
import re
def reward(completions, items, **kwargs):
    found = [re.search(r"Items:\\s*(.*)", c) for c in completions]
    said = [re.split(r"[,\\n]\\s*|: ", m[1]) if m else [""] for m in found]
    return [sum(s in i for s in one) / len(one) for one, i in zip(said, items)]
"""
    [finding] = check(source, "RW406", rows=LISTS, declare='kind = "correctness"')
    assert finding.evidence.got == 0
    assert "re.DOTALL" not in finding.advice


def test_flag_by_which_a_sample_labelled_right_would_lose_is_not_advised(check):
    source = """
import re
def reward(completions, **kwargs):
    texts = [c[-1]["content"] if isinstance(c, list) else c for c in completions]
    return [float(bool(re.search("<think>.+</think>", t) and not re.search("note.+note", t))) for t in texts]
"""
    found = check(source, "RW402", rows=ROWS, declare=DECLARED)
    assert ["re.DOTALL" in f.advice for f in found] == [True]
    notes = {"prompt": "p0", "completion": "<think>so</think>note\nnote<answer>0</answer>", "label": "right"}
    found = check(source, "RW402", rows=[*ROWS, notes], declare=DECLARED)
    assert ["re.DOTALL" in f.advice for f in found] == [False]
