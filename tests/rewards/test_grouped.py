"""Rows in groups: the quick way for groups that lie together gives what the other way gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.errors import UsageError
from rewards.grouped import keep_rows, of_large_groups, ordered_rows, runs_of

GROUPS = st.integers(1, 5).flatmap(
    lambda size: st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=size, max_size=size), min_size=1, max_size=6
    )
)


def table_of(groups: list[list[float]]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """All values, and the number of each one's group."""
    codes = np.repeat(np.arange(len(groups)), len(groups[0]))
    return np.array(groups, dtype=np.float64).ravel(), codes.astype(np.intp)


def turned(groups: list[list[float]]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp], Any]:
    """The same rows with the groups mixed: the first of each, then the second of each, ..."""
    values, codes = table_of(groups)
    order = np.argsort(np.tile(np.arange(len(groups[0])), len(groups)), kind="stable")
    return values[order], codes[order], order


@given(GROUPS)
def test_rows_are_centred_alike_wherever_they_lie(groups: list[list[float]]) -> None:
    values, codes = table_of(groups)
    mixed, mixed_codes, order = turned(groups)
    expected = np.concatenate([np.array(group) - np.mean(group) for group in groups])
    np.testing.assert_allclose(keep_rows(values, codes).centred(values), expected, atol=1e-12)
    np.testing.assert_allclose(keep_rows(mixed, mixed_codes).centred(mixed), expected[order], atol=1e-12)


@given(GROUPS)
def test_several_columns_are_centred_one_by_one(groups: list[list[float]]) -> None:
    values, codes = table_of(groups)
    both = np.column_stack([values, 2 * values + codes])
    kept = keep_rows(both, codes)
    np.testing.assert_allclose(kept.centred(both), kept.centred(values)[:, None] * [1, 2], atol=1e-12)


@given(GROUPS)
def test_runs_are_counted_alike_wherever_rows_lie(groups: list[list[float]]) -> None:
    values, codes = table_of(groups)
    mixed, mixed_codes, _ = turned(groups)
    for one, other in zip(runs_of(values, codes)[:2], runs_of(mixed, mixed_codes)[:2], strict=True):
        assert one.tolist() == other.tolist()
    assert runs_of(values, codes)[1].sum() == len(values)


@given(GROUPS)
def test_the_order_is_by_group_then_by_value(groups: list[list[float]]) -> None:
    values, codes = table_of(groups)
    order, ordered = ordered_rows(values, keep_rows(values, codes))
    assert ordered.tolist() == [value for group in groups for value in sorted(group)]
    assert values[order].tolist() == ordered.tolist()


def test_means_are_those_of_the_groups() -> None:
    values = np.array([0.0, 1.0, 3.0, 5.0])
    assert keep_rows(values, ["a", "a", "b", "b"]).means(values).tolist() == [0.5, 4.0]
    assert keep_rows(values, ["a", "b", "a", "b"]).means(values).tolist() == [1.5, 3.0]


@pytest.mark.parametrize(
    ("groups", "even"),
    [("aabb", 2), ("abab", 0), ("aab", 0), ("aaabb", 0), ("aaaa", 4), ("abcd", 1), ("bbaa", 2)],
)
def test_only_equal_groups_that_lie_together_are_even(groups: str, even: int) -> None:
    assert keep_rows(np.zeros(len(groups)), list(groups)).even == even


def test_a_row_without_a_number_is_left_out_and_its_group_is_uneven() -> None:
    kept = keep_rows(np.array([[0.0, 1.0], [np.nan, 1.0], [2.0, 3.0], [4.0, 5.0]]), ["a", "a", "b", "b"])
    assert (kept.rows.tolist(), kept.codes.tolist(), kept.size.tolist(), kept.even) == (
        [0, 2, 3],
        [0, 1, 1],
        [1, 2],
        0,
    )


def test_numbers_with_a_gap_are_no_even_groups() -> None:
    assert keep_rows(np.zeros(4), np.array([0, 0, 2, 2], dtype=np.intp)).even == 0


def test_one_group_is_named_for_each_row() -> None:
    with pytest.raises(UsageError, match="3 values for 2 rows of groups"):
        keep_rows(np.zeros(3), ["a", "b"])


@pytest.mark.parametrize("groups", ["aabb", "abab"])
def test_two_values_are_tied_where_float32_has_them_equal_and_never_by_a_chain(groups: str) -> None:
    near = (
        np.array([1e9, 1e9 + 1, 1.0, 1.0 + 1e-9])
        if groups == "aabb"
        else np.array([1e9, 1.0, 1e9 + 1, 1.0 + 1e-9])
    )
    assert runs_of(near, list(groups))[1].tolist() == [2, 2]
    chain = np.arange(8) * 0.9e-8
    assert len(runs_of(chain, ["a"] * 8)[1]) == 8  # its deviation is 2e-8: TRL tells these apart
    assert len(runs_of(chain[:2], ["a"] * 2)[1]) == 1


def test_values_of_groups_with_too_few_are_left_out() -> None:
    values = of_large_groups([1.0, 2.0, math.nan, 3.0], ["a", "a", "b", "b"], 2)
    assert values[:2].tolist() == [1.0, 2.0]
    assert np.isnan(values[2:]).all()
