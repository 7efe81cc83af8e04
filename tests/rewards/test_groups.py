"""The arithmetic of groups against a plain definition, group by group, row by row."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.errors import UsageError
from rewards.groups import _advantages, _codes, added, advantages, group_statistics, ranked_by, totals

NAN = math.nan
INF = math.inf

quarters = st.integers(-8, 8).map(lambda number: number / 4)
cells = st.one_of(quarters, st.just(NAN))


@st.composite
def ragged(draw: st.DrawFn) -> tuple[list[list[float]], list[float], list[str]]:
    """Scores, weights and groups of any sizes, the rows of a group scattered."""
    rewards = draw(st.integers(1, 3))
    groups = draw(st.lists(st.sampled_from("abcde"), min_size=1, max_size=12))
    scores = [[draw(cells) for _ in range(rewards)] for _ in groups]
    return scores, [draw(st.sampled_from([-1.0, 0.0, 0.5, 2.0])) for _ in range(rewards)], groups


def plain_total(row: list[float], weights: list[float]) -> float:
    if all(math.isnan(score) for score in row):
        return NAN
    return sum(weight * score for weight, score in zip(weights, row, strict=True) if not math.isnan(score))


def mean_of(values: list[float]) -> float:
    present = [value for value in values if not math.isnan(value)]
    return statistics.fmean(present) if present else NAN


def spread_of(values: list[float]) -> float:
    present = [value for value in values if not math.isnan(value)]
    return statistics.stdev(present) if len(present) > 1 else NAN


def scaled(value: float, mean: float, spread: float) -> float:
    return (value - mean) / (spread + 1e-4)


def members(values: list[float], groups: list[str], group: str) -> list[float]:
    return [value for value, its in zip(values, groups, strict=True) if its == group]


def plain_sum_then_normalize(
    scores: list[list[float]], weights: list[float], groups: list[str], scale: str
) -> list[float]:
    rows = [plain_total(row, weights) for row in scores]
    result = []
    for value, group in zip(rows, groups, strict=True):
        own = members(rows, groups, group)
        spread = {"group": spread_of(own), "batch": spread_of(rows), "none": 1 - 1e-4}[scale]
        result.append(scaled(value, mean_of(own), spread))
    return [0.0 if math.isnan(value) else value for value in result]


def plain_normalize_then_sum(
    scores: list[list[float]], weights: list[float], groups: list[str]
) -> list[float]:
    columns = [list(column) for column in zip(*scores, strict=True)]
    sums = []
    for row, group in zip(scores, groups, strict=True):
        own = [members(column, groups, group) for column in columns]
        parts = [scaled(score, mean_of(o), spread_of(o)) for score, o in zip(row, own, strict=True)]
        none_scored = all(math.isnan(score) for score in row)
        sums.append(NAN if none_scored else plain_total([0.0, *parts], [0.0, *weights]))
    result = [scaled(value, mean_of(sums), spread_of(sums)) for value in sums]
    return [0.0 if math.isnan(value) else value for value in result]


@given(ragged())
def test_totals_are_the_plain_weighted_sums(case: tuple[list[list[float]], list[float], list[str]]) -> None:
    scores, weights, _ = case
    expected = [plain_total(row, weights) for row in scores]
    np.testing.assert_allclose(totals(scores, weights), expected, atol=1e-12)


@given(ragged(), st.sampled_from(["group", "batch", "none"]))
def test_advantages_of_ragged_groups_follow_the_definition(
    case: tuple[list[list[float]], list[float], list[str]], scale: str
) -> None:
    scores, weights, groups = case
    expected = plain_sum_then_normalize(scores, weights, groups, scale)
    got = advantages(scores, weights, groups, scale_rewards=scale)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


@given(ragged())
def test_normalize_then_sum_of_ragged_groups_follows_the_definition(
    case: tuple[list[list[float]], list[float], list[str]],
) -> None:
    scores, weights, groups = case
    expected = plain_normalize_then_sum(scores, weights, groups)
    codes, names = _codes(groups, len(scores))
    # In float64: where sums cancel, float32 leaves its rounding over 1e-4, in TRL as here.
    with np.errstate(all="ignore"):
        got = _advantages(
            np.array(scores), np.array(weights), codes, len(names), "normalize_then_sum", "group"
        )
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


@given(ragged())
def test_statistics_of_ragged_groups_follow_the_definition(
    case: tuple[list[list[float]], list[float], list[str]],
) -> None:
    scores, weights, groups = case
    rows = [plain_total(row, weights) for row in scores]
    seen = group_statistics(scores, weights, groups)
    assert seen.names == list(dict.fromkeys(groups))
    for name, size, mean, spread in zip(seen.names, seen.size, seen.mean, seen.spread, strict=True):
        own = members(rows, groups, str(name))
        assert size == len(own)
        assert mean == pytest.approx(mean_of(own), abs=1e-6, nan_ok=True)
        assert spread == pytest.approx(0.0 if size == 1 else spread_of(own), abs=1e-6, nan_ok=True)


@given(ragged(), st.randoms())
def test_the_order_of_the_rows_does_not_matter(
    case: tuple[list[list[float]], list[float], list[str]], random: np.random.Generator
) -> None:
    scores, weights, groups = case
    order = list(range(len(groups)))
    random.shuffle(order)
    straight = advantages(scores, weights, groups)
    mixed = advantages([scores[i] for i in order], weights, [groups[i] for i in order])
    np.testing.assert_allclose(mixed, straight[order], rtol=1e-6, atol=1e-7)


def test_an_abstaining_reward_counts_as_zero_in_its_row() -> None:
    scores = [[1.0, 1.0], [NAN, 1.0], [1.0, 1.0], [NAN, 1.0]]
    got = advantages(scores, [1.0, 1.0], ["p"] * 4)
    assert got.round(3).tolist() == [0.866, -0.866, 0.866, -0.866]


def test_under_normalize_then_sum_an_abstaining_reward_drops_out() -> None:
    scores = [[1.0, 1.0], [NAN, 1.0], [1.0, 1.0], [NAN, 1.0]]
    assert advantages(scores, [1.0, 1.0], ["p"] * 4, aggregation="normalize_then_sum").tolist() == [0.0] * 4


def test_a_row_on_which_all_abstain_has_no_total_and_no_advantage() -> None:
    scores = [[1.0, 0.0], [NAN, NAN], [0.0, 0.0]]
    assert math.isnan(totals(scores, [1.0, 1.0])[1])
    assert advantages(scores, [1.0, 1.0], ["p"] * 3).round(3).tolist() == [0.707, 0.0, -0.707]


def test_a_tiny_tie_breaker_gets_a_near_full_advantage() -> None:
    pairs = [[1.0], [1e-3], [1e-4]]
    got = [advantages([pair, [0.0]], [1.0], ["p", "p"])[0] for pair in pairs]
    assert [round(float(value), 2) for value in got] == [0.71, 0.62, 0.29]


def test_equal_totals_give_exactly_zero() -> None:
    scores = [[0.1, 0.7]] * 7
    for scale in ("group", "batch", "none"):
        assert advantages(scores, [0.3, 1.1], ["p"] * 7, scale_rewards=scale).tolist() == [0.0] * 7


def test_an_infinite_score_silences_its_group() -> None:
    scores = [[INF], [0.0], [1.0], [0.0]]
    assert advantages(scores, [1.0], ["p", "p", "q", "q"]).round(3).tolist() == [0.0, 0.0, 0.707, -0.707]


def test_an_infinite_score_of_weight_zero_counts_as_nothing() -> None:
    assert totals([[INF, 1.0]], [0.0, 1.0]).tolist() == [1.0]


def test_unscaled_an_infinite_score_becomes_the_largest_float32() -> None:
    got = advantages([[INF], [0.0]], [1.0], ["p", "p"], scale_rewards="none")
    assert got.tolist() == [0.0, -float(np.finfo(np.float32).max)]


def test_a_score_too_large_for_float32_is_infinite() -> None:
    assert totals([[1e39], [-1e39]], [1.0]).tolist() == [INF, -INF]


def test_what_float32_cannot_tell_apart_has_no_advantage() -> None:
    assert advantages([[1e8], [1e8 + 1]], [1.0], ["p", "p"]).tolist() == [0.0, 0.0]


def test_a_group_of_one_has_no_spread_and_no_advantage() -> None:
    seen = group_statistics([[3.0]], [1.0], ["p"])
    assert (seen.spread.tolist(), seen.zero_spread.tolist()) == ([0.0], [True])
    assert advantages([[3.0], [1.0], [0.0]], [1.0], ["p", "q", "q"])[0] == 0.0


def test_the_share_of_groups_without_spread_counts_groups_not_rows() -> None:
    seen = group_statistics([[1.0], [1.0], [1.0], [1.0], [0.0]], [1.0], ["a", "a", "a", "b", "b"])
    assert seen.zero_spread_share == 0.5


def test_a_group_with_one_scorable_row_counts_as_without_spread() -> None:
    seen = group_statistics([[1.0], [NAN]], [1.0], ["a", "a"])
    assert seen.scorable.tolist() == [1]
    assert seen.zero_spread.tolist() == [True]


@pytest.mark.parametrize("names", [[5, 5, 7, 7], [-1, -1, 4, 4]])
def test_numbers_with_gaps_are_names_of_groups_like_any_others(names: list[int]) -> None:
    seen = group_statistics([[1], [0], [1], [0]], [1], np.array(names))
    assert seen.size.tolist() == [2, 2]
    assert seen.zero_spread_share == 0.0


def test_no_rows_are_no_trouble() -> None:
    nothing = np.empty((0, 2))
    assert totals(nothing, [1.0, 1.0]).tolist() == []
    assert advantages(nothing, [1.0, 1.0], []).tolist() == []
    assert math.isnan(group_statistics(nothing, [1.0, 1.0], []).zero_spread_share)


def test_inputs_are_left_as_they_were() -> None:
    scores = np.array([[1e39, NAN], [1.0, 2.0]])
    before = scores.copy()
    advantages(scores, np.array([1.0, 0.5]), ["a", "a"], aggregation="normalize_then_sum")
    totals(scores, np.array([1.0, 0.5]))
    np.testing.assert_array_equal(scores, before)


def test_weights_that_do_not_fit_are_refused_with_both_shapes() -> None:
    with pytest.raises(UsageError, match=r"scores of shape \(1, 2\) and weights of shape \(3,\) do not fit"):
        totals([[1.0, 2.0]], [1.0, 1.0, 1.0])


def test_groups_that_do_not_fit_are_refused_with_both_counts() -> None:
    with pytest.raises(UsageError, match="groups names 1 rows, scores has 2"):
        advantages([[1.0], [2.0]], [1.0], ["a"])


def test_an_unknown_mode_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        UsageError, match="scale_rewards='std' is unknown; it must be one of group, batch, none"
    ):
        advantages([[1.0]], [1.0], ["a"], scale_rewards="std")
    with pytest.raises(UsageError, match="sum_then_normalize, normalize_then_sum"):
        advantages([[1.0]], [1.0], ["a"], aggregation="sum")


def test_zero_spread_is_that_of_what_is_taught_also_where_each_reward_is_normalised_by_itself() -> None:
    table = [[0.0, 0.5], [0.25, 0.25], [0.5, 0.0]] + [[0.0, 0.5], [1.0, 0.0], [0.0, 0.5]] + [[0.4, 0.1]] * 3
    groups = ["opposed"] * 3 + ["unlike"] * 3 + ["equal"] * 3
    for weights in ([1.0, 1.0], [1.0, 2.0], [1.0, 0.0]):
        for mode in ("sum_then_normalize", "normalize_then_sum"):
            found = group_statistics(table, weights, groups, aggregation=mode)
            taught = advantages(table, weights, groups, aggregation=mode).reshape(3, 3)
            assert found.zero_spread.tolist() == (np.ptp(taught, axis=1) < 1e-4).tolist()


MIRRORED = [[1.0, 0.0], [0.0, 100.0], [1.0, 0.0], [0.0, 100.0]]


@pytest.mark.parametrize("weights", [[2.0, 1.0], [1.0, 2.0]])
def test_rows_are_ranked_as_their_advantages_are(weights: list[float]) -> None:
    for aggregation in ("sum_then_normalize", "normalize_then_sum"):
        ranked = ranked_by(MIRRORED, weights, "aaaa", aggregation=aggregation)
        taught = advantages(MIRRORED, weights, "aaaa", aggregation=aggregation)
        assert (np.sign(ranked[0] - ranked[1]), ranked[0]) == (np.sign(taught[0] - taught[1]), ranked[2])


def test_rewards_that_cancel_once_normalised_rank_all_rows_alike() -> None:
    scores = [[0.1, 0.3], [0.3, 0.1], [0.2, 0.2], [0.7, -0.3]]
    ranked = ranked_by(scores, [1.0, 1.0], "aaaa", aggregation="normalize_then_sum")
    assert len(set(ranked.tolist())) == 1


def test_what_float32_does_not_tell_apart_is_tied() -> None:
    ranked = ranked_by([[1e9], [1e9 + 1], [0.3], [0.1 + 0.2], [1e-9], [2e-9]], [1.0], "aabbcc")
    assert [len(set(ranked[at : at + 2].tolist())) for at in (0, 2, 4)] == [1, 1, 1]
    assert group_statistics([[1e-9], [2e-9]], [1.0], "cc").zero_spread.all()


def test_an_abstention_adds_nothing_and_a_row_without_scores_has_nothing() -> None:
    nan = math.nan
    np.testing.assert_array_equal(
        added([[nan, 2.0], [nan, nan], [1e39, 1.0]]), [[0, 2], [nan, nan], [math.inf, 1]]
    )
    assert ranked_by([[nan, 2.0], [nan, nan]], [1.0, 1.0], "aa").tolist()[0] == 2.0
