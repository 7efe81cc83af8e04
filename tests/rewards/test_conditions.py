"""`when`: abstaining on the prompts a reward does not apply to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rewards.conditions import call_where, rows_concerned
from rewards.contract import Batch, CallResult, Status, call

ROWS = Batch(["p"] * 4, ["a", "bb", "ccc", "dddd"], columns={"task": ["maths", "code", "maths", None]})


def lengths(completions: list[str], log_extra: Any, **_: Any) -> list[float]:
    log_extra("text", list(completions))
    if "bb" in completions:
        raise ValueError("no")
    return [float(len(text)) for text in completions]


@pytest.mark.parametrize(
    ("when", "rows"),
    [
        ({}, [0, 1, 2, 3]),
        ({"task": "maths"}, [0, 2]),
        ({"task": ["maths", "code"]}, [0, 1, 2]),
        ({"level": 1}, []),
    ],
)
def test_a_row_is_concerned_where_every_column_fits(when: dict[str, Any], rows: list[int]) -> None:
    assert rows_concerned(when, ROWS) == rows


def test_the_reward_sees_its_rows_only_and_abstains_on_the_others() -> None:
    result = call_where({"task": "maths"}, ROWS, lambda batch: call(lengths, batch, record_credits=False))
    assert result.scores[[0, 2]].tolist() == [1.0, 3.0]
    assert [Status(value) for value in result.status] == [Status.NUMBER, Status.ABSTAINED] * 2
    assert result.extra == {"text": ["a", None, "ccc", None]}


def test_errors_keep_the_numbers_of_their_rows() -> None:
    result = call_where({"task": "code"}, ROWS, lambda batch: call(lengths, batch))
    assert list(result.errors) == [1]


def test_a_reward_that_applies_to_nothing_is_not_called() -> None:
    def never(batch: Batch) -> CallResult:
        raise AssertionError

    assert np.isnan(call_where({"task": "art"}, ROWS, never).scores).all()
