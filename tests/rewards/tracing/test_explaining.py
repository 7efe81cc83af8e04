"""What an explanation says of a row: the score that counts, alone or among its neighbours, exact or not."""

from __future__ import annotations

import functools
import inspect
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from rewards.contract import Batch
from rewards.library import json_fields
from rewards.rewardset import RewardSet
from rewards.tracing import Explainer, RewardExplanation, explain_row
from rewards.tracing.attribution import Part
from rewards.tracing.explanation import _limit
from rewards.tracing.recorder import recording
from rewards.tracing.state import STATE

TEXTS = ["<think>a</think><answer>42</answer>", "nothing here", "<answer>7</answer>", ""]


def batch(texts: list[str] | None = None, **columns: list[Any]) -> Batch:
    texts = TEXTS if texts is None else texts
    completions = [[{"role": "assistant", "content": text}] for text in texts]
    return Batch([[]] * len(texts), completions, columns=columns, groups=["g"] * len(texts))


def explain(
    folder: Path, source: str, row: int = 0, name: str = "reward", rows: Batch | None = None
) -> RewardExplanation:
    file = folder / "r.py"
    file.write_text(source)
    return explain_row(functools.partial(RewardSet.load, file), name, rows or batch(), row)


def points(explanation: RewardExplanation) -> list[tuple[str, float]]:
    return [(credit.name, credit.points) for credit in explanation.credits]


GUIDE = """
import re


def correctness(completions, answer, **kwargs):
    return [2.0 if (m := re.search(r"<answer>(.*?)</answer>", c[0]["content"], re.DOTALL)) and m.group(1).strip() == a
            else 0.0 for c, a in zip(completions, answer)]


def format(completions, **kwargs):
    pattern = r"^<think>.*?</think>\\s*<answer>.*?</answer>$"
    return [1.0 if re.match(pattern, c[0]["content"], re.DOTALL) else 0.0 for c in completions]


def incremental(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        score = 0.0
        for tag in ("<think>", "</think>", "<answer>", "</answer>"):
            if tag in text:
                score += 0.25
        if "</answer>" in text:
            score -= len(text.split("</answer>")[-1]) * 0.001
        rewards.append(score)
    return rewards
"""


@pytest.mark.guide("G7")
@pytest.mark.parametrize("name", ["correctness", "format", "incremental"])
@pytest.mark.parametrize("row", range(5))
def test_the_three_rewards_of_the_guide_add_up(tmp_path: Path, name: str, row: int) -> None:
    rows = batch(
        [*TEXTS, "<think>a</think>\n<answer>1</answer> and so on"], answer=["42", "42", "7", "", "1"]
    )
    explanation = explain(tmp_path, GUIDE, row, name, rows)
    assert explanation.exact
    assert sum(credit.points for credit in explanation.credits) == pytest.approx(explanation.score, abs=1e-9)


@pytest.mark.guide("G7")
def test_json_has_the_fields_of_the_documented_format(tmp_path: Path) -> None:
    values = explain(tmp_path, GUIDE, 0, "incremental").to_json()
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert list(values)[:5] == ["name", "score", "credits", "lines", "exact"]
    assert values["credits"][0] == {
        "name": "<think>", "points": 0.25, "of": 0.25, "line": 22, "condition": "tag in text", "value": True,
        "spans": [[0, 7]],
    }  # fmt: skip
    assert {"line": 22, "hits": 4, "values": {"score": "1.0"}} in values["lines"]


def test_json_can_be_read_back(tmp_path: Path) -> None:
    for row in range(4):
        explanation = explain(tmp_path, GUIDE, row, "incremental")
        assert RewardExplanation.from_json(explanation.to_json()) == explanation


def test_a_row_that_depends_on_its_neighbours_is_explained_among_them(tmp_path: Path) -> None:
    source = """
def reward(completions, **kwargs):
    longest = max(len(c[0]["content"]) for c in completions)
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        rewards.append(1.0 if len(text) == longest else 0.25 if "<answer>" in text else 0.0)
    return rewards
"""
    explanation = explain(tmp_path, source, 2)
    assert not explanation.alone
    assert points(explanation) == [("<answer>", 0.25)]
    assert explanation.exact
    assert "depends on the other rows" in explanation.notes[0]


