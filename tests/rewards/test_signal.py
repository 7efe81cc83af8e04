"""Signal power, each quantity against a brute-force calculation."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards import signal
from rewards.errors import UsageError
from rewards.groups import group_statistics

VALUES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=3, max_size=7)


def one_group(values: Sequence[float]) -> list[str]:
    return ["g"] * len(values)


@pytest.mark.guide("G1")
@given(VALUES, st.integers(2, 3))
def test_dead_probability_is_the_share_of_subsets_without_spread(values: list[float], size: int) -> None:
    subsets = list(itertools.combinations(values, size))
    brute = sum(len(set(subset)) == 1 for subset in subsets) / len(subsets)
    assert signal.dead_probability(values, one_group(values), size) == pytest.approx(brute)


def test_dead_probability_is_unbiased_at_any_group_size() -> None:
    generator = np.random.default_rng(0)
    draws = (generator.random((4000, 16)) < 0.1).astype(float)
    groups = [str(row // 16) for row in range(draws.size)]
    estimate = signal.dead_probability(draws.ravel(), groups, 8)
    assert estimate == pytest.approx(signal.binary_dead_probability(0.1, 8), abs=0.01)
    assert signal.binary_dead_probability(0.1, 8) == pytest.approx(0.430, abs=0.001)


def test_rows_without_score_and_groups_too_small_are_left_out() -> None:
    assert math.isnan(signal.dead_probability([1.0, math.nan, 1.0], ["a", "a", "b"], 2))
    assert signal.dead_probability([1.0, 1.0, math.nan], one_group("abc"), 2) == 1.0
    with pytest.raises(UsageError, match="group_size=1"):
        signal.dead_probability([1.0], ["a"], 1)


@pytest.mark.parametrize(
    ("share", "dead", "advantage"), [(0.02, 0.85, 0.09), (0.1, 0.43, 0.39), (0.5, 0.008, 0.87)]
)
def test_the_binary_laws_give_the_known_table(share: float, dead: float, advantage: float) -> None:
    assert signal.binary_dead_probability(share, 8) == pytest.approx(dead, abs=0.005)
    assert signal.binary_absolute_advantage(share, 8) == pytest.approx(advantage, abs=0.005)


@given(st.floats(0.05, 0.95), st.integers(2, 6))
def test_the_expected_advantage_is_the_mean_over_all_groups(share: float, size: int) -> None:
    brute = 0.0
    for group in itertools.product([0.0, 1.0], repeat=size):
        paid = sum(group)
        if 0 < paid < size:
            spread, mean = statistics.stdev(group), paid / size
            chance = share**paid * (1 - share) ** (size - paid)
            brute += chance * sum(abs(value - mean) / spread for value in group) / size
    assert signal.binary_absolute_advantage(share, size) == pytest.approx(brute)


def test_useful_prompts_and_steps() -> None:
    assert signal.effective_prompts(8, 0.75) == 2
    assert signal.steps_for(100, 8, 0.75) == 50
    assert signal.steps_for(100, 8, 1.0) == math.inf
    assert (signal.resampling_overhead(0.5), signal.resampling_overhead(1.0)) == (1.0, math.inf)


@pytest.mark.guide("G8")
def test_shares_add_up_and_name_the_loud_one() -> None:
    generator = np.random.default_rng(1)
    groups = [str(row // 8) for row in range(800)]
    scores = np.stack([generator.normal(size=800), 0.1 * generator.normal(size=800)], axis=1)
    weights = [1.0, 2.0]
    advantages = scores @ np.array(weights)
    shares = signal.signal_shares(scores, weights, advantages, groups)
    assert shares.share.sum() == pytest.approx(1)
    assert shares.share[0] == pytest.approx(1 / 1.04, abs=0.02)
    assert signal.scale_dominance(shares.covariance, weights) == pytest.approx([1 / 1.2, 0.2 / 1.2], abs=0.02)


def test_a_reward_that_works_against_the_rest_has_a_negative_share() -> None:
    rows = np.array([[1.0, 0.0], [0.0, 0.4], [1.0, 0.0], [0.0, 0.4]])
    shares = signal.signal_shares(rows, [1.0, 1.0], rows.sum(axis=1), one_group(rows))
    assert shares.share[1] < 0
    assert shares.influence[1] < 0 < shares.influence[0]


def test_shares_of_nothing_are_unknown() -> None:
    shares = signal.signal_shares([[1.0], [1.0]], [1.0], [0.0, 0.0], ["a", "a"])
    assert math.isnan(shares.share[0])
    assert math.isnan(signal.scale_dominance(shares.covariance, [1.0])[0])


@pytest.mark.guide("G8")
def test_correlation_inside_groups_is_not_fooled_by_easy_prompts() -> None:
    # inside each group the two rewards disagree; easy prompts are easy for both
    scores = [[0.0, 1.0], [1.0, 0.0], [10.0, 11.0], [11.0, 10.0]]
    groups = ["hard", "hard", "easy", "easy"]
    assert signal.within_group_correlation(scores, groups)[0, 1] == pytest.approx(-1)
    assert signal.within_group_correlation(scores, groups, ranks=True)[0, 1] == pytest.approx(-1)
    assert signal.between_group_correlation(scores, groups)[0, 1] == pytest.approx(1)


def test_a_constant_reward_correlates_with_nothing() -> None:
    assert math.isnan(signal.within_group_correlation([[1.0, 0.0], [1.0, 1.0]], ["a", "a"])[0, 1])


@given(VALUES)
def test_ranks_are_those_of_counting(values: list[float]) -> None:
    brute = [sum(v < value for v in values) + (values.count(value) + 1) / 2 for value in values]
    assert signal.average_ranks(values).tolist() == brute


@given(VALUES)
def test_tied_pairs_and_distinct_values_count(values: list[float]) -> None:
    pairs = list(itertools.combinations(values, 2))
    assert signal.tied_pairs(values, one_group(values)) == pytest.approx(
        sum(a == b for a, b in pairs) / len(pairs)
    )
    assert signal.distinct_values(values, one_group(values)) == len(set(values))


def test_bounds_steps_and_margins() -> None:
    assert signal.at_bounds([0.0, 1.0, 1.0, 0.5, math.nan], 0.0, 1.0) == (0.25, 0.5)
    assert signal.smallest_step([0.0, 0.25, 1.0, math.nan]) == 0.25
    assert math.isnan(signal.smallest_step([1.0, 1.0]))
    assert signal.lexicographic_margin(1.0, 2.0, [(0.5, (0.0, 1.0)), (-0.3, (0.0, 1.0))]) == pytest.approx(
        1.2
    )
    assert signal.lexicographic_margin(0.25, 1.0, [(0.5, (0.0, 1.0))]) < 0


def test_the_selection_differential_foretells_a_softmax_step() -> None:
    generator = np.random.default_rng(2)
    agreements = []
    for _ in range(40):
        logits, reward, feature = generator.normal(size=(3, 8))
        policy = np.exp(logits) / np.exp(logits).sum()
        drawn = generator.choice(8, size=256, p=policy)
        groups = [str(row // 8) for row in range(256)]
        advantage = np.concatenate([reward[part] - reward[part].mean() for part in drawn.reshape(-1, 8)])
        tilted = policy * np.exp(0.05 * (reward - policy @ reward))
        drift = (tilted / tilted.sum() - policy) @ feature
        foretold = signal.selection_differential(feature[drawn], advantage, groups)
        if abs(foretold) > 0.1:
            agreements.append(np.sign(drift) == np.sign(foretold))
    assert len(agreements) > 15
    assert np.mean(agreements) > 0.95


def test_a_feature_that_does_not_vary_has_no_direction() -> None:
    assert math.isnan(signal.selection_differential([1.0, 1.0], [1.0, -1.0], ["a", "a"]))


@given(VALUES, st.integers(1, 3), st.data())
def test_best_of_n_is_the_mean_over_all_subsets(values: list[float], n: int, data: st.DataObject) -> None:
    other = data.draw(st.lists(st.floats(-1, 1), min_size=len(values), max_size=len(values)))
    totals, others = [], []
    for subset in itertools.combinations(range(len(values)), n):
        best = max(values[row] for row in subset)
        winners = [row for row in subset if values[row] == best]
        totals.append(best)
        others.append(statistics.fmean(other[row] for row in winners))
    result = signal.best_of_n(values, other, one_group(values), n)
    assert result.total == pytest.approx(statistics.fmean(totals))
    assert result.other == pytest.approx(statistics.fmean(others), abs=1e-9)
    assert result.kl == pytest.approx(math.log(n) - (n - 1) / n)


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=3, max_size=8), st.integers(1, 3))
def test_pass_at_k_is_the_share_of_subsets_with_a_pass(passed: list[float], k: int) -> None:
    subsets = list(itertools.combinations(passed, k))
    assert signal.pass_at_k(passed, one_group(passed), k) == pytest.approx(
        statistics.fmean(map(max, subsets))
    )
    assert signal.support(passed, one_group(passed), k) >= -1e-12


def test_noise_is_told_from_signal() -> None:
    generator = np.random.default_rng(3)
    true = generator.normal(size=4000)
    groups = [str(row // 8) for row in range(4000)]
    noisy = true[:, None] + generator.normal(scale=0.5, size=(4000, 3))
    assert signal.noise_share(noisy, groups) == pytest.approx(0.25 / 1.25, abs=0.02)
    assert signal.noise_share(np.stack([true, true], axis=1), groups) == 0.0
    with pytest.raises(UsageError, match="at least two times"):
        signal.noise_share([[1.0]], ["a"])


@pytest.mark.parametrize(("gain", "size"), [(0.05, 625), (0.10, 155), (0.20, 37)])
def test_held_out_sizes_are_those_of_the_formula(gain: float, size: int) -> None:
    assert signal.held_out_size(gain, 0.2) == pytest.approx(size, abs=2)


def test_impossible_gains_are_refused() -> None:
    with pytest.raises(UsageError, match=r"gain=0.3 must be above 0 and at most discordant=0.2"):
        signal.held_out_size(0.3, 0.2)


def test_repetition_counts_repeated_trigrams() -> None:
    assert signal.repetition("a b c d") == 0.0
    assert signal.repetition("a b c a b c") == pytest.approx(0.25)
    assert signal.repetition("") == 0.0


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_inside_groups_counts_group_by_group(groups: list[list[float]]) -> None:
    rows = [(value, name) for name, values in enumerate(groups) for value in values]
    seen = signal.inside_groups([value for value, _ in rows], [name for _, name in rows])
    pairs = [pair for values in groups for pair in itertools.combinations(values, 2)]
    assert seen.dead == pytest.approx(statistics.mean(len(set(values)) == 1 for values in groups))
    assert seen.ties == pytest.approx(statistics.mean(a == b for a, b in pairs))
    assert seen.distinct == pytest.approx(statistics.mean(len(set(values)) for values in groups))
    assert seen.spread == pytest.approx(statistics.mean(statistics.stdev(values) for values in groups))


def test_inside_groups_leaves_out_single_rows_and_rows_without_score() -> None:
    seen = signal.inside_groups([1.0, 2.0, math.nan, 3.0, 3.0], ["a", "b", "b", "c", "c"])
    assert (seen.dead, seen.ties, seen.distinct, seen.spread) == (1.0, 1.0, 1.0, 0.0)
    assert math.isnan(signal.inside_groups([1.0, math.nan], ["a", "a"]).dead)


def test_two_rewards_correlate_on_the_rows_that_both_scored() -> None:
    scores = np.array(
        [[0.0, 1.0, math.nan], [1.0, 0.0, math.nan], [math.nan, 0.0, 0.0], [math.nan, 1.0, 2.0]]
    )
    found = signal.within_group_correlation(scores, ["a", "a", "b", "b"])
    assert (found[0, 1], found[1, 2]) == (pytest.approx(-1), pytest.approx(1))
    assert math.isnan(found[0, 2])


def test_groups_may_be_given_as_numbers() -> None:
    values = [1.0, 1.0, 0.0, 2.0]
    numbers = np.array([5, 5, 0, 0], dtype=np.intp)
    assert signal.tied_pairs(values, numbers) == signal.tied_pairs(values, ["x", "x", "y", "y"]) == 0.5


def test_ranks_inside_groups_start_at_one_and_ties_share() -> None:
    ranks = signal.ranks_inside([5.0, 1.0, math.nan, 7.0, 7.0], ["a", "a", "a", "b", "b"])
    assert ranks.tolist()[:2] == [2.0, 1.0]
    assert (math.isnan(ranks[2]), ranks.tolist()[3:]) == (True, [1.5, 1.5])


def test_support_compares_one_set_of_prompts_and_is_never_below_zero() -> None:
    passed, groups = [0.0] * 8 + [1.0] * 2, ["hard"] * 8 + ["easy"] * 2
    assert signal.support(passed, groups, 8) == 0.0
    assert signal.support([1.0, *passed[1:]], groups, 8) == pytest.approx(1 - 1 / 8)


def test_sizes_are_foretold_that_most_prompts_have() -> None:
    values = [1.0] * 8 + [math.nan, 1.0, 1.0, 1.0] + [1.0] * 2
    groups = ["a"] * 8 + ["b"] * 4 + ["c"] * 2
    assert (signal.usual_size(values, groups, (2, 4, 8)), signal.counted(values, groups, 3)) == (2, (2, 3))
    assert signal.usual_size([math.nan], ["a"], (2,)) == 0


def test_dead_tied_and_foretold_agree_on_what_float32_cannot_tell_apart() -> None:
    for values in ([1e9, 1e9 + 1], [1e-9, 2e-9], [0.3, 0.1 + 0.2], [1.0, 1.0 + 1e-6]):
        dead = bool(group_statistics([[value] for value in values], [1.0], ["a", "a"]).zero_spread[0])
        inside = signal.inside_groups(values, ["a", "a"])
        assert (inside.dead, inside.ties, signal.dead_probability(values, ["a", "a"], 2)) == (
            dead,
            dead,
            dead,
        )
        assert signal.winning_chance(values, ["a", "a"], 2).tolist() == ([0.5, 0.5] if dead else [0.0, 1.0])


def test_rewards_that_cancel_have_no_shares_of_rounding() -> None:
    one, still, groups = np.linspace(0, 1, 8), np.zeros(8), ["g"] * 8
    shares = signal.signal_shares(np.stack([one, 0.7 - one], axis=1), [1.0, 1.0], still, groups)
    assert shares.cancel
    assert np.isnan(shares.share).all()
    live = signal.signal_shares(np.stack([one, 0.9 * (0.7 - one)], axis=1), [1.0, 1.0], still, groups)
    assert not live.cancel
    assert live.share.sum() == pytest.approx(1)
    assert not signal.signal_shares(np.stack([one, still], axis=1), [0.0, 1.0], still, groups).cancel


def test_only_the_rounding_of_float32_counts_as_at_the_bound() -> None:
    near = float(np.float32(0.1))
    assert signal.at_bounds([999.995, 1000.0, near], 0.1, 1000.0) == (
        pytest.approx(1 / 3),
        pytest.approx(1 / 3),
    )
