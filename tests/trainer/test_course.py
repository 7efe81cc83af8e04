"""The course of a run: series, trends, windows, places."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from trainer.diagnoses import Course, Facts
from trainer.diagnoses.course import MOST_POINTS, Series, mann_kendall


def course_of(values: list[float], name: str = "reward", **facts: object) -> Course:
    course = Course(Facts(**facts))  # type: ignore[arg-type]
    for step, value in enumerate(values, 1):
        course.add(step, {name: value})
    return course


def test_a_trend_is_found_through_noise_and_noise_is_no_trend() -> None:
    noise = np.random.default_rng(3).normal(0, 0.2, 300)
    steps = np.arange(300.0)
    up, flat = Series(steps, 0.001 * steps + noise), Series(steps, noise)
    assert (up.trend.direction, up.trend.p < 0.01) == (1, True)
    assert up.trend.change == pytest.approx(0.24, abs=0.06)
    assert flat.trend.p > 0.05


def test_mann_kendall_agrees_with_the_textbook() -> None:
    direction, p = mann_kendall(np.arange(10.0))
    assert direction == 1
    assert p == pytest.approx(math.erfc((44 / math.sqrt(125)) / math.sqrt(2)))
    assert mann_kendall(np.array([3.0, 2.0, 1.0, 0.0, -1.0]))[0] == -1
    assert mann_kendall(np.ones(10)) == (0, 1.0)


def test_the_window_is_a_tenth_of_the_planned_run_and_at_least_five_steps() -> None:
    course = course_of([float(n) for n in range(200)], total_steps=400)
    assert course.window(course.series("reward")).steps[0] == 161
    short = course_of([1.0] * 8, total_steps=8)
    assert len(short.window(short.series("reward"))) == 5
    assert course_of([1.0] * 4).recent("reward") is None


def test_the_first_fifth_of_a_long_run_is_a_fifth_of_its_steps() -> None:
    series = course_of([float(step) for step in range(1, 1537)]).series("reward")
    assert len(series) <= MOST_POINTS
    first, last = series.fifths()
    assert (first, last) == (pytest.approx(154.0, abs=1.5), pytest.approx(1383.0, abs=1.5))
    assert (series.mean(), series.median()) == (pytest.approx(768.5), pytest.approx(768.5, abs=1.0))
    assert series.blocks(4) == pytest.approx([192.5, 576.5, 960.5, 1344.5], abs=2.0)
    assert series.covered == 1536


def test_windows_are_counted_in_steps_however_often_a_run_is_logged() -> None:
    course = Course(Facts(total_steps=300))
    for step in range(25, 301, 25):
        course.add(step, {"reward": float(step)})
    recent, start = course.recent("reward"), course.start("reward")
    assert recent is not None
    assert start is not None
    assert (recent.steps.tolist(), start.steps.tolist()) == ([275.0, 300.0], [25.0, 50.0])


def test_the_first_line_of_a_run_that_is_joined_late_stands_for_no_more_than_the_next() -> None:
    course = Course(Facts())
    for step in (5000, 5010, 5020):
        course.add(step, {"reward": 1.0})
    assert course.series("reward").weights.tolist() == [10.0, 10.0, 10.0]


def test_a_course_that_was_written_without_weights_is_read_by_the_distances_of_its_points() -> None:
    course = Course(Facts())
    course.restore({"step": 6, "points": {"reward": [[1.5, 3.5, 5.0, 6.0], [1.0] * 4]}, "not_finite": {}})
    assert course.series("reward").weights.tolist() == [2.0, 2.0, 1.5, 1.0]


def test_what_is_not_finite_is_remembered_and_kept_out_of_the_series() -> None:
    course = course_of([1.0, math.nan, 2.0])
    course.add(4, {"loss": "inf", "note": "text", "flag": True})
    assert course.series("reward").values.tolist() == [1.0, 2.0]
    assert course.not_finite == {"reward": 2, "loss": 4}


def test_memory_stays_bounded_and_means_stay_right() -> None:
    course = course_of([float(n % 2) for n in range(5000)])
    series = course.series("reward")
    assert len(series) <= MOST_POINTS
    assert series.steps[-1] == 5000
    assert series.mean() == pytest.approx(0.5, abs=0.01)


def test_the_place_of_the_total_comes_from_the_declared_ranges() -> None:
    facts = Facts(weights={"a": 2.0, "b": -1.0, "c": 0.0}, ranges={"a": (0.0, 1.0), "b": (0.0, 1.0)})
    assert facts.bounds() == (-1.0, 2.0)
    course = Course(facts)
    for step in range(1, 6):
        course.add(step, {"reward": 0.5})
    assert course.place() == pytest.approx(0.5)
    course.facts = Facts(weights={"a": 1.0}, ranges={"a": None})
    assert course.place() is None
    course.add(6, {"groups/highest": 1.0, "groups/lowest": 0.0})
    assert course.place() == pytest.approx(0.5)


def test_a_course_survives_a_checkpoint() -> None:
    course = course_of([1.0, math.nan, 3.0])
    other = Course(course.facts)
    other.restore(json.loads(json.dumps(course.to_json())))
    other.add(4, {"reward": 4.0})
    assert other.series("reward").values.tolist() == [1.0, 3.0, 4.0]
    assert (other.step, other.not_finite) == (4, {"reward": 2})


def test_the_primary_is_the_one_trained_reward_of_kind_correctness() -> None:
    kinds = {"a": "correctness", "b": "format", "c": "correctness"}
    assert Facts(weights={"a": 1.0, "b": 1.0, "c": 0.0}, kinds=kinds).primary == "rewards/a/mean"
    assert Facts(weights={"a": 1.0, "c": 1.0}, kinds=kinds).primary == "reward"
