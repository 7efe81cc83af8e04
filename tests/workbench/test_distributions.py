"""Distributions of a score table: counted by hand, and against `rewards.signal`."""

from __future__ import annotations

import json
import math
import time

import numpy as np
import pytest

from rewards import signal
from tests.workbench.tables import table
from workbench.distributions import Distributions, distributions
from workbench.features import Features, features_of

NAN = math.nan


def small() -> Distributions:
    """Two groups of three; `right` decides, `neat` abstains once."""
    return distributions(
        table(
            {"right": [1, 0, 0, 1, 1, 1], "neat": [0.5, 0.5, 0, 1, NAN, 1]},
            ["a", "a", "a", "b", "b", "b"],
            weights=[2.0, 1.0],
            right={"range": (0.0, 1.0), "kind": "correctness"},
            neat={"range": (0.0, 1.0), "abstains": True},
        )
    )


@pytest.mark.guide("G24")
def test_a_reward_is_counted_over_all_rows() -> None:
    neat = small().rewards[1]
    assert (neat.rows, neat.numbers, neat.none, neat.failed) == (6, 5, 1, 0)
    assert (neat.mean, neat.quantiles[0], neat.quantiles[3], neat.quantiles[-1]) == (0.6, 0.0, 0.5, 1.0)
    assert (neat.at_low, neat.at_high, neat.distinct) == (0.2, 0.4, 3)
    assert neat.histogram is not None
    assert (neat.histogram.values, neat.histogram.counts) == ((0.0, 0.5, 1.0), (1, 2, 2))


@pytest.mark.guide("G2")
def test_inside_groups_only_differences_count() -> None:
    right, neat = small().rewards
    # an abstention adds 0 to the total, so `neat` does tell the rows of the second group apart
    assert (right.dead, neat.dead) == (0.5, 0.0)
    assert right.ties == pytest.approx(4 / 6)
    assert right.spread == pytest.approx(math.sqrt(1 / 3) / 2)


def test_groups_say_which_of_them_teach_nothing() -> None:
    found = distributions(table({"r": [1, 0, 1, 1, 5]}, ["a", "a", "b", "b", "alone"]))
    assert [(group.name, group.rows, group.dead) for group in found.groups] == [
        ("a", 2, False),
        ("b", 2, True),
        ("alone", 1, False),
    ]
    assert (found.signal.groups, found.signal.dead, found.signal.sizes) == (2, 1, (1, 2))


@pytest.mark.guide("G8")
def test_shares_add_up_to_one_with_abstentions_counted_as_nothing() -> None:
    found = small()
    assert sum(found.between.share) == pytest.approx(1)
    assert found.between.correlation[0][1] == found.between.correlation[1][0]


def test_many_values_are_binned_over_the_declared_range() -> None:
    values = np.linspace(0.2, 0.8, 50)
    found = distributions(table({"r": list(values)}, ["g"] * 50, r={"range": (0.0, 1.0)}))
    histogram = found.rewards[0].histogram
    assert histogram is not None
    assert (histogram.low, histogram.high, histogram.values) == (0.0, 1.0, None)
    assert (sum(histogram.counts), histogram.counts[0]) == (50, 0)


def test_a_reward_without_any_number_is_no_error() -> None:
    found = distributions(table({"r": [NAN, NAN], "s": [0.0, 1.0]}, ["g", "g"]))
    empty = found.rewards[0]
    assert (empty.numbers, empty.histogram, empty.quantiles) == (0, None, ())
    assert math.isnan(empty.mean)
    json.dumps(found.to_json(), allow_nan=False)


@pytest.mark.guide("G3")
def test_the_margin_tells_that_lesser_rewards_can_outweigh_the_answer() -> None:
    weights = [0.5, 1.0]
    found = distributions(
        table({"correctness": [0, 1, 1], "format": [0, 1, 0]}, ["g"] * 3, weights=weights)
    ).margin
    assert found is not None
    assert (found.reward, found.declared, found.margin) == ("correctness", False, -0.5)