def test_state_between_calls_does_not_change_the_score_shown(tmp_path: Path) -> None:
    source = """
SEEN = []


def reward(completions, **kwargs):
    rewards = []
    for completion in completions:
        SEEN.append(1)
        rewards.append(float(len(SEEN)))
    return rewards
"""
    explanation = explain(tmp_path, source, 3)
    assert explanation.score == 4.0
    assert explanation.exact


def test_a_row_that_raises_shows_the_error_and_the_lines_that_ran(tmp_path: Path) -> None:
    source = """
def reward(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"]
        rewards.append(1.0 / len(text))
    return rewards
"""
    explanation = explain(tmp_path, source, 3)
    assert explanation.score is None
    assert explanation.error == "ZeroDivisionError: float division by zero (r.py:6)"
    assert [line.line for line in explanation.lines] == [3, 4, 5, 6]
    assert not explanation.exact
    assert explain(tmp_path, source, 0).exact


def test_a_row_the_reward_abstains_on_has_no_credits(tmp_path: Path) -> None:
    explanation = explain(
        tmp_path, "def reward(completions, **kwargs):\n    return [None for _ in completions]\n"
    )
    assert (explanation.score, explanation.credits, explanation.exact) == (None, (), True)


def test_infinite_and_undefined_scores_are_text(tmp_path: Path) -> None:
    source = 'def reward(completions, **kwargs):\n    return [float("inf"), float("nan"), float("-inf"), 1]\n'
    assert [explain(tmp_path, source, row).score for row in range(4)] == ["inf", "nan", "-inf", 1.0]


def test_named_credits_come_out_under_their_own_names(tmp_path: Path) -> None:
    source = """
import re

from rewards import credit


def reward(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = completion[0]["content"].strip()
        score = credit("opening", 0.25 if "<answer>" in text else 0.0, of=0.25, span=re.search("<answer>", text))
        if "42" in text:
            score += credit("the answer", 2.0, of=2.0, note="as it should be")
        score += 0.1
        rewards.append(score)
    return rewards
"""
    explanation = explain(tmp_path, source)
    assert points(explanation) == [("opening", 0.25), ("the answer", 2.0), ("line 14", 0.1)]
    opening, answer, _ = explanation.credits
    assert (opening.of, opening.spans, opening.line) == (0.25, ((16, 24),), 11)
    assert (answer.condition, answer.note, answer.line) == ('"42" in text', "as it should be", 13)


def test_a_helper_in_another_file_is_shown_at_the_call(tmp_path: Path) -> None:
    (tmp_path / "helpers_of_tracing.py").write_text(
        'def points(text):\n    if "<answer>" in text:\n        return 0.5\n    return 0.0\n'
    )
    source = """
from helpers_of_tracing import points


def reward(completions, **kwargs):
    return [points(c[0]["content"]) for c in completions]
"""
    explanation = explain(tmp_path, source)
    (only,) = explanation.credits
    assert (only.points, only.line, only.place) == (0.5, 6, "helpers_of_tracing.py:3")
    assert (only.condition, only.spans) == ('"<answer>" in text', ((16, 24),))


def test_what_would_have_paid_is_listed_apart(tmp_path: Path) -> None:
    explanation = explain(tmp_path, GUIDE, 2, "incremental")
    assert [(missed.name, missed.of, missed.points) for missed in explanation.missed] == [
        ("<think>", 0.25, 0.0),
        ("</think>", 0.25, 0.0),
    ]


def test_both_sides_of_a_comparison_are_shown(tmp_path: Path) -> None:
    source = """
def reward(completions, answer, **kwargs):
    return [1.0 if c[0]["content"].strip("<answer>/") == a else 0.0 for c, a in zip(completions, answer)]
"""
    explanation = explain(tmp_path, source, 2, rows=batch(answer=["", "", "8", ""]))
    assert explanation.credits[0].compared == ("'7'", "'8'")


