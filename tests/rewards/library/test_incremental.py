"""Incremental format: a share for each tag in its place, and no way to farm it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.library import incremental_format

PARTS = ("<reasoning>", "3+4", "</reasoning>", "<answer>", "7", "</answer>")
TAGS = (0, 2, 3, 5)


def score(text: str) -> float:
    value = incremental_format([text])[0]
    assert value is not None
    return value


def joined(kept: set[int]) -> str:
    return "".join(part for place, part in enumerate(PARTS) if place in kept or place not in TAGS)


@pytest.mark.guide("G7")
def test_each_tag_adds_a_quarter() -> None:
    text = ""
    seen = []
    for part in PARTS:
        text += part
        seen.append(score(text))
    assert seen == [0.25, 0.25, 0.5, 0.75, 0.75, 1.0]


def test_each_character_after_the_end_costs_a_thousandth_up_to_the_share_of_the_tag() -> None:
    whole = "".join(PARTS)
    assert score(whole + "x" * 10) == pytest.approx(0.99)
    assert score(whole + " \n\n") == 1.0
    assert score(whole + "x" * 100_000) == 0.75


@given(st.sets(st.sampled_from(TAGS)), st.sampled_from(TAGS))
def test_adding_a_missing_tag_in_its_place_never_lowers_the_score(kept: set[int], added: int) -> None:
    assert score(joined(kept | {added})) >= score(joined(kept - {added}))


@given(st.sets(st.sampled_from(TAGS)), st.sampled_from(TAGS), st.integers(1, 8), st.integers(0, 6))
def test_repeating_a_tag_never_pays(kept: set[int], tag: int, times: int, place: int) -> None:
    pieces = [part for i, part in enumerate(PARTS) if i in kept | {tag} or i not in TAGS]
    pieces[min(place, len(pieces)) :] = [PARTS[tag]] * times + pieces[min(place, len(pieces)) :]
    assert score("".join(pieces)) <= score(joined(kept | {tag}))


@given(st.integers(0, 80))
def test_a_text_cut_short_never_scores_above_the_whole(length: int) -> None:
    whole = "<reasoning>first three, then four</reasoning>\n<answer>seven</answer>"
    assert score(whole[:length]) <= score(whole)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<answer>7</answer><reasoning>3</reasoning>", 0.5),
        ("<reasoning></reasoning><answer></answer>", 0.5),
        ("</reasoning></answer>", 0.0),
        ("<reasoning>a</answer>", 0.25),
        ("<reasoning><answer>x</answer></reasoning>", 0.5),
        ("<answer><answer><answer>7", 0.0),
        ("", 0.0),
    ],
)
def test_order_and_content_matter(text: str, expected: float) -> None:
    assert score(text) == expected


def test_a_data_column_named_tags_changes_nothing() -> None:
    text = "".join(PARTS)
    assert incremental_format([text, text], tags=[["a"], ["b"]]) == [1.0, 1.0]


def test_the_shares_follow_the_number_of_blocks() -> None:
    assert incremental_format(["<answer>7</answer>"], tag_names=["answer"]) == [1.0]
    assert incremental_format(["<a>1"], tag_names=["a", "b", "c", "d"]) == [0.125]


def test_blocks_may_be_worth_different_shares() -> None:
    texts = ["<think>a</think><answer>b</answer>", "<answer>b</answer>", "<think>a</think>"]
    scores = incremental_format(texts, tag_names=["think", "answer"], block_shares=[1, 3])
    assert scores == [1.0, 0.75, 0.25]


@pytest.mark.parametrize("shares", [[1], [1, 0], [1, -1], [1, float("nan")], "ab", [[1], [1]], None])
def test_shares_that_are_none_are_refused(shares: object) -> None:
    with pytest.raises(ValueError, match="reward 'incremental_format': block_shares="):
        incremental_format(["x"], block_shares=shares)
