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


def test_a_few_perfect_labels_are_not_certainty() -> None:
    few, many = auc_interval(1.0, 5, 5), auc_interval(1.0, 500, 500)
    assert few[0] < 0.75
    assert 0.98 < many[0] < 1.0
    assert few[1] == many[1] == 1.0


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(0)
    truth, covered = 0.760, 0  # of two normals a standard deviation apart
    for _ in range(300):
        scores = np.concatenate([generator.normal(1, 1, 30), generator.normal(0, 1, 30)])
        found = separation(scores, ["right"] * 30 + ["wrong"] * 30)
        covered += found.low <= truth <= found.high
    assert 0.90 <= covered / 300 <= 0.99


@given(st.floats(0, 1), st.integers(1, 200), st.integers(1, 200))
def test_the_interval_holds_what_was_seen(auc: float, right: int, wrong: int) -> None:
    low, high = auc_interval(auc, right, wrong)
    assert 0.0 <= low <= auc + 1e-9
    assert auc - 1e-9 <= high <= 1.0


@pytest.mark.parametrize("more", [1, 10])
def test_more_labels_make_it_narrower(more: int) -> None:
    low, high = auc_interval(0.8, 10 * more, 10 * more)
    next_low, next_high = auc_interval(0.8, 20 * more, 20 * more)
    assert next_high - next_low < high - low
