from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.separation import auc_interval, separation


def test_ties_count_half_and_rows_without_a_score_not_at_all() -> None:
    scores = np.array([1.0, 0.5, 0.5, 0.0, math.nan])
    found = separation(scores, ["right", "right", "wrong", "hack", "right"])
    assert (found.auc, found.right, found.wrong) == (0.875, 2, 2)


def test_without_right_or_wrong_rows_nothing_is_known() -> None:
    found = separation(np.array([1.0, 0.0]), ["right", "partial"])
    assert math.isnan(found.auc)
    assert (found.low, found.high, found.wrong) == (0.0, 1.0, 0)


def test_a_reward_that_knows_only_the_prompt_is_at_chance() -> None:
    prompts = [row // 4 for row in range(24)]
    labels = [
        "right" if row % 4 < (3 if prompt % 2 else 1) else "wrong" for row, prompt in enumerate(prompts)
    ]
    found = separation(np.array([float(prompt % 2) for prompt in prompts]), labels, prompts)
    assert (found.auc, found.prompts) == (0.5, 6)


def test_right_above_wrong_inside_every_prompt_is_perfect_whatever_other_prompts_earn() -> None:
    prompts = [row // 4 for row in range(24)]
    scores = np.array([10.0 * prompt + (row % 2 == 0) for row, prompt in enumerate(prompts)])
    found = separation(scores, ["right", "wrong"] * 12, prompts)
    assert (found.auc, found.prompts) == (1.0, 6)
    assert found.low < 0.95


def test_rows_of_different_prompts_are_compared_only_where_no_prompt_has_both_kinds() -> None:
    prompts = [row // 8 for row in range(48)]
    labels = ["wrong" if prompt % 2 else "right" for prompt in prompts]
    found = separation(np.array([1.0 - prompt % 2 for prompt in prompts]), labels, prompts)
    assert (found.auc, found.prompts, found.right) == (1.0, 0, 24)
    assert found.low == auc_interval(1.0, [(3, 3)])[0]  # three prompts of each kind, however many rows


def test_the_interval_covers_the_truth_where_rows_of_a_prompt_are_alike() -> None:
    generator, covered, told = np.random.default_rng(1), 0, 0
    for _ in range(150):
        prompts = np.repeat(np.arange(10), 8)
        shares, means = generator.choice([0.05, 0.95], 10), generator.normal(size=10)
        labels = ["right" if one else "wrong" for one in generator.random(80) < shares[prompts]]
        found = separation(means[prompts] + 0.3 * generator.normal(size=80), labels, prompts.tolist())
        told += found.prompts > 0
        covered += found.prompts > 0 and found.low <= 0.5 <= found.high
    assert covered / told >= 0.92


def test_a_few_perfect_labels_are_not_certainty() -> None:
    few, many = auc_interval(1.0, [(5, 5)]), auc_interval(1.0, [(500, 500)])
    assert few[0] < 0.75
    assert 0.98 < many[0] < 1.0
    assert few[1] == many[1] == 1.0


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(0)
    truth, covered = 0.760, 0  # of two normals a standard deviation apart
    for _ in range(300):
        scores = np.concatenate([generator.normal(1, 1, 30), generator.normal(0, 1, 30)])
        found = separation(scores, ["right"] * 30 + ["wrong"] * 30, ["one prompt"] * 60)
        covered += found.low <= truth <= found.high
    assert 0.90 <= covered / 300 <= 0.99


@given(st.floats(0, 1), st.integers(1, 200), st.integers(1, 200))
def test_the_interval_holds_what_was_seen(auc: float, right: int, wrong: int) -> None:
    low, high = auc_interval(auc, [(right, wrong)])
    assert 0.0 <= low <= auc + 1e-9
    assert auc - 1e-9 <= high <= 1.0


@pytest.mark.parametrize("more", [1, 10])
def test_more_labels_make_it_narrower(more: int) -> None:
    low, high = auc_interval(0.8, [(10 * more, 10 * more)])
    next_low, next_high = auc_interval(0.8, [(20 * more, 20 * more)])
    assert next_high - next_low < high - low