def test_the_reward_may_change_what_it_is_given(tmp_path: Path) -> None:
    source = """
def reward(completions, **kwargs):
    rewards = []
    for completion in completions:
        rewards.append(1.0 if "<think>" in completion[0]["content"] else 0.0)
        completion[0]["content"] = completion[0]["content"].replace("<think>", "")
    return rewards
"""
    rows = batch()
    assert explain(tmp_path, source, 0, rows=rows).score == 1.0
    assert rows.completions[0][0]["content"] == TEXTS[0]


def test_spans_count_characters_not_bytes(tmp_path: Path) -> None:
    source = 'def reward(completions, **kwargs):\n    return [float("é" in c[0]["content"]) for c in completions]\n'
    assert explain(tmp_path, source, rows=batch(["日本𝄞é"])).credits[0].spans == ((3, 4),)


def test_text_found_by_searching_is_called_approximate(tmp_path: Path) -> None:
    source = """
import base64
import re


def reward(completions, **kwargs):
    rewards = []
    for completion in completions:
        text = base64.b64decode(base64.b64encode(completion[0]["content"][2:].encode())).decode()
        rewards.append(1.0 if re.search("an+swer", text) else 0.0)
    return rewards
"""
    (only,) = explain(tmp_path, source, 2).credits
    assert (only.spans, only.approximate) == (((11, 17),), True)


def test_thousands_of_small_amounts_are_one_credit(tmp_path: Path) -> None:
    source = """
def reward(completions, **kwargs):
    rewards = []
    for completion in completions:
        score = 1.0
        for letter in completion[0]["content"]:
            if letter == "x":
                score -= 0.001
        rewards.append(score)
    return rewards
"""
    explanation = explain(tmp_path, source, rows=batch(["ax" * 400]))
    assert [credit.points for credit in explanation.credits] == [1.0, pytest.approx(-0.4)]
    assert explanation.credits[1].note == "400 times"
    assert explanation.exact


def test_the_most_a_penalty_takes_is_never_less_than_it_took() -> None:
    part = Part(-0.039, "lump", cast("Any", None), None, of=-0.017)
    assert _limit(part) is None
    assert [_limit(replace(part, of=of)) for of in (-0.5, -0.039, None, 1.0)] == [-0.5, -0.039, None, 1.0]


def test_a_function_that_lists_its_own_variables_is_left_alone_and_never_exact(tmp_path: Path) -> None:
    source = "def reward(completions, **kwargs):\n    return [float(len(locals())) for _ in completions]\n"
    explanation = explain(tmp_path, source)
    assert (explanation.score, explanation.exact, explanation.credits) == (2.0, False, ())
    assert explanation.notes[0].startswith("the score came by a way that is not followed")


def test_too_many_steps_are_admitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewards.tracing.recorder.STEPS", 50)
    source = """
def reward(completions, **kwargs):
    rewards = []
    for completion in completions:
        score = 0.0
        for _ in range(100):
            score += 0.01
        rewards.append(score)
    return rewards
"""
    explanation = explain(tmp_path, source)
    assert not explanation.exact
    assert "too many steps to follow: values were followed only at the beginning" in explanation.notes
    assert explanation.lines


def test_nothing_of_a_recording_outlives_it(tmp_path: Path) -> None:
    file = tmp_path / "r.py"
    file.write_text(GUIDE)
    explainer = Explainer(functools.partial(RewardSet.load, file))
    explainer.explain("incremental", batch(), 0)
    with recording():
        pass
    assert not STATE.by_identity
    assert not STATE.items


@pytest.mark.parametrize("seed", range(3))
def test_a_reward_with_fixed_dice_is_exact(tmp_path: Path, seed: int) -> None:
    source = f"""
import random


def reward(completions, **kwargs):
    dice = random.Random({seed})
    return [dice.random() if "<answer>" in c[0]["content"] else 0.0 for c in completions]
"""
    explanation = explain(tmp_path, source, 2)
    assert explanation.exact


