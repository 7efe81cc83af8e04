"""Paired statistics against published tables and numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trainer.comparing.statistics import detectable_difference, interval, paired, prompts_needed, sign_test


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


def test_students_interval_for_few_pairs() -> None:
    # mean 2, standard deviation 1, t(2) = 4.303
    low, high = interval(np.array([1.0, 2.0, 3.0]))
    assert low == pytest.approx(2 - 4.303 / math.sqrt(3))
    assert high == pytest.approx(2 + 4.303 / math.sqrt(3))


def test_differences_without_scatter_have_no_interval_and_the_sign_test_decides() -> None:
    assert interval(np.full(30, 0.25)) == (None, None)
    assert interval(np.zeros(30)) == (0.0, 0.0)
    assert paired([0.1, 0.1]).verdict == "no clear difference"
    assert (paired([0.1] * 6).verdict, paired([-0.1] * 6).verdict) == ("higher", "lower")
    assert paired([0.0] * 30).verdict == "no clear difference"


def test_the_bootstrap_comes_near_the_normal_interval_where_that_holds() -> None:
    values = np.random.default_rng(1).normal(1.0, 2.0, 400)
    low, high = interval(values)
    half = 1.96 * values.std(ddof=1) / 20
    assert low == pytest.approx(values.mean() - half, abs=0.03)
    assert high == pytest.approx(values.mean() + half, abs=0.03)


def test_the_bootstrap_leans_to_the_long_tail() -> None:
    values = np.random.default_rng(0).exponential(1.0, 60)
    low, high = interval(values)
    assert low is not None
    assert high is not None
    assert high - values.mean() > values.mean() - low


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    draws = np.random.default_rng(2)
    hits = 0
    for seed in range(100):
        low, high = interval(draws.binomial(4, 0.3, 30) / 4 - 0.3, seed=seed)
        hits += low is not None and high is not None and low <= 0 <= high
    assert 88 <= hits <= 99


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(3).normal(size=50)
    assert interval(values, seed=4) == interval(values, seed=4)


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [(0, 0, 1.0), (5, 5, 1.0), (5, 0, 0.0625), (1, 9, 0.021484375), (10, 0, 0.001953125)],
)
def test_the_sign_test_is_exact(wins: int, losses: int, p: float) -> None:
    assert sign_test(wins, losses) == p == sign_test(losses, wins)


def test_the_sign_test_holds_for_thousands_of_pairs() -> None:
    assert sign_test(3000, 3000) == 1.0
    assert 0 <= sign_test(5000, 1000) < 1e-300


@pytest.mark.parametrize(("difference", "needed"), [(0.05, 625), (0.10, 155), (0.20, 37)])
def test_mcnemars_sample_sizes(difference: float, needed: int) -> None:
    assert prompts_needed(difference, 0.2) == pytest.approx(needed, abs=1)


def test_the_detectable_difference_halves_with_four_times_the_pairs() -> None:
    few, many = np.tile([-1.0, 1.0], 10), np.tile([-1.0, 1.0], 40)
    small, large = detectable_difference(few), detectable_difference(many)
    assert small is not None
    assert large is not None
    assert small / large == pytest.approx(2.0, rel=0.03)
    assert large == pytest.approx(2.8 * many.std(ddof=1) / math.sqrt(80))


def test_a_clear_gain_and_a_clear_loss_are_named() -> None:
    values = list(np.random.default_rng(5).normal(1.0, 0.5, 40))
    assert paired(values).verdict == "higher"
    assert paired([-value for value in values]).verdict == "lower"
