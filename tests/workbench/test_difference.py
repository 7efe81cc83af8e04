"""What changes between two tables of the same rows."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.errors import UsageError
from tests.workbench.tables import samples, table
from workbench.difference import compare, compared_pairs
from workbench.reports.diff_text import to_text
from workbench.scoring import ScoreTable

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
    (change,) = found.rewards
    assert (change.name, change.was, change.both_names, change.better) == (
        "second",
        "first",
        "first -> second",
        4,
    )
    assert found.before.names == ["first"]
    assert found.to_json()["rewards"][0]["was"] == "first"
    assert found.changed(1)[0].scores == {"second": (0.0, 1.0)}


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
def test_pairs_are_those_of_counting(rows: list[tuple[int, int, str]]) -> None:
    old, new, groups = (list(column) for column in zip(*rows, strict=True))
    pairs = [
        pair for pair in itertools.combinations(range(len(rows)), 2) if groups[pair[0]] == groups[pair[1]]
    ]
    turned = sum((old[i] - old[j]) * (new[i] - new[j]) < 0 for i, j in pairs)
    broken = sum(old[i] == old[j] and new[i] != new[j] for i, j in pairs)
    made = sum(old[i] != old[j] and new[i] == new[j] for i, j in pairs)
    found = compared_pairs(np.array(old, float), np.array(new, float), groups)
    assert found == (turned, broken, made, len(pairs))
    changed = compare(table({"r": old}, groups), table({"r": new}, groups))
    assert (changed.ranks > 0) <= (turned + broken + made > 0)
    assert (changed.turned, changed.ties_broken, changed.ties_made, changed.pairs) == found


def test_ties_made_and_broken_change_ranks_without_turning_a_pair() -> None:
    found = compare(table({"r": [0, 0, 0, 1]}, GROUPS), table({"r": [0, 1, 1, 1]}, GROUPS))
    text = to_text(found, samples(["", "", "", ""], GROUPS))
    assert "inside groups: 4 rows change their rank; of 2 pairs 0 turned, 1 tie broken, 1 tie made" in text


def test_infinite_totals_are_equal_to_themselves() -> None:
    both = np.array([math.inf, math.inf])
    assert compared_pairs(both, np.array([math.inf, 0.0]), ["a", "a"]) == (0, 1, 0, 1)


def test_rounding_breaks_no_tie() -> None:
    found = compare(table({"r": [0.3, 0.3]}, ["a", "a"]), table({"r": [0.3, 0.1 + 0.2]}, ["a", "a"]))
    assert (found.ranks, found.ties_broken) == (0, 0)


def scored(texts: list[str], values: list[float], groups: list[str]) -> ScoreTable:
    """A table that knows what was scored."""
    return replace(
        table({"r": values}, groups), prompts=[f"asked in {group}" for group in groups], completions=texts
    )


def test_rows_in_another_order_are_matched_by_what_they_say() -> None:
    before = scored(["a", "b", "c", "d"], [0, 1, 2, 3], GROUPS)
    before.errors[1, "r"] = "why"
    turned = scored(["d", "c", "b", "a"], [3, 2, 1, 7], ["b", "b", "a", "a"])
    found = compare(before, turned)
    assert ([row.row for row in found.changed() if row.scores["r"] != (1.0, 1.0)], found.flips) == ([3], 2)
    assert (found.rewards[0].equal, found.before.errors, found.before.ids) == (
        3,
        {(2, "r"): "why"},
        ["3", "2", "1", "0"],
    )


def test_equal_rows_of_equal_groups_are_matched_group_by_group() -> None:
    before = replace(scored(["a", "b", "a", "b"], [0, 1, 2, 3], GROUPS), prompts=["p"] * 4)
    after = replace(scored(["b", "a", "a", "b"], [1, 2, 0, 3], ["x", "y", "x", "y"]), prompts=["p"] * 4)
    assert compare(before, after).rewards[0].equal == 4


def test_other_completions_under_the_same_names_are_refused() -> None:
    before = scored(["a", "b", "c", "d"], [0, 1, 2, 3], GROUPS)
    with pytest.raises(UsageError, match="2 of the 4 completions of after are not among those of before"):
        compare(before, scored(["a", "x", "c", "y"], [0, 1, 2, 3], GROUPS))
    with pytest.raises(UsageError, match="before and after group their rows differently"):
        compare(before, replace(before, groups=["a", "b", "b", "b"]))


def test_the_same_rows_read_as_chat_are_the_same() -> None:
    before = scored(["a", "b", "c", "d"], [0, 1, 2, 3], GROUPS)
    chat = [[{"role": "assistant", "content": text}] for text in "abcd"]
    asked = [[{"role": "user", "content": f"asked in {group}"}] for group in GROUPS]
    assert compare(before, replace(before, completions=chat, prompts=asked)).rewards[0].equal == 4


def test_rows_that_hold_the_same_objects_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    before = scored(["a", "b", "c", "d"], [0, 1, 2, 3], GROUPS)
    monkeypatch.setattr("workbench.difference._digests", None)
    assert compare(before, before.reweighted({"r": 2.0})).total.better == 3


def test_less_of_a_penalty_is_better() -> None:
    found = compare(
        table({"r": [1, 1]}, ["a", "a"], weights=[-1.0]), table({"r": [0, 2]}, ["a", "a"], weights=[-1.0])
    )
    more = compare(
        table({"r": [1, 1]}, ["a", "a"], weights=[-1.0]), table({"r": [2, 2]}, ["a", "a"], weights=[-1.0])
    )
    assert ([found.rewards[0].better, found.rewards[0].worse], found.total.better) == ([1, 1], 1)
    assert "less is better, as the weight is below 0: r" in to_text(found, samples(["", ""], ["a", "a"]))
    assert ([more.rewards[0].better, more.rewards[0].worse], more.total.worse) == ([0, 2], 2)


def test_normalised_rewards_are_compared_by_what_ranks_them() -> None:
    columns, mode = {"a": [1, 0, 1, 0], "b": [0, 2, 0, 2]}, "normalize_then_sum"
    before = table(columns, GROUPS, weights=[2.0, 1.0], aggregation=mode)
    after = table(columns, GROUPS, weights=[1.0, 2.0], aggregation=mode)
    found = compare(before, after)  # the totals of `before` are all 2
    assert (found.turned, found.ties_broken, found.ranks, found.flips) == (2, 0, 4, 4)


def test_huge_scores_are_compared_without_a_warning() -> None:
    found = compare(table({"r": [1e308, 0]}, ["a", "a"]), table({"r": [-1e308, 1e308]}, ["a", "a"]))
    assert (found.rewards[0].better, found.rewards[0].worse) == (1, 1)
    assert "1e+308" in to_text(found, samples(["", ""], ["a", "a"]))