def test_a_reward_of_an_installed_package_is_explained_from_its_own_code() -> None:
    rows = batch(["<reasoning>3 + 4</reasoning><answer>7</answer> Bye"])
    load = functools.partial(RewardSet.load, "rewards.library.incremental:incremental_format")
    explanation = explain_row(load, "incremental_format", rows, 0)
    assert points(explanation) == [
        ("<reasoning>", 0.25),
        ("</reasoning>", 0.25),
        ("<answer>", 0.25),
        ("</answer>", 0.25),
        ("text after the last tag", -0.003),
    ]
    assert explanation.exact
    assert explanation.lines


def test_named_credits_of_called_library_rewards_come_through(tmp_path: Path) -> None:
    source = """
from rewards.library.incremental import incremental_format


def reward(completions, **kwargs):
    return incremental_format(completions)
"""
    explanation = explain(tmp_path, source, rows=batch(["<reasoning>x</reasoning>", "<answer>"]))
    assert points(explanation) == [
        ("<reasoning>", 0.25),
        ("</reasoning>", 0.25),
        ("<answer>", 0.0),
        ("</answer>", 0.0),
    ]
    assert explanation.exact
    first = explanation.credits[0]
    assert (first.of, first.spans, first.line) == (0.25, ((0, 11),), None)
    assert first.place is not None
    assert first.place.startswith("incremental.py:")


def test_a_member_that_the_package_offers_shows_the_lines_of_the_file_that_defines_it() -> None:
    load = functools.partial(RewardSet.load, "rewards.library:json_fields")
    rows = batch(['{"a": 1, "b": 2}'], answer=['{"a": 1, "b": 3}'])
    explanation = explain_row(load, "json_fields", rows, 0)
    assert points(explanation) == [("a", 0.5), ("b", 0.0)]
    file = Path(inspect.getfile(inspect.unwrap(json_fields)))
    lines = file.read_text("utf-8").splitlines()
    assert all("credit(" in lines[(one.line or 0) - 1] for one in explanation.credits)
    assert {one.line for one in explanation.credits} <= {line.line for line in explanation.lines}


def test_rows_of_one_whole_call_are_read_from_one_recording(tmp_path: Path) -> None:
    source = """
CALLS = []


def reward(completions, **kwargs):
    CALLS.append(len(completions))
    longest = max(len(c[0]["content"]) for c in completions)
    return [len(c[0]["content"]) / longest + len(CALLS) - 1.0 for c in completions]
"""
    file = tmp_path / "r.py"
    file.write_text(source)
    explainer = Explainer(functools.partial(RewardSet.load, file))
    rows = batch()
    explanations = [explainer.explain("reward", rows, row) for row in range(len(rows))]
    assert [one.exact for one in explanations] == [True] * 4
    assert not any(one.alone for one in explanations)  # nor the longest, which gets the same score alone


# --------------------------------------------------------------------- prompts a reward does not apply to, dice

ANSWERED = """
from rewards import reward

@reward(when={"task": "maths"})
def reward_(completions, **kwargs):
    best = max(len(c[0]["content"]) for c in completions)
    return [1.0 if "<answer>" in c[0]["content"] else len(c[0]["content"]) / best for c in completions]
"""


def test_a_row_that_when_leaves_out_abstains_as_in_score(tmp_path: Path) -> None:
    rows = batch(task=["code", "maths", "maths", "maths"])
    left_out = explain(tmp_path, ANSWERED, 0, "reward_", rows)
    assert (left_out.score, left_out.credits, left_out.exact) == (None, (), True)
    assert left_out.notes == ("abstains: it applies where task = 'maths'",)
    assert explain(tmp_path, ANSWERED, 1, "reward_", rows).score == 12 / 18  # the longest row is left out


def test_scores_of_a_call_abstain_where_when_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "r.py").write_text(ANSWERED)
    explainer = Explainer(functools.partial(RewardSet.load, tmp_path / "r.py"))
    scores = explainer.scores("reward_", batch(task=["maths", "code", "maths", "maths"])).scores
    assert [score if score == score else None for score in scores.tolist()] == [1.0, None, 1.0, 0.0]


