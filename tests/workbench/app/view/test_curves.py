from __future__ import annotations

import json
import math
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.app.view.curves import MOST_RUNS, curves, decimated, run_mark, run_marks, series_of


def test_reward_comes_first_and_loss_last() -> None:
    lines = [
        {"step": 1, "loss": 0.1, "reward": 1.0, "rewards/a/mean": 0.5, "rewards/b/mean": 0.2, "other": 3}
    ]
    found = curves(lines)
    assert [chart["key"] for chart in found] == ["reward", "rewards", "loss"]
    assert found[1]["now"] == "0.5 · 0.2"


def test_what_is_no_number_is_left_out() -> None:
    lines = [{"step": 1, "kl": "nan"}, {"step": 2, "kl": 0.5}, {"step": 3, "kl": True}, {"step": 4}]
    assert series_of(lines, "kl") == [(2.0, 0.5)]
    assert curves([{"step": 1, "reward": "inf"}]) == []


def test_a_long_run_is_drawn_in_few_bytes_and_keeps_its_spikes() -> None:
    generator = np.random.default_rng(0)
    names = ["reward", "reward_std", "rewards/a/mean", "rewards/b/mean", "kl", "entropy", "loss", "grad_norm"]
    lines = [{"step": step, **{name: float(generator.random()) for name in names}} for step in range(5_000)]
    lines[2_345]["kl"] = 99.0
    found = curves(lines)
    assert len(json.dumps(found)) < 60_000
    kl = next(chart for chart in found if chart["key"] == "kl")
    assert ">99<" in kl["svg"]


def test_several_runs_are_a_line_each_in_charts_of_one_metric_and_names_are_escaped() -> None:
    name = "rewards/<img>/mean"
    other = [{"step": 9, name: 0.1, "reward": 1.0}, {"step": 10, name: 0.2}]
    found = curves([{"step": 1, name: 0.5}, {"step": 2, name: 0.7}], {"b": other, "<b>": []}, "a")
    assert [chart["key"] for chart in found] == ["reward", "rewards:<img>"]
    assert "<img>" not in found[1]["svg"] + found[1]["about"]
    assert (found[1]["svg"].count("<polyline"), found[1]["now"]) == (2, "0.7 · 0.2 · –")
    assert found[0]["svg"].count("<circle") == 1  # a lone point has no line to be seen by


def test_no_two_runs_look_alike_not_even_without_colour() -> None:
    marks = [run_mark(number) for number in range(MOST_RUNS)]
    assert len(set(marks)) == len({mark.partition(";")[2] for mark in marks}) == MOST_RUNS
    assert [mark["name"] for mark in run_marks(["a", "<b>"])] == ["a", "<b>"]
    assert "<b>" not in run_marks(["<b>"])[0]["svg"]


@given(st.lists(st.tuples(st.integers(0, 10**6), st.floats(-1e9, 1e9)), min_size=1, unique_by=lambda p: p[0]))
def test_decimating_keeps_both_extremes_and_the_order(points: list[tuple[float, float]]) -> None:
    points = sorted(points)
    kept = decimated(points, 10)
    assert kept == sorted(kept)
    assert len(kept) <= max(len(points) if len(points) <= 10 else 0, 12)
    values = [value for _, value in points]
    assert {min(values), max(values)} <= {value for _, value in kept}


def test_equal_values_are_a_line_inside_the_picture() -> None:
    svg = curves([{"step": step, "kl": 0.0} for step in range(3)])[0]["svg"]
    for path in re.findall(r'points="([^"]*)"', svg):
        assert all(math.isfinite(float(part)) for point in path.split() for part in point.split(","))
