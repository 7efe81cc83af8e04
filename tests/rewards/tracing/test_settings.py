"""Numbers that stand in the code: shared by several places, chosen by tests, held against as limits."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from rewards.contract import Batch
from rewards.rewardset import RewardSet
from rewards.tracing import Explainer, RewardExplanation

TEXTS = ["<think> 42", "<think> 7", "42", "7"]


def explained(tmp_path: Path, source: str, row: int, texts: list[str] = TEXTS) -> RewardExplanation:
    (tmp_path / "r.py").write_text(source)
    explainer = Explainer(functools.partial(RewardSet.load, tmp_path / "r.py"))
    batch = Batch(["p"] * len(texts), texts, columns={"answer": ["42"] * len(texts)})
    return explainer.explain("reward", batch, row)


def paid(explanation: RewardExplanation) -> list[tuple[float, str | None]]:
    return [(one.points, one.condition) for one in explanation.credits]


SHARED = {
    "a constant": "BONUS = 0.5\ndef thinks(t):\n    if '<think>' in t:\n        return BONUS\n    return 0.0\n",
    "a default": "BONUS = 0.5\ndef thinks(t, bonus=BONUS):\n    return bonus if '<think>' in t else 0.0\n",
    "a table": "BONUS = {'x': 0.5}['x']\ndef thinks(t):\n    return float(BONUS) if '<think>' in t else 0.0\n",
}


@pytest.mark.parametrize("source", SHARED.values(), ids=SHARED)
def test_a_number_that_two_places_share_is_told_by_the_test_of_each(tmp_path: Path, source: str) -> None:
    source += """
def reward(completions, answer, **_):
    scores = []
    for t, a in zip(completions, answer):
        s = 0.0
        s += thinks(t)
        if a in t:
            s += BONUS
        scores.append(s)
    return scores
"""
    assert [condition for _, condition in paid(explained(tmp_path, source, 0))] == [
        "'<think>' in t",
        "a in t",
    ]
    assert (0.5, "a in t") in paid(explained(tmp_path, source, 2))


@pytest.mark.parametrize(
    "last", ["r + 0.5 if '<think>' in t else r", "r if '<think>' in t or a in t else 0.0"]
)
def test_a_choice_around_a_decided_number_leaves_it_its_own_test(tmp_path: Path, last: str) -> None:
    source = f"""
def reward(completions, answer, **_):
    scores = []
    for t, a in zip(completions, answer):
        r = 1.0 if a in t else 0.0
        scores.append({last})
    return scores
"""
    assert paid(explained(tmp_path, source, 2)) == [(1.0, "a in t")]
    assert explained(tmp_path, source, 2).credits[0].spans == ((0, 2),)


LIMITS = {
    "a parameter": "def held(x, most=1.0):\n    return min(most, x)\n",
    "a setting": "MOST = {'most': 1.0}\ndef held(x):\n    return min(x, MOST['most'])\n",
    "a test": "def held(x, most=1.0):\n    if x > most:\n        x = most\n    return x\n",
    "a choice": "def held(x):\n    return x if x < 1.0 else 1.0\n",
}


@pytest.mark.parametrize("held", LIMITS.values(), ids=LIMITS)
def test_a_limit_leaves_the_parts_and_takes_what_is_too_much(tmp_path: Path, held: str) -> None:
    source = f"""{held}
def reward(completions, answer, **_):
    scores = []
    for t, a in zip(completions, answer):
        s = 0.0
        if '<think>' in t:
            s += 0.8
        if a in t:
            s += 0.7
        scores.append(held(s))
    return scores
"""
    explanation = explained(tmp_path, source, 0)
    assert [points for points, _ in paid(explanation)] == [0.8, 0.7, pytest.approx(-0.5)]
    assert explanation.exact
    assert [points for points, _ in paid(explained(tmp_path, source, 1))] == [0.8]


def test_a_floor_set_by_a_test_leaves_the_penalty_to_be_seen(tmp_path: Path) -> None:
    source = """
def reward(completions, **_):
    scores = []
    for t in completions:
        s = 0.0
        if '7' in t:
            s -= 0.4
        if s < 0:
            s = 0.0
        scores.append(s)
    return scores
"""
    assert paid(explained(tmp_path, source, 1)) == [(-0.4, "'7' in t"), (0.4, "s < 0")]


def test_the_greater_of_two_payments_is_no_limit(tmp_path: Path) -> None:
    source = """
def reward(completions, answer, **_):
    scores = []
    for t, a in zip(completions, answer):
        best = 0.0
        for points, word in ((0.25, '<think>'), (0.75, a)):
            if word in t:
                best = max(best, points)
        scores.append(best)
    return scores
"""
    assert paid(explained(tmp_path, source, 0)) == [(0.75, "word in t")]


def test_an_equal_score_alone_is_not_taken_for_the_same_reckoning(tmp_path: Path) -> None:
    source = """
def reward(completions, **_):
    mean = sum(len(t) for t in completions) / len(completions)
    return [1.0 if len(t) < mean else 0.0 for t in completions]
"""
    [credit] = explained(tmp_path, source, 0).credits
    assert credit.compared == ("10", "5.5")
