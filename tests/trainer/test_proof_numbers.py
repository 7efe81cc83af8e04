"""The merge proof's arithmetic on numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
import torch

from trainer.merging.proof_numbers import (
    count_not_finite,
    largest_difference,
    mean_kl,
    merged_weight,
    retention,
    same_bits,
    ulp_error,
)


def test_nan_and_infinity_are_counted_and_whole_numbers_are_not() -> None:
    floats = torch.tensor([1.0, float("nan"), float("inf"), -2.0])
    assert count_not_finite([floats, torch.tensor([1, 2, 3])]) == 2


def test_a_merged_weight_is_rounded_once() -> None:
    base, delta = torch.tensor([1.0]), torch.tensor([2.0**-9])
    # 1 + 2^-9 lies between the bfloat16 neighbours 1 and 1 + 2^-7, nearer to 1
    assert merged_weight(base, delta, torch.bfloat16).item() == 1.0
    assert merged_weight(base, delta, torch.float32).item() == 1.0 + 2.0**-9


@pytest.mark.parametrize(
    ("dtype", "unit"), [(torch.float32, 2.0**-23), (torch.float16, 2.0**-10), (torch.bfloat16, 2.0**-7)]
)
def test_one_step_at_one_is_one_unit_in_the_last_place(dtype: torch.dtype, unit: float) -> None:
    one = torch.tensor([1.0], dtype=dtype)
    next_one = torch.tensor([1.0 + unit], dtype=dtype)
    assert ulp_error(next_one, one, one) == 1.0
    assert ulp_error(one, one, one) == 0.0


def test_the_unit_is_that_of_the_base_where_a_sum_cancels() -> None:
    base, expected = torch.tensor([4.0]), torch.tensor([1e-7])
    assert ulp_error(torch.tensor([1e-7 + 2.0**-21]), expected, base) == pytest.approx(1.0, rel=1e-3)


def test_nan_is_infinitely_far_away() -> None:
    one = torch.tensor([1.0])
    assert ulp_error(torch.tensor([float("nan")]), one, one) == math.inf
    assert largest_difference(one, torch.tensor([float("nan")])) == math.inf


def test_zero_and_minus_zero_are_not_the_same_bits() -> None:
    assert same_bits(torch.tensor([0.0]), torch.tensor([0.0]))
    assert not same_bits(torch.tensor([0.0]), torch.tensor([-0.0]))
    assert not same_bits(torch.tensor([0.0]), torch.tensor([0.0], dtype=torch.float16))


def test_retention_is_one_for_the_whole_update_and_zero_for_none() -> None:
    base, delta = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    assert retention(base, base + delta, delta) == 1.0
    assert retention(base, base, delta) == 0.0
    assert retention(base, base + delta / 2, delta) == 0.5
    assert retention(base, base, torch.zeros(2)) is None


def test_a_small_update_is_lost_in_bfloat16() -> None:
    base = torch.ones(1000)
    delta = torch.full((1000,), 2.0**-9)
    assert retention(base, merged_weight(base, delta, torch.bfloat16), delta) == 0.0
    assert retention(base, merged_weight(base, delta, torch.float16), delta) == 1.0


def test_the_kl_of_two_coins() -> None:
    fair, loaded = torch.tensor([[0.0, 0.0]]), torch.tensor([[math.log(3.0), 0.0]])
    assert mean_kl(fair, fair) == 0.0
    assert mean_kl(fair, loaded) == pytest.approx(0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25))