def test_labels_are_foretold_like_rewards() -> None:
    labels = ["right", "wrong", "hack", "right"]
    found = distributions(table({"long": [0, 1, 1, 0]}, ["a", "a", "b", "b"], labels=labels))
    assert found.signal.pushes["labelled right"] < 0
    assert [best.others["labelled right"] for best in found.signal.best_of] == [0.5, 0.0]
    assert [(part.name, part.rows, part.means["long"]) for part in found.labels] == [
        ("right", 2, 0.0),
        ("wrong", 1, 1.0),
        ("hack", 1, 1.0),
    ]


def test_planned_groups_larger_than_the_samples_are_not_foretold() -> None:
    scores = table({"r": [0, 1, 1, 1]}, ["g"] * 4)
    assert math.isnan(distributions(scores, group_size=8).signal.planned_dead)
    assert distributions(scores, group_size=3).signal.planned_dead == pytest.approx(1 / 4)


def test_other_weights_give_what_a_fresh_look_gives() -> None:
    rng = np.random.default_rng(0)
    scores = table(
        {"a": list(rng.integers(0, 2, 40)), "b": list(rng.random(40))}, [str(row // 4) for row in range(40)]
    )
    features = features_of(["x" * int(row) for row in rng.integers(1, 50, 40)], scores.groups)
    again = scores.reweighted({"a": 3.0, "b": 0.1})
    quick = distributions(again, features, before=distributions(scores, features))
    assert quick == distributions(again, features)


def test_normalised_rewards_share_alike_whatever_their_scale() -> None:
    columns = {"small": [0.0, 0.01, 0.02, 0.0], "large": [100.0, 0.0, 50.0, 0.0]}
    found = distributions(table(columns, ["a", "a", "b", "b"], aggregation="normalize_then_sum"))
    assert found.between.share == pytest.approx((0.5, 0.5), abs=0.02)


@pytest.mark.guide("G2")
def test_quantities_are_those_of_signal() -> None:
    rng = np.random.default_rng(1)
    groups = [str(row // 8) for row in range(160)]
    scores = table({"correct": list(rng.integers(0, 2, 160).astype(float))}, groups)
    length = rng.random(160)
    found = distributions(scores, Features({"length": length}), group_size=4).signal
    assert found.planned_dead == signal.dead_probability(scores.totals, groups, 4)
    assert found.pushes["length"] == pytest.approx(
        signal.selection_differential(length, scores.advantages, groups)
    )
    assert found.best_of[-1].total == pytest.approx(
        signal.best_of_n(scores.totals, scores.totals, groups, 8).total
    )
    assert found.support == pytest.approx(signal.support(scores.scores[:, 0], groups, found.support_k))


@pytest.mark.parametrize(
    ("values", "declared", "passing"),
    [
        ([0.0, 1.0, 1.0, 0.0], {}, 1.0),
        ([-1.0, 0.0, 0.0, -1.0], {}, 0.0),
        ([0.1, 0.5, 0.7, 0.9], {}, math.nan),
        ([0.1, 0.5, 0.7, 0.9], {"range": (0.0, 1.0)}, math.nan),
        ([0.1, 0.5, 0.7, 1.0], {"range": (0.0, 1.0)}, 1.0),
        ([0.0, 0.0, 0.0, 0.0], {}, math.nan),
        ([math.nan] * 4, {}, math.nan),
    ],
)
def test_a_completion_passes_only_where_a_success_is_known(
    values: list[float], declared: dict[str, object], passing: float
) -> None:
    found = distributions(table({"r": values}, ["a", "a", "b", "b"], r=declared)).signal
    assert found.passing == pytest.approx(passing, nan_ok=True)
    known = not math.isnan(passing)
    assert (found.passes, found.support_k, math.isnan(found.support)) == (
        ("r", 2, False) if known else ("", 0, True)
    )


def test_two_rows_of_different_scores_are_no_two_valued_reward() -> None:
    assert distributions(table({"r": [0.3, 0.7]}, ["a", "a"])).signal.passes == ""


def test_twenty_thousand_rows_are_reweighted_in_a_moment() -> None:
    rng = np.random.default_rng(2)
    groups = [str(row // 8) for row in range(20_000)]
    scores = table({name: list(rng.integers(0, 5, 20_000) / 4) for name in "abc"}, groups)
    before = distributions(scores)
    began = time.process_time()
    distributions(scores.reweighted({"a": 0.0}), before=before)
    assert time.process_time() - began < 0.5  # about 0.07 on a quiet machine


def test_both_ends_of_what_is_foretold_come_from_the_same_prompts() -> None:
    hard_and_easy = table({"r": [0.0] * 8 + [1.0] * 2}, ["hard"] * 8 + ["easy"] * 2)
    found = distributions(hard_and_easy).signal
    assert (found.support_k, found.support, [best.total for best in found.best_of]) == (2, 0.0, [0.5, 0.5])
    groups = [str(row // 8) for row in range(24)] + ["few"] * 2
    found = distributions(table({"r": [0.0, 1.0] * 12 + [1.0] * 2}, groups)).signal
    assert (found.support_k, found.support_from, found.foretold) == (8, (3, 4), (3, 4))
    assert [found.best_of[0].total, found.dead_at[2]] == [0.5, pytest.approx(3 / 7)]


def test_what_was_never_computed_is_no_zero() -> None:
    scores = table({"a": [0, 1, NAN, 1] * 2, "b": [NAN] * 8}, ["x"] * 4 + ["y"] * 4, weights=[1.0, 0.0])
    found = distributions(scores).signal
    assert [best.n for best in found.best_of] == [1, 2]  # three rows of each group have a total
    assert math.isnan(found.best_of[-1].others["b"])
    assert found.best_of[-1].others["a"] == 1.0


def test_normalised_rewards_are_ranked_by_their_normalised_sum() -> None:
    columns, groups = {"a": [0.0, 1.0] * 4, "b": [2.0, 0.0] * 4}, ["x"] * 4 + ["y"] * 4
    scores = table(columns, groups, weights=[2.0, 1.0], aggregation="normalize_then_sum")
    found = distributions(scores, group_size=3)
    assert (found.signal.by, found.signal.dead, found.signal.distinct, found.total.dead) == (
        "normalised sum",
        0,
        2.0,
        0.0,
    )
    assert (found.signal.dead_at[4], found.signal.planned_dead) == (0.0, 0.0)
    assert found.signal.best_of[-1].others == {"a": 1.0, "b": 0.0}
    mirrored = table({"a": [0.1, 0.3] * 4, "b": [0.3, 0.1] * 4}, groups, aggregation="normalize_then_sum")
    same = distributions(mirrored)
    assert (same.signal.dead, same.signal.dead_at[2], same.signal.distinct, same.total.dead) == (
        2,
        1.0,
        1.0,
        1.0,
    )


def test_the_margin_counts_an_abstention_as_nothing_and_is_left_out_where_rewards_are_normalised() -> None:
    columns: dict[str, list[float]] = {"correctness": [0, 1, 1, 0], "bonus": [NAN, 1, NAN, 1]}
    found = distributions(table(columns, ["g"] * 4, weights=[0.5, 1.0])).margin
    assert found is not None
    assert found.margin == -0.5
    assert distributions(table(columns, ["g"] * 4, aggregation="normalize_then_sum")).margin is None


def test_a_bonus_that_is_given_or_not_tells_rows_apart() -> None:
    found = distributions(table({"correctness": [0, 1, 1, 0], "bonus": [NAN, 1, NAN, 1]}, ["g"] * 4))
    bonus = found.rewards[1]
    assert (bonus.dead, bonus.mean) == (0.0, 1.0)
    assert bonus.ties == pytest.approx(1 / 3)
    assert found.signal.pushes["bonus"] > 0.1
    assert found.between.share[1] == pytest.approx(0.5)


def test_scores_beyond_float32_are_infinite_and_no_warning() -> None:
    found = distributions(table({"a": [1e308, -1e308, 0, 1, 2, 3, 4, 5]}, ["x"] * 4 + ["y"] * 4))
    assert (found.rewards[0].infinite, found.total.infinite, found.rewards[0].mean) == (2, 2, 2.5)
    json.dumps(found.to_json(), allow_nan=False)


def test_totals_that_float32_does_not_tell_apart_are_dead_everywhere() -> None:
    found = distributions(table({"r": [1e9, 1e9 + 1, 1e9, 1e9 + 2]}, ["a", "a", "b", "b"]), group_size=2)
    assert (found.signal.dead, found.signal.dead_at[2], found.signal.distinct) == (2, 1.0, 1.0)
    assert (found.total.dead, found.total.ties, found.rewards[0].dead) == (1.0, 1.0, 1.0)
