"""Factors that follow the training step or the trainer's log."""

from __future__ import annotations

from typing import Any

import pytest

from rewards.contract import Batch, TrainerState, call
from rewards.library.shaping import adaptive, scheduled
from rewards.marks import mark_of, reward


@reward(kind="correctness", weight=2.0, range=(0.0, 1.0))
def first(completions: list[Any], one: list[Any], **columns: Any) -> list[Any]:
    return one


def at(shaped: Any, step: int) -> float:
    return float(shaped(["x"], one=[1.0], trainer_state=TrainerState(step))[0])


def test_a_schedule_moves_in_straight_lines_and_stays_outside() -> None:
    shaped = scheduled(first, {10: 1.0, 20: 0.0, 40: 0.5})
    assert [at(shaped, step) for step in (0, 10, 15, 20, 30, 40, 1000)] == [1, 1, 0.5, 0, 0.25, 0.5, 0.5]
    assert mark_of(shaped)["range"] == (0.0, 1.0)


def test_without_a_trainer_a_schedule_stands_at_its_beginning() -> None:
    assert scheduled(first, {0: 0.25, 5: 1.0})(["x"], one=[1.0]) == [0.25]


@pytest.mark.parametrize("points", [{}, {-1: 1.0}, {0: -0.5}])
def test_a_schedule_of_nothing_or_below_zero_is_refused(points: dict[int, float]) -> None:
    with pytest.raises(ValueError, match="must give factors of at least 0 to steps from 0 on"):
        scheduled(first, points)


def replay(shares: list[float], **settings: Any) -> float:
    state = TrainerState(len(shares))
    state.log_history = [{"loss": 0.0}, *({"first_adaptive/success": share} for share in shares)]
    return float(adaptive(first, **settings)(["x"], one=[1.0], trainer_state=state)[0])


@pytest.mark.guide("G17")
def test_a_reward_that_is_seldom_earned_gets_heavier_and_one_mostly_earned_lighter() -> None:
    assert replay([0.1]) == pytest.approx(1.2)
    assert replay([0.1, 0.2]) == pytest.approx(1.44)
    assert replay([0.9]) == pytest.approx(0.9)
    assert replay([0.3, 0.5, 0.8]) == 1.0


def test_a_factor_keeps_its_bounds() -> None:
    assert replay([0.0] * 100) == 10.0
    assert replay([1.0] * 100) == pytest.approx(0.1)
    assert replay([0.0] * 100 + [1.0], most=2.0) == pytest.approx(1.8)
    assert mark_of(adaptive(first))["range"] == (0.0, 10.0)


def test_patience_keeps_a_factor_from_swinging() -> None:
    assert replay([0.1, 0.9, 0.1, 0.9, 0.1], patience=2) == 1.0
    assert replay([0.1, 0.1, 0.1], patience=2) == pytest.approx(1.2)
    assert replay([0.1, 0.1, 0.1, 0.1], patience=2) == pytest.approx(1.44)


def test_the_share_of_successes_is_logged_without_the_factor() -> None:
    batch = Batch(["p"] * 4, ["x"] * 4, columns={"one": [1.0, 1.0, 0.5, None]})
    state = TrainerState(1)
    state.log_history = [{"first_adaptive/success": 0.0}]
    result = call(adaptive(first), batch, trainer_state=state)
    assert result.metrics == {"first_adaptive/success": [pytest.approx(2 / 3)]}
    assert result.scores[:3].tolist() == pytest.approx([1.2, 1.2, 0.6])


def test_the_factor_is_in_the_log_and_not_in_the_object() -> None:
    shaped = adaptive(first)
    state = TrainerState(1)
    state.log_history = [{"first_adaptive/success": 0.0}]
    scores = [
        shaped(["x"], one=[1.0], trainer_state=one)[0] for one in (state, state, TrainerState(0), state)
    ]
    assert scores == pytest.approx([1.2, 1.2, 1.0, 1.2])


def test_evaluation_and_gaps_in_the_log_do_not_move_it() -> None:
    state = TrainerState(1)
    state.log_history = [{"eval_first_adaptive/success": 0.0}, {"first_adaptive/success": float("nan")}, {}]
    assert adaptive(first)(["x"], one=[1.0], trainer_state=state) == [1.0]


@pytest.mark.parametrize(
    "settings", [{"low": 0.8, "high": 0.3}, {"up": 0.5}, {"down": 0}, {"most": 0.5}, {"patience": 0}]
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must keep 0 <= low < high <= 1"):
        adaptive(first, **settings)
