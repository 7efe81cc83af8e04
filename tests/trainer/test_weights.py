"""Adaptive weights: TRL's weight moves with success, slowly, within bounds, and survives a checkpoint."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rewards.errors import UsageError
from rewards.manifest import Adaptive, RewardEntry
from tests.trainer.batches import scored
from trainer.rewarding.wrapped import Bound
from trainer.watching.callback import as_callback
from trainer.watching.weights import AdaptiveWeights, top_of


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


def test_a_line_that_a_stop_cuts_short_moves_nothing_and_what_was_counted_goes_on() -> None:
    weights, applied = adaptive()
    told: list[dict[str, float]] = []
    journal = SimpleNamespace(
        offset=0, stopping=None, may_save=lambda step: True, flush=lambda: None,
        logged=lambda step, logs, more: told.append(more()),
    )  # fmt: skip
    callback = as_callback(cast(Any, journal), [weights])
    control = SimpleNamespace()

    def log(step: int, *scores: float) -> None:
        weights.scored(scored([[one, 0.0] for one in scores], names=("a", "b")), [])
        callback.on_log(None, SimpleNamespace(global_step=step, logging_steps=10), control)

    log(10, 0.0, 0.0)
    journal.stopping = "SIGTERM"
    log(16, 0.0, 0.0)
    assert (told[-1], applied) == ({}, [])
    log(20, 2.0, 2.0)
    assert told[-1]["rewards/a/success"] == 0.5  # of all four rows since step 10


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
    from trainer.job import check_adaptive

    entry = RewardEntry(function="f.py::a", adaptive=Adaptive())
    description = cast(Any, SimpleNamespace(rewards=[SimpleNamespace(name="a", entry=entry)]))
    with pytest.raises(UsageError, match=r"reward 'a' is adaptive, so it must declare its range"):
        check_adaptive(description, {})


def test_an_adaptive_reward_must_not_be_weighed_negatively() -> None:
    from trainer.job import check_adaptive

    entry = RewardEntry(function="f.py::a", adaptive=Adaptive(), range=(0.0, 1.0))
    description = cast(Any, SimpleNamespace(rewards=[SimpleNamespace(name="a", entry=entry)]))
    check_adaptive(description, {})
    with pytest.raises(UsageError, match=r"reward 'a' is adaptive and its weight=-0.5 lies below"):
        check_adaptive(description, {"a": -0.5})


def test_an_adaptive_reward_that_only_watches_keeps_its_weight_of_zero() -> None:
    weights, applied = adaptive(weight=0.0)
    for _ in range(4):
        assert line(weights, 0.0, 0.0) == {}
    assert applied == []


@pytest.mark.parametrize(("weight", "least"), [(-0.5, 0.0), (0.05, 0.1)])
def test_a_weight_below_the_least_an_adaptive_reward_may_have_is_refused(weight: float, least: float) -> None:
    with pytest.raises(
        UsageError, match=rf"reward 'a' is adaptive and its weight={weight:g} lies below .* min={least:g};"
    ):
        adaptive(weight=weight, min=least)
