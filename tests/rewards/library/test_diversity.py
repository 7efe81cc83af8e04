"""What the completions of a group share."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library import duplicate_penalty
from rewards.marks import mark_of

ONE = "first add three and four, then look at the sum, which is seven"
TWO = "counting up from four in three steps five six seven is where it ends"
TEXTS = st.lists(st.sampled_from([ONE, TWO, ONE + " indeed", "7", "8", ""]), min_size=1, max_size=6)


def test_a_copy_costs_both_and_the_different_one_nothing() -> None:
    assert duplicate_penalty([ONE, ONE.upper(), TWO]) == [-0.5, -0.5, 0.0]


def test_common_runs_of_words_cost_in_part() -> None:
    close, other = duplicate_penalty([ONE, ONE + " indeed"])
    assert close == other
    assert close is not None
    assert -1.0 < close < -0.5


def test_groups_are_told_by_their_prompts() -> None:
    chat = [{"role": "user", "content": "q"}]
    assert duplicate_penalty(["7", "7", "7"], prompts=["a", "b", "b"]) == [0.0, -1.0, -1.0]
    assert duplicate_penalty(["7", "7"], prompts=[chat, chat]) == [-1.0, -1.0]


def test_being_different_is_worth_nothing_in_a_wrong_answer() -> None:
    texts = ["A: 7", "so it comes to this.\nA: 7", "A: 8", "A: 9"]
    assert duplicate_penalty(texts, answer=["7"] * 4) == [0.0, 0.0, -1.0, -1.0]
    assert duplicate_penalty(texts, correct=[True, True, False, False]) == [0.0, 0.0, -1.0, -1.0]


@given(TEXTS)
def test_a_group_without_a_right_answer_has_no_spread(texts: list[str]) -> None:
    assert set(duplicate_penalty(texts, correct=[False] * len(texts))) == {-1.0}


@given(TEXTS, st.integers())
def test_the_order_of_a_group_does_not_matter_and_copies_score_alike(texts: list[str], seed: int) -> None:
    order = list(range(len(texts)))
    random.Random(seed).shuffle(order)
    straight = duplicate_penalty(texts)
    assert duplicate_penalty([texts[at] for at in order]) == pytest.approx([straight[at] for at in order])
    by_text: dict[str, set[float]] = {}
    for text, score in zip(texts, straight, strict=True):
        by_text.setdefault(text, set()).add(round(score or 0.0, 9))
    assert all(len(scores) == 1 for scores in by_text.values())


@given(TEXTS)
def test_one_more_copy_never_costs_less(texts: list[str]) -> None:
    before = duplicate_penalty(texts)[0]
    after = duplicate_penalty([*texts, texts[0]])[0]
    assert before is not None
    assert after is not None
    assert after <= before + 1e-9


def test_it_declares_that_it_compares_a_group() -> None:
    assert mark_of(duplicate_penalty)["scope"] == "group"


@pytest.mark.parametrize("options", [{"ngram_size": 0}, {"free_overlap": 1.0}, {"graded_by": "nobody"}])
def test_wrong_parameters_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="reward 'duplicate_penalty': "):
        duplicate_penalty(["x"], **options)
