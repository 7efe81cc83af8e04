"""RW616: chance in a reward that is meant to vary."""

import numpy as np
import pytest

from tests.workbench.checks.signal.columns import grouped
from workbench.checks.signal.noisy import noise_with_bound

JUDGE = (
    "import random\n"
    "def reward(completions, value, **kwargs):\n"
    "    return [{of} * gold + {by} * random.random() for gold in value]\n"
)
ROWS = grouped([[0.0, 0.25, 0.75, 1.0]] * 12)


def test_reward_that_is_mostly_chance_is_a_warning_with_three_scores_of_one_completion(check):
    [finding] = check(JUDGE.format(of=0.1, by=1.0), "RW616", rows=ROWS, declare="deterministic = false")
    assert finding.severity == "warning"
    assert "of what reward tells a group's completions apart by is its own noise (at least" in finding.message
    assert len(set(finding.evidence.got)) == 3
    assert "mean of several askings" in finding.advice


def test_little_chance_beside_much_signal_is_left_alone(check):
    assert check(JUDGE.format(of=1.0, by=0.05), "RW616", rows=ROWS, declare="deterministic = false") == []


def test_reward_that_does_not_say_that_it_varies_is_another_checks_matter(check):
    assert check(JUDGE.format(of=0.1, by=1.0), "RW616", rows=ROWS) == []


def test_a_handful_of_rows_shows_nothing(check):
    rows = grouped([[0.0, 0.25, 0.75, 1.0]] * 3)
    assert check(JUDGE.format(of=0.1, by=1.0), "RW616", rows=rows, declare="deterministic = false") == []


def test_reward_that_costs_money_is_not_called_again(check):
    declare = 'deterministic = false\ncost = "paid"'
    assert check(JUDGE.format(of=0.1, by=1.0), "RW616", rows=ROWS, declare=declare) == []


@pytest.mark.parametrize("noise", [0.5, 1.0, 3.0])
def test_the_share_is_the_known_one_and_the_bound_lies_below_it(noise):
    draw = np.random.default_rng(3)
    signal = np.repeat(draw.normal(size=(400, 4)), 1, axis=0).reshape(-1, 1)
    repeats = signal + noise * draw.normal(size=(1600, 3))
    share, low = noise_with_bound(repeats, [f"g{row // 4}" for row in range(1600)], seed=0)
    assert share == pytest.approx(noise**2 / (1 + noise**2), abs=0.04)
    assert low < share < low + 0.15


def test_no_chance_is_no_noise_and_no_variance_is_unknown():
    groups = ["a", "a", "b", "b"]
    same = np.repeat([[0.0], [1.0], [0.5], [0.0]], 3, axis=1)
    assert noise_with_bound(same, groups, seed=0)[0] == 0.0
    assert np.isnan(noise_with_bound(np.ones((4, 3)), groups, seed=0)[0])
    assert np.isnan(noise_with_bound(np.full((4, 3), np.nan), groups, seed=0)[0])
