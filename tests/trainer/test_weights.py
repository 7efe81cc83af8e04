"""Adaptive weights: TRL's weight moves with success, slowly, within bounds, and survives a checkpoint."""

from __future__ import annotations

import json

import pytest

from rewards.errors import UsageError
from rewards.manifest import Adaptive, RewardEntry
from tests.trainer.batches import scored
from trainer.rewarding import Bound
from trainer.weights import AdaptiveWeights, top_of


def adaptive(weight: float = 1.0, **rule: float) -> tuple[AdaptiveWeights, list[list[float]]]:
    applied: list[list[float]] = []
    bound = [
        Bound(
            "a", RewardEntry(function="f.py::a", weight=weight, range=(0.0, 2.0), adaptive=Adaptive(**rule))
        ),
        Bound("b", RewardEntry(function="f.py::b", weight=0.5)),
    ]
    return AdaptiveWeights(bound, lambda weights: applied.append(list(weights))), applied


def line(weights: AdaptiveWeights, *scores: float | None) -> dict[str, float]:
    """One logging window with these scores of `a`."""
    if scores:
        weights.scored(scored([[one, 0.0] for one in scores], names=("a", "b")), [])
    return dict(weights.metrics())


@pytest.mark.guide("G17")
def test_a_reward_hardly_ever_earned_weighs_more_after_two_lines() -> None:
    weights, applied = adaptive()
    assert line(weights, 0.0, 1.0, 0.5, 0.0) == {"rewards/a/weight": 1.0, "rewards/a/success": 0.0}
    assert applied == []
    line(weights, 0.0, 0.0, 0.0, 2.0)
    assert applied == [[1.2, 0.5]]
    assert line(weights, 0.0, 0.0, 0.0, 0.0)["rewards/a/weight"] == 1.2


@pytest.mark.guide("G17")
def test_one_that_is_always_earned_weighs_less() -> None:
    weights, applied = adaptive()
    for _ in range(4):
        line(weights, 2.0, 1.99, 2.0, None)
    assert applied == [[0.9, 0.5], [0.9 * 0.9, 0.5]]


def test_success_between_the_lines_and_changing_sides_move_nothing() -> None:
    weights, applied = adaptive()
    for scores in ((2.0, 0.0), (0.0, 0.0), (2.0, 2.0), (0.0, 0.0), (2.0, 0.0), (0.0, 0.0)):
        line(weights, *scores)
    assert applied == []


def test_the_weight_stays_within_its_bounds() -> None:
    weights, _ = adaptive(weight=9.0)
    for _ in range(8):
        line(weights, 0.0, 0.0)
    assert weights.weights[0] == 10.0
    low, _ = adaptive(weight=0.11, min=0.1)
    for _ in range(8):
        line(low, 2.0, 2.0)
    assert low.weights[0] == 0.1


def test_a_window_without_completions_moves_nothing() -> None:
    weights, applied = adaptive()
    for _ in range(5):
        assert line(weights) == {"rewards/a/weight": 1.0}
    assert applied == []


def test_a_restored_one_goes_on_where_it_was() -> None:
    first, _ = adaptive()
    line(first, 0.0, 0.0)
    first.scored(scored([[0.0, 0.0]], names=("a", "b")), [])
    second, applied = adaptive()
    second.restore(json.loads(json.dumps(first.state())))
    second.metrics()
    assert applied == [[1.0, 0.5], [1.2, 0.5]]


def test_the_top_of_a_range_is_its_last_hundredth() -> None:
    assert (top_of((0.0, 1.0)), top_of((-1.0, 0.0))) == (0.99, pytest.approx(-0.01))


def test_an_adaptive_reward_must_declare_its_range() -> None:
    from types import SimpleNamespace
    from typing import Any, cast

    from trainer.job import check_adaptive

    entry = RewardEntry(function="f.py::a", adaptive=Adaptive())
    description = cast(Any, SimpleNamespace(rewards=[SimpleNamespace(name="a", entry=entry)]))
    with pytest.raises(UsageError, match=r"reward 'a' is adaptive, so it must declare its range"):
        check_adaptive(description)