def test_the_score_is_shown_to_its_last_digit(tmp_path: Path) -> None:
    source = "def reward(completions, **_):\n    return [1 / 42 for _ in completions]\n"
    values = explain(tmp_path, source).to_json()
    assert values["score"] == values["credits"][0]["points"] == 1 / 42


DICE = """
import random
{setup}
def reward(completions, **kwargs):
    rewards = []
    for completion in completions:
        score = 0.0
        if {draw} < 0.5:
            score += 0.5
        else:
            score += 1.0
        rewards.append(score)
    return rewards
"""


@pytest.mark.parametrize("row", range(8))
@pytest.mark.parametrize(
    ("setup", "draw"), [("", "random.random()"), ("import numpy as np", "np.random.uniform()")]
)
def test_a_reward_that_rolls_dice_is_recorded_with_the_same_throws(
    tmp_path: Path, setup: str, draw: str, row: int
) -> None:
    explanation = explain(tmp_path, DICE.format(setup=setup, draw=draw), row, rows=batch(["a"] * 8))
    [credit] = explanation.credits
    assert (explanation.exact, credit.points) == (True, explanation.score)
    assert credit.value is (credit.points == 0.5)


@pytest.mark.parametrize("row", range(4))
def test_no_credits_of_another_call_are_shown(tmp_path: Path, row: int) -> None:
    source = (
        DICE.format(setup="DICE = random.SystemRandom()", draw="DICE.random() + 1e-9")
        .replace("score += 1.0", "score += 1.0 + DICE.random()")
        .replace("score += 0.5", "score += DICE.random()")
    )
    explanation = explain(tmp_path, source, row, rows=batch(["a"] * 8))
    assert (explanation.credits, explanation.exact) == ((), False)
    assert "no recorded call gave this score" in explanation.notes[0]
    assert explanation.lines


def test_what_is_declared_as_not_deterministic_is_never_exact(tmp_path: Path) -> None:
    source = "from rewards import reward\n@reward(deterministic=False)\n" + GUIDE.partition(
        "def incremental"
    )[2].join(["def incremental", ""])
    explanation = explain(tmp_path, source, 0, "incremental")
    assert (explanation.score, explanation.exact) == (0.999 + 0.001, False)
    assert len(explanation.credits) == 4


# ------------------------------------------------------------------------------- functions that functions made

PACKAGE = """
def bonus(text):
    return 0.25 if "<answer>" in text else 0.0


def make(weight):
    def helper(text):
        return weight if "<think>" in text else 0.0

    def made(completions, **kwargs):
        return [bonus(c[0]["content"]) + helper(c[0]["content"]) for c in completions]

    return made


class Tag:
    def __init__(self, tag):
        self.tag = tag

    def __call__(self, completions, **kwargs):
        return [1.0 if self.tag in c[0]["content"] else 0.0 for c in completions]
"""


def test_what_a_package_makes_is_explained_from_its_own_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "made_elsewhere"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(package.parent))
    source = "from made_elsewhere import Tag, make\nclosure = make(0.5)\ntag = Tag('<think>')\n"
    made = explain(tmp_path, source, name="closure")
    assert [(credit.points, credit.condition) for credit in made.credits] == [
        (0.25, '"<answer>" in text'),
        (0.5, '"<think>" in text'),
    ]
    [tag] = explain(tmp_path, source, name="tag").credits
    assert (tag.points, tag.condition, tag.place) == (1.0, 'self.tag in c[0]["content"]', "__init__.py:21")
    assert made.exact


def test_what_no_code_explains_is_never_exact(tmp_path: Path) -> None:
    code = "def reward(completions, **_):\n    return len(completions) * [0.5]\n"
    source = f"space = {{}}\nexec({code!r}, space)\nreward = space['reward']\n"
    explanation = explain(tmp_path, source)
    assert (explanation.score, explanation.exact, explanation.credits) == (0.5, False, ())
