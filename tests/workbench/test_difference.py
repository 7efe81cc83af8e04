"""What changes between two tables of the same rows."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.errors import UsageError
from tests.workbench.tables import table
from workbench.difference import compare, turned_pairs

NAN = math.nan
GROUPS = ["a", "a", "b", "b"]


def test_rows_are_better_worse_equal_lost_and_gained() -> None:
    found = compare(
        table({"r": [0, 1, 0.5, NAN], "s": [1, 1, 1, 1]}, GROUPS),
        table({"r": [1, 0, NAN, 2], "s": [1, 1, 1, 1]}, GROUPS),
    )
    changed, same = found.rewards
    assert (changed.better, changed.worse, changed.equal, changed.lost, changed.gained) == (1, 1, 0, 1, 1)
    assert (same.changed, same.equal, same.mean_after) == (0, 4, 1.0)


def test_ranks_count_from_the_best() -> None:
    found = compare(table({"r": [0, 1, 0, 1]}, GROUPS), table({"r": [0, 1, 1, 0]}, GROUPS))
    assert {row.row: row.rank for row in found.changed()} == {2: (2.0, 1.0), 3: (1.0, 2.0)}


@pytest.mark.guide("G24")
def test_a_turned_group_teaches_the_opposite() -> None:
    found = compare(table({"r": [0, 1, 0, 1]}, GROUPS), table({"r": [0, 1, 1, 0]}, GROUPS))
    assert (found.flips, found.turned, found.pairs, found.ranks) == (2, 1, 2, 2)
    assert (found.dead_before, found.dead_after) == (0, 0)
    assert found.order.tolist() == [2, 3]
    assert all(row.flips for row in found.changed())


def test_more_for_everybody_teaches_nothing_new() -> None:
    found = compare(table({"r": [0, 1, 0, 1]}, GROUPS), table({"r": [1, 2, 1, 2]}, GROUPS))
    assert (found.total.better, found.flips, found.turned, found.ranks) == (4, 0, 0, 0)


def test_silence_and_waking_are_counted_apart_from_flips() -> None:
    found = compare(table({"r": [0, 1, 0, 0]}, GROUPS), table({"r": [1, 1, 0, 1]}, GROUPS))
    assert (found.flips, found.silenced, found.woken) == (0, 2, 2)
    assert (found.dead_before, found.dead_after) == (1, 1)


def test_other_weights_of_the_same_scores_are_compared_alike() -> None:
    scores = table({"r": [0, 1, 0, 1], "s": [1, 0, 0, 1]}, GROUPS, weights=[1.0, 0.5])
    found = compare(scores, scores.reweighted({"s": 2.0}))
    assert ([change.changed for change in found.rewards], found.flips) == ([0, 0], 2)


def test_rewards_on_one_side_only_are_named() -> None:
    found = compare(
        table({"r": [0] * 4, "old": [0] * 4}, GROUPS), table({"r": [0] * 4, "new": [1] * 4}, GROUPS)
    )
    assert ([change.name for change in found.rewards], found.only_old, found.only_new) == (
        ["r"],
        ("old",),
        ("new",),
    )


def test_the_only_reward_of_each_side_is_compared_whatever_its_name() -> None:
    found = compare(table({"first": [0] * 4}, GROUPS), table({"second": [1] * 4}, GROUPS))
    assert [(change.name, change.better) for change in found.rewards] == [("second", 4)]


def test_json_is_strict() -> None:
    found = compare(table({"r": [0, NAN, 1, math.inf]}, GROUPS), table({"r": [1, 1, 1, 1]}, GROUPS))
    shown = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert shown["changed"][0]["scores"]["r"] in ([0.0, 1.0], [None, 1.0], ["inf", 1.0])
    assert {"sign_flips", "silenced", "woken"} == set(shown["advantages"])


def test_tables_of_other_rows_are_refused() -> None:
    with pytest.raises(UsageError, match="not the same samples"):
        compare(table({"r": [0, 1]}, ["a", "a"]), table({"r": [0, 1]}, ["a", "b"]))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from("ab")), min_size=1, max_size=8)
)
def test_turned_pairs_are_those_of_counting(rows: list[tuple[int, int, str]]) -> None:
    old, new, groups = (list(column) for column in zip(*rows, strict=True))
    pairs = [
        pair for pair in itertools.combinations(range(len(rows)), 2) if groups[pair[0]] == groups[pair[1]]
    ]
    turned = sum((old[i] - old[j]) * (new[i] - new[j]) < 0 for i, j in pairs)
    assert turned_pairs(np.array(old, float), np.array(new, float), groups) == (turned, len(pairs))
