"""A call that raised, made again: nobody else loses a score, and no score is that of a smaller call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rewards.contract import Batch, Status
from rewards.repeating import call_rows_apart


def batch(*texts: str) -> Batch:
    return Batch(["p"] * len(texts), list(texts))


def longest(completions: list[str], **_: Any) -> list[float]:
    if "bad" in completions:
        raise ValueError("no")
    most = max(map(len, completions))
    return [float(len(text) == most) for text in completions]


@pytest.mark.parametrize("bad", [[17], [0], [199], [3, 4, 120]])
def test_only_the_rows_that_raise_fail(bad: list[int]) -> None:
    def picky(completions: list[str], **_: Any) -> list[float]:
        if any(int(text) in bad for text in completions):
            raise ValueError("no")
        return [float(text) for text in completions]

    result = call_rows_apart(picky, batch(*map(str, range(200))))
    assert sorted(result.errors) == bad
    assert [row for row in range(200) if result.status[row] == Status.RAISED] == bad
    assert result.scores[150] == 150.0


def test_a_reward_of_groups_fails_by_whole_groups() -> None:
    def ranks(completions: list[str], **_: Any) -> list[float]:
        if "bad" in completions:
            raise ValueError("no")
        return [float(len(completions))] * len(completions)

    rows = Batch(["p"] * 6, ["a", "b", "bad", "c", "d", "e"], groups=["x", "x", "y", "y", "z", "z"])
    assert sorted(call_rows_apart(ranks, rows, scope="group").errors) == [2, 3]


def test_without_a_declared_scope_the_others_are_called_together() -> None:
    result = call_rows_apart(longest, batch("a", "bb", "bad", "cccc", "d"), scope="call")
    assert result.scores[[0, 1, 3, 4]].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert list(result.errors) == [2]
    assert result.notes == (
        "1 of 5 rows failed, and the others were scored in a call without it: "
        'declare scope = "row" (in rewardset.toml, or @reward(scope="row")) '
        "if a score depends on its own row alone",
    )


@pytest.mark.parametrize("scope", ["row", "group", "call"])
def test_what_a_call_changes_in_place_reaches_no_other_call(scope: str) -> None:
    def lowers(completions: list[list[dict[str, str]]], **_: Any) -> list[float]:
        scores = []
        for completion in completions:
            scores.append(float(completion[0]["content"].isupper()))
            completion[0]["content"] = completion[0]["content"].lower()
        if len(completions) > 2:
            raise ValueError("too many")
        return scores

    rows = Batch(["p"] * 4, [[{"content": text}] for text in "ABCD"], groups=["x", "x", "y", "y"])
    result = call_rows_apart(lowers, rows, scope=scope)
    assert result.scores[~np.isnan(result.scores)].tolist() == ([1.0] * 4 if scope != "call" else [])
    assert [completion[0]["content"] for completion in rows.completions] == list("ABCD")


def test_a_declared_row_is_its_own_affair() -> None:
    result = call_rows_apart(longest, batch("a", "bb", "bad", "cccc"), scope="row")
    assert (result.notes, list(result.errors)) == ((), [2])


def test_a_call_that_raises_though_no_row_does_has_failed() -> None:
    def alone(completions: list[str], **_: Any) -> list[float]:
        if len(completions) > 1:
            raise ValueError("one at a time")
        return [1.0]

    result = call_rows_apart(alone, batch("a", "b", "c"), scope="call")
    assert (result.status == Status.RAISED).all()
    assert "one at a time" in result.errors[2]
