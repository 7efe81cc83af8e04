"""Where a row stands in its group, and what would overtake the next better one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rewards.tracing.explanation import Credit, RewardExplanation
from tests.workbench.tables import described
from workbench.standing import Field, Gain, ceilings


def explained(score: float, missed: dict[str, float], paid: float = 0.0) -> RewardExplanation:
    """A reward that gave `paid` and missed these parts."""
    credits = (Credit("paid", paid, paid, 1),) if paid else ()
    return RewardExplanation(
        "r", score, credits, (), True, tuple(Credit(name, 0.0, of, 2) for name, of in missed.items())
    )


def field(totals: list[float], groups: str, weight: float = 1.0) -> Field:
    """A call of one reward whose rows are numbered from 10."""
    numbers = list(range(10, 10 + len(totals)))
    return Field(
        np.array(totals)[:, None], numbers, list(groups), described([{"name": "r", "weight": weight}])
    )


@pytest.mark.guide("G2")
def test_a_row_has_a_rank_an_advantage_and_a_next_better_row() -> None:
    placed = field([0.0, 0.5, 1.0, 0.25], "aaab").place(10, [explained(0.0, {})], [1.0])
    assert placed is not None
    assert (placed.rank, placed.rows, placed.mean) == (3, 3, 0.5)
    assert (placed.next_row, placed.gap, placed.gains) == (11, 0.5, ())
    assert placed.advantage == pytest.approx(-1.0, abs=0.01)


def test_the_smallest_missed_part_that_is_enough_is_named() -> None:
    reward = explained(0.0, {"small": 0.25, "enough": 0.75, "more": 1.0})
    placed = field([0.0, 0.5], "aa").place(10, [reward], [1.0])
    assert placed is not None
    assert placed.gains == (Gain("r", "enough", 0.75),)


def test_parts_that_are_enough_only_together_are_all_named() -> None:
    placed = field([0.0, 0.5], "aa", 2.0).place(10, [explained(0.0, {"a": 0.5, "b": 0.25})], [2.0])
    assert placed is not None
    assert (placed.gap, [gain.points for gain in placed.gains]) == (1.0, [1.0, 0.5])


def test_the_best_row_has_nobody_to_overtake() -> None:
    placed = field([1.0, 1.0, 0.0], "aaa").place(11, [explained(1.0, {"x": 1.0})], [1.0])
    assert placed is not None
    assert (placed.rank, placed.next_row, placed.gains, placed.to_json()["next"]) == (1, None, (), None)


def test_a_row_without_a_total_stands_nowhere() -> None:
    assert field([math.nan, 1.0], "aa").place(10, [explained(0.0, {})], [1.0]) is None


def test_the_ceiling_is_declared_or_what_the_code_says() -> None:
    reward = replace(explained(0.25, {"b": 0.5}, paid=0.25), most=0.75)
    scores = np.array([[0.25], [0.5]])
    assert ceilings([reward], described([{"name": "r", "range": (0.0, 1.0)}]), scores) == (1.0,)
    assert ceilings([reward], described([{"name": "r"}]), scores) == (0.75,)


def test_the_ceiling_is_not_below_what_a_row_got() -> None:
    reward = replace(explained(0.25, {}), most=0.75)
    assert ceilings([reward], described([{"name": "r"}]), np.array([[2.0]])) == (2.0,)
    assert ceilings([reward], described([{"name": "r", "range": (0.0, 1.0)}]), np.array([[2.0]])) == (2.0,)


def test_there_is_no_ceiling_where_nobody_knows_it() -> None:
    reward = explained(0.25, {"b": 0.5}, paid=0.25)  # what this row might have got says nothing of others
    assert ceilings([reward], described([{"name": "r"}]), np.array([[0.5]])) == (None,)


def test_a_branch_that_would_have_paid_more_counts_once() -> None:
    paid = RewardExplanation(
        "r", 0.2, (Credit("paid", 0.2, 1.0, 1),), (), True, (Credit("other", 0.0, 0.8, 2),)
    )
    placed = field([0.2, 1.5], "aa").place(10, [paid], [1.0])
    assert placed is not None
    assert placed.gains == ()
