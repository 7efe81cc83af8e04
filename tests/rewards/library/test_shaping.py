"""Gates, priorities, bounds, progress, and weights that move."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.contract import Batch, Status, call
from rewards.groups import advantages
from rewards.library import exact_match, ideal_length, incremental_format, max_length
from rewards.library.shaping import (
    clip,
    gate,
    lexicographic,
    potential_shaping,
    scale,
    weighted_sum,
)
from rewards.marks import mark_of, reward


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0))
def first(completions: list[Any], one: list[Any], **columns: Any) -> list[Any]:
    return one


@reward(kind="format", weight=0.5, range=(-1.0, 3.0))
def second(completions: list[Any], two: list[Any], **columns: Any) -> list[Any]:
    return two


def bare(completions: list[Any], two: list[Any], **columns: Any) -> list[Any]:
    return two


def pair(shaped: Any, one: Any, two: Any) -> Any:
    return shaped(["x"], one=[one], two=[two])[0]


# ------------------------------------------------------------------------------------------- gate


def test_a_bonus_is_paid_only_where_the_gate_is_earned() -> None:
    assert pair(gate(second, by=first), 1.0, 3.0) == 3.0
    assert pair(gate(bare, by=first), 0.99, 3.0) == 0.0


def test_shares_that_add_up_to_one_open_the_gate() -> None:
    assert pair(gate(second, by=first), 0.1 + 0.2 + 0.7, 2.0) == 2.0


def test_failing_never_pays_better_than_passing() -> None:
    assert pair(gate(second, by=first), 0.0, 3.0) == -1.0
    assert mark_of(gate(second, by=first))["range"] == (-1.0, 3.0)
    assert mark_of(gate(second, by=first, closed=-2))["range"] == (-2.0, 3.0)


def test_nobody_is_judged_where_the_gate_has_no_opinion() -> None:
    assert pair(gate(second, by=first), None, 3.0) is None
    assert pair(gate(second, by=first), float("nan"), 3.0) is None
    assert pair(gate(second, by=first), 1.0, None) is None
    assert pair(gate(second, by=first), 0.0, None) == -1.0


def test_a_gate_has_the_kind_and_weight_of_its_bonus() -> None:
    mark = mark_of(gate(second, by=first))
    assert (mark["kind"], mark["weight"]) == ("format", 0.5)
    assert mark_of(gate(max_length, by=exact_match))["abstains"]


def test_the_score_that_opens_can_be_set() -> None:
    assert pair(gate(bare, by=first, at_least=0.5), 0.6, 3.0) == 3.0
    with pytest.raises(ValueError, match=r"gate: at_least='1' \(str\) must be a finite number"):
        gate(bare, by=first, at_least="1")  # type: ignore[arg-type]


# --------------------------------------------------------------------------------- order of priority


@given(
    st.lists(st.tuples(st.sampled_from([0, 0.25, 0.5, 0.75, 1.0]), st.floats(-1, 3)), min_size=2, max_size=8)
)
def test_the_order_of_totals_is_the_lexicographic_one(rows: list[tuple[float, float]]) -> None:
    shaped = lexicographic(first, second, steps=0.25)
    scores = shaped(["x"] * len(rows), one=[one for one, _ in rows], two=[two for _, two in rows])
    for (a, score_a), (b, score_b) in itertools.combinations(zip(rows, scores, strict=True), 2):
        if a[0] != b[0]:
            assert (score_a > score_b) == (a[0] > b[0])
        elif abs(a[1] - b[1]) > 1e-6:
            assert (score_a > score_b) == (a[1] > b[1])


def test_a_step_is_worth_twice_what_all_the_later_ones_can_add() -> None:
    shaped = lexicographic(first, second, exact_match, steps=(0.25, 1.0))
    columns: dict[str, Any] = {"one": [0.5, 0.25, 0.25], "two": [-1.0, 3.0, -1.0], "answer": ["7"] * 3}
    better, worse, bottom = shaped(["8", "7", "8"], **columns)
    assert better > worse > bottom
    assert better - bottom == pytest.approx(2 * (worse - bottom))


def test_the_whole_lies_between_0_and_1() -> None:
    shaped = lexicographic(first, second)
    assert pair(shaped, 1.0, 3.0) == pytest.approx(1.0)
    assert pair(shaped, 0.0, -1.0) == pytest.approx(0.0)
    assert mark_of(shaped)["range"] == (0.0, 1.0)


def test_differences_below_a_step_do_not_decide() -> None:
    shaped = lexicographic(first, second)
    assert pair(shaped, 0.9, 0.0) == pair(shaped, 0.1, 0.0)
    assert pair(shaped, 0.9, 0.0) < pair(shaped, 0.1, 1.0)


def test_scores_beyond_the_declared_range_cannot_break_the_order() -> None:
    shaped = lexicographic(first, second)
    assert pair(shaped, 0.0, 1000.0) < pair(shaped, 1.0, -1000.0)


def test_without_the_first_there_is_no_opinion_and_without_a_later_one_there_is() -> None:
    shaped = lexicographic(first, second)
    assert pair(shaped, None, 1.0) is None
    assert pair(shaped, 1.0, None) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: lexicographic(first), "name at least two"),
        (lambda: lexicographic(first, second, steps=0), r"steps=0 must be in \(0, 1\]"),
        (lambda: lexicographic(first, second, steps=(1, 1)), r"one for each of the first 1 rewards"),
        (lambda: lexicographic(first, bare), r"'bare' declares no range; mark it"),
        (
            lambda: lexicographic(first, second, ranges=[None, (1, 1)]),
            r"'second' = \(1, 1\) must have its low end",
        ),
    ],
)
def test_an_order_that_cannot_be_kept_is_refused(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_a_range_can_be_given_for_a_reward_that_declares_none() -> None:
    assert pair(lexicographic(first, bare, ranges=[None, (0, 2)]), 0.0, 2.0) == pytest.approx(1 / 3)


# ------------------------------------------------------------------------------------- several as one


def test_a_sum_has_the_range_that_its_shares_give() -> None:
    shaped = weighted_sum(first, second, shares=(0.5, 0.25))
    assert pair(shaped, 1.0, 2.0) == 1.0
    assert mark_of(shaped)["range"] == (-0.25, 1.25)
    assert mark_of(shaped)["kind"] == "correctness"


def test_a_sum_has_an_opinion_where_its_first_reward_has_one() -> None:
    shaped = weighted_sum(first, second, shares=(0.5, 0.25))
    assert pair(shaped, None, 2.0) is None
    assert pair(shaped, 1.0, None) == 0.5


def test_a_sum_needs_as_many_shares_as_rewards() -> None:
    with pytest.raises(ValueError, match="2 rewards with 1 shares; two or more, and as many"):
        weighted_sum(first, second, shares=(1.0,))


# ----------------------------------------------------------------------------------- bounds and scales


def test_a_clipped_reward_stays_within_its_bounds() -> None:
    shaped = clip(second, -0.5, 0.5)
    assert [pair(shaped, 0, value) for value in (-1.0, 0.25, 3.0)] == [-0.5, 0.25, 0.5]
    assert mark_of(shaped)["range"] == (-0.5, 0.5)


def test_an_infinity_is_not_clipped_to_a_bound() -> None:
    batch = Batch(["p"], ["x"], columns={"two": [float("inf")]})
    assert call(clip(second, -0.5, 0.5), batch).status.tolist() == [Status.INFINITE]


def test_bounds_have_to_be_in_order() -> None:
    with pytest.raises(ValueError, match=r"clip: low, high = \(1, 0\) must have its low end below"):
        clip(second, 1, 0)


def test_a_scale_maps_range_to_range() -> None:
    shaped = scale(second)
    assert [pair(shaped, 0, value) for value in (-1.0, 1.0, 3.0)] == [0.0, 0.5, 1.0]
    assert [pair(scale(bare, (10, 20), of=(0, 1)), 0, value) for value in (0, 1)] == [10.0, 20.0]


def test_a_scale_can_turn_a_reward_round() -> None:
    shaped = scale(second, (1.0, 0.0))
    assert [pair(shaped, 0, value) for value in (-1.0, 3.0)] == [1.0, 0.0]
    assert mark_of(shaped)["range"] == (0.0, 1.0)


def test_a_scale_has_to_know_its_range_and_have_a_width() -> None:
    with pytest.raises(ValueError, match="scale: 'bare' declares no range"):
        scale(bare)
    with pytest.raises(ValueError, match=r"scale: to=\(1, 1\) has no width"):
        scale(second, (1, 1))


# ------------------------------------------------------------------------------------------- progress


def two_groups(shaped: Any, **settings: Any) -> Any:
    drafts = ["a b"] * 4 + ["a b c d e f"] * 4
    said = ["a", "a b c d", "a b c", "", "a b c d e", "a b", "a b c d", "a"]
    scores = call(
        shaped, Batch(["p"] * 8, said, columns={"draft": drafts}), params={"target_length": 4}
    ).scores
    groups = ["g"] * 4 + ["h"] * 4
    return advantages(scores[:, None], [1.0], groups, **settings)


def test_progress_is_measured_from_the_start() -> None:
    shaped = potential_shaping(ideal_length, start="draft")
    assert shaped(["a b c d"], draft=["a b"], target_length=4) == [0.5]
    assert mark_of(shaped)["range"] == (-1.0, 1.0)


@pytest.mark.parametrize("scale_rewards", ["group", "none"])
def test_inside_a_group_progress_trains_exactly_like_the_potential_itself(scale_rewards: str) -> None:
    """The honest note: the start is the same for all completions of a prompt and falls out of the advantages."""
    progress = two_groups(potential_shaping(ideal_length, start="draft"), scale_rewards=scale_rewards)
    assert np.allclose(progress, two_groups(ideal_length, scale_rewards=scale_rewards))
    assert np.abs(progress).max() > 0.3


def test_with_the_theorems_end_nothing_is_learnt_from_it() -> None:
    kept = potential_shaping(ideal_length, start="draft", end=0.0)
    assert np.allclose(two_groups(kept, scale_rewards="none"), 0.0)


def test_the_start_may_be_what_the_user_said_last() -> None:
    prompt = [
        {"role": "system", "content": "a b c d e f g h"},
        {"role": "user", "content": "a b"},
    ]
    shaped = potential_shaping(ideal_length, gamma=0.5)
    assert shaped(["a b c d"], prompts=[prompt], target_length=4) == [0.0]


def test_a_missing_start_is_told() -> None:
    with pytest.raises(TypeError, match="potential_shaping needs the column 'draft', which was not passed"):
        potential_shaping(ideal_length, start="draft")(["a"])


def test_a_potential_judges_one_text_and_gamma_is_a_discount() -> None:
    @reward(scope="group")
    def compared(completions: list[Any], **columns: Any) -> list[float]:
        return [0.0 for _ in completions]

    with pytest.raises(ValueError, match="'compared' compares completions"):
        potential_shaping(compared)
    with pytest.raises(ValueError, match=r"gamma=1\.5 must be in \(0, 1\]"):
        potential_shaping(ideal_length, gamma=1.5)


# --------------------------------------------------------------------------------------------- safe forms


def test_a_gated_bonus_never_lifts_a_wrong_completion_over_a_right_one() -> None:
    """Out of a group where the bonus alone would: the safe form beside the unsafe one."""
    batch = Batch(
        ["p"] * 2,
        ["<reasoning>1</reasoning><answer>8</answer>", "7"],
        columns={"answer": ["7", "7"]},
    )
    right = call(exact_match, batch).scores
    loose = right + 2 * call(incremental_format, batch).scores
    safe = right + 2 * call(gate(incremental_format, by=exact_match), batch).scores
    assert loose[0] > loose[1]
    assert safe[0] < safe[1]
