import math

from workbench.checks.intervals import mean_interval, share_interval, wilson


def test_a_share_of_few_is_wide():
    low, high = wilson(2, 2)
    assert 0.3 < low < 0.4
    assert high == 1.0
    assert wilson(0, 0) == (0.0, 1.0)


def test_a_mean_of_one_has_no_bounds():
    assert mean_interval([0.5]) == (0.5, -math.inf, math.inf)
    assert mean_interval([])[1:] == (-math.inf, math.inf)


def test_a_mean_lies_within_its_bounds():
    mean, low, high = mean_interval([0.0, 1.0, 0.5, 0.5])
    assert low < mean < high
    assert mean == 0.5


def test_an_interval_of_shares_stays_within_what_shares_can_be():
    assert share_interval([0.9, 1.0, 0.2])[1:] == (0.0, 1.0)
    assert share_interval([1.0, 1.4, 0.2])[2] == 1.4  # a strategy may earn more than a right answer
