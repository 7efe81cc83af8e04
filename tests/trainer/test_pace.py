"""What is due every so many steps, where only some steps are asked about."""

from __future__ import annotations

import pytest

from trainer.watching.pace import Pace


def due(pace: Pace, steps: range) -> list[int]:
    return [step for step in steps if pace.due(step)]


@pytest.mark.parametrize(("window", "expected"), [(1, [10, 20, 30]), (2, [11, 21, 31]), (4, [13, 21, 33])])
def test_the_first_step_that_reaches_a_multiple_is_due(window: int, expected: list[int]) -> None:
    assert due(Pace(10), range(1, 36, window)) == expected


def test_a_first_step_is_due_whatever_its_number() -> None:
    assert due(Pace(10, first=6), range(6, 31)) == [6, 10, 20, 30]


def test_a_step_is_due_once_and_with_an_interval_of_nothing_never() -> None:
    pace = Pace(2, first=1)
    assert [pace.due(step) for step in (1, 1, 2, 2, 3)] == [True, False, True, False, False]
    assert due(Pace(0, first=1), range(1, 9)) == []


def test_it_goes_on_after_the_step_it_is_given() -> None:
    assert due(Pace(10, last=9), range(11, 13)) == [11]
    assert due(Pace(10, last=10), range(11, 13)) == []
