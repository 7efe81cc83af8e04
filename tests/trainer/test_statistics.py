"""Paired statistics against published tables and numbers worked out by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from trainer.comparing.statistics import detectable_difference, flip_test, paired, prompts_needed


def test_no_differences_say_nothing() -> None:
    result = paired([])
    assert (result.pairs, result.low, result.detectable, result.p) == (0, None, None, 1.0)
    assert math.isnan(result.mean)
    assert result.verdict == "no clear difference"


def test_a_single_pair_has_no_interval() -> None:
    result = paired([0.5])
    assert (result.mean, result.low, result.wins) == (0.5, None, 1)
    assert result.verdict == "no clear difference"


def test_pairs_without_a_score_are_left_out() -> None:
    result = paired([1.0, float("nan"), -1.0, 0.0])
    assert (result.pairs, result.wins, result.losses, result.ties) == (3, 1, 1, 1)


def test_infinite_differences_are_left_out_and_counted() -> None:
    result = paired([1.0, math.inf, -math.inf, math.nan, *[0.0] * 20])
    assert (result.pairs, result.left_out, result.wins, result.mean) == (21, 3, 1, pytest.approx(1 / 21))
    assert result.low is not None
    assert math.isfinite(result.low)


def test_fewer_than_six_pairs_show_nothing() -> None:
    result = paired([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (result.low, result.high, result.detectable) == (None, None, None)
    assert (result.p, result.verdict) == (2 / 2**5, "no clear difference")
    assert paired([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).verdict == "higher"


def test_differences_without_scatter_have_no_interval_and_their_signs_decide() -> None:
    assert flip_test(np.full(30, 0.25)) == (2 / 2**30, None, None)
    assert flip_test(np.zeros(30)) == (1.0, 0.0, 0.0)
    assert paired([0.1, 0.1]).verdict == "no clear difference"
    assert (paired([0.1] * 6).verdict, paired([-0.1] * 6).verdict) == ("higher", "lower")
    assert paired([0.0] * 30).verdict == "no clear difference"


def test_three_wins_and_seventeen_ties_are_no_gain() -> None:
    result = paired([1.0] * 3 + [0.0] * 17)
    assert (result.p, result.verdict) == (0.25, "no clear difference")
    assert result.low is not None
    assert result.low <= 0


def test_p_is_the_share_of_sign_changes_with_as_large_a_sum() -> None:
    values = np.array([0.3, -0.1, 0.7, 0.2, -0.4, 0.9, 0.05])
    sums = [abs(float(values @ np.array(signs))) for signs in itertools.product((1, -1), repeat=7)]
    assert flip_test(values)[0] == np.mean([one >= values.sum() - 1e-12 for one in sums])


def test_the_interval_holds_the_means_that_the_test_does_not_reject() -> None:
    values = np.random.default_rng(4).normal(0.3, 1.0, 12)
    _, low, high = flip_test(values)
    assert low is not None
    assert high is not None
    for bound, inward in ((low, 1e-6), (high, -1e-6)):
        assert flip_test(values - bound - inward)[0] > 0.05 >= flip_test(values - bound + inward)[0]


def test_interval_p_and_verdict_never_contradict_one_another() -> None:
    draws = np.random.default_rng(6)
    for _ in range(150):
        count, shift = int(draws.integers(6, 40)), draws.normal(0, 0.3)
        result = paired(
            (draws.choice([-0.5, 0.0, 0.0, 0.25, 1.0], count) + shift * draws.integers(0, 2)).tolist()
        )
        if result.low is not None and result.high is not None:
            outside = result.low > 0 or result.high < 0
            assert outside == (result.p <= 0.05) == (result.verdict != "no clear difference")


@pytest.mark.parametrize(("pairs", "apart"), [(20, 0.15), (25, 0.12), (40, 0.08), (64, 0.05)])
def test_noise_among_many_ties_is_called_a_difference_in_at_most_five_of_a_hundred(
    pairs: int, apart: float
) -> None:
    draws = np.random.default_rng(7)
    chances = [1 - apart, apart / 2, apart / 2]
    told = [paired(draws.choice([0.0, 1.0, -1.0], pairs, p=chances).tolist()).verdict for _ in range(150)]
    assert sum(one != "no clear difference" for one in told) <= 9  # 5 % of 150 and a little luck


def test_noise_in_means_of_several_samples_is_called_a_difference_in_about_five_of_a_hundred() -> None:
    draws, told = np.random.default_rng(8), []
    for _ in range(150):
        difficulty = draws.beta(0.3, 0.7, 32)
        told.append(paired((draws.binomial(8, difficulty) - draws.binomial(8, difficulty)) / 8).verdict)
    assert sum(one != "no clear difference" for one in told) <= 14


def test_the_interval_comes_near_the_normal_one_where_that_holds() -> None:
    values = np.random.default_rng(1).normal(1.0, 2.0, 400)
    _, low, high = flip_test(values)
    half = 1.96 * values.std(ddof=1) / 20
    assert low == pytest.approx(values.mean() - half, abs=0.03)
    assert high == pytest.approx(values.mean() + half, abs=0.03)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    draws = np.random.default_rng(2)
    hits = 0
    for _ in range(100):
        _, low, high = flip_test(draws.binomial(4, 0.3, 30) / 4 - 0.3)
        hits += low is not None and high is not None and low <= 0 <= high
    assert 88 <= hits <= 99


def test_the_order_of_the_pairs_and_which_side_is_first_change_nothing() -> None:
    values = np.random.default_rng(3).normal(size=50)
    p, low, high = flip_test(values)
    assert low is not None
    assert high is not None
    assert flip_test(values[::-1]) == (p, low, high)
    assert flip_test(-values) == (p, -high, -low)


@pytest.mark.parametrize(("wins", "losses"), [(5, 5), (5, 0), (1, 9), (10, 0), (6, 20)])
def test_of_right_or_wrong_answers_p_is_mcnemars_exact_one(wins: int, losses: int) -> None:
    both = wins + losses
    tail = sum(math.comb(both, count) for count in range(min(wins, losses) + 1)) / 2**both
    assert paired([1.0] * wins + [-1.0] * losses + [0.0] * 12).p == pytest.approx(min(1.0, 2 * tail))


@pytest.mark.parametrize(("difference", "needed"), [(0.05, 625), (0.10, 155), (0.20, 37)])
def test_mcnemars_sample_sizes(difference: float, needed: int) -> None:
    assert prompts_needed(difference, 0.2) == pytest.approx(needed, abs=1)


def test_the_detectable_difference_halves_with_four_times_the_pairs() -> None:
    few, many = np.tile([-1.0, 1.0], 20), np.tile([-1.0, 1.0], 80)
    small, large = detectable_difference(few), detectable_difference(many)
    assert small is not None
    assert large is not None
    assert small / large == pytest.approx(2.0, rel=0.03)
    assert large == pytest.approx(2.8 * many.std(ddof=1) / math.sqrt(160), rel=0.01)


@pytest.mark.parametrize("pairs", [7, 10, 19])
def test_a_detectable_difference_shows_in_about_eighty_of_a_hundred(pairs: int) -> None:
    draws = np.random.default_rng(9)
    unit = np.tile([-1.0, 1.0], pairs)[:pairs]
    least = detectable_difference(unit)
    assert least is not None
    noise = draws.normal(least / unit.std(ddof=1), 1.0, (200, pairs))
    shown = sum(paired(row.tolist()).verdict == "higher" for row in noise)
    assert 0.72 <= shown / 200 <= 0.88


def test_a_clear_gain_and_a_clear_loss_are_named() -> None:
    values = list(np.random.default_rng(5).normal(1.0, 0.5, 40))
    assert paired(values).verdict == "higher"
    assert paired([-value for value in values]).verdict == "lower"
