import math
import re

import pytest

from workbench.checks.robustness.growth import Growth, fitted, pattern_growth, processor_seconds
from workbench.checks.robustness.pumps import pumps_of
from workbench.checks.robustness.slow_pattern import severity_of

S = re.DOTALL
EXPONENTIAL = [
    (r"^(a+)+$", 0, "match"),
    (r"^(\w+\s?)*$", 0, "match"),
    (r"^(?:[^<]|<[^/])*?(\s*\d+\s*,?)+</answer>", 0, "search"),
    (r"(\d+|\d+\.\d*|\.\d+|,)+\s*\}$", 0, "search"),
    (r"^((?:<step>.*?</step>\s*)+)+<answer>", S, "match"),
]
POLYNOMIAL = [
    (r"<answer>\s*(.*?)\s*</answer>", S, "search", "warning"),  # cubic: a thousand blanks take a second
    (r"\s+$", 0, "search", "info"),
    (r"^<think>.*?</think>\s*<answer>.*?</answer>$", S, "match", "info"),
    (r"^<think>\n.*?\n</think>\n<answer>\n.*?\n</answer>$", S | re.M, "match", "info"),
]
HARMLESS = [
    (r"\\boxed\{([^{}]*)\}", 0, "search"),
    (r"```python\n(.*?)```", S, "search"),
    (r"####\s*(-?[\d,\.]+)", 0, "search"),
    (r"^\d+\.\s", re.M, "search"),
    (r"\b(?:therefore|thus|hence)\b", re.I, "search"),
    (r"^<think>[^<]*</think><answer>[^<]*</answer>\Z", 0, "match"),
]


@pytest.mark.parametrize(("pattern", "flags", "method"), EXPONENTIAL)
def test_patterns_that_never_end_are_found_with_a_short_text(pattern, flags, method):
    growth = pattern_growth(pattern, flags, method)
    assert growth is not None
    assert growth.kind == "exponential"
    assert len(growth.text) < 500
    assert severity_of(growth) == "error"


@pytest.mark.parametrize(("pattern", "flags", "method", "severity"), POLYNOMIAL)
def test_patterns_that_grow_with_a_power_are_found_and_the_everyday_ones_are_notes(
    pattern, flags, method, severity
):
    growth = pattern_growth(pattern, flags, method)
    assert growth is not None
    assert growth.kind == "polynomial"
    assert 1.5 <= growth.exponent < 4
    # seconds depend on the machine; the growth does not
    same = Growth(**{**vars(growth), "at_long": min(growth.at_long, 0.9) if severity == "info" else 9.0})
    assert severity_of(same) == severity


@pytest.mark.parametrize(("pattern", "flags", "method"), HARMLESS)
def test_harmless_patterns_are_left_alone(pattern, flags, method):
    assert pattern_growth(pattern, flags, method) is None


def test_runs_of_blanks_alone_are_a_note_however_slow_the_machine():
    quadratic = Growth("polynomial", 2.0, "", " ", " " * 2000, 8000, 0.5, 8.0)
    assert severity_of(quadratic) == "info"
    assert severity_of(Growth(**{**vars(quadratic), "again": "a "})) == "warning"


def test_a_possessive_repeat_and_a_bounded_one_never_run_away():
    assert pattern_growth(r"^(?:a++)+$", 0, "match") is None
    assert pattern_growth(r"^(a{1,3}b)+$", 0, "match") is None


def test_pattern_that_python_does_not_accept_has_no_pumps():
    assert pumps_of(r"(unclosed") == []


def test_growth_crosses_the_process_boundary_unchanged():
    growth = Growth("exponential", math.inf, "<", "a", "aaa!", 4, 0.1, math.inf)
    assert Growth.from_json(growth.to_json()) == growth


def test_the_exponent_is_the_slope_of_log_time_over_log_length():
    assert fitted([(1000, 0.001), (2000, 0.004), (4000, 0.016)]) == pytest.approx(2.0)
    assert fitted([(1000, 1e-6)]) == 0.0


def test_a_match_is_ended_at_its_limit():
    def never() -> None:
        re.match(r"^(a+)+$", "a" * 60 + "!")

    assert processor_seconds(never, 0.05) >= 0.05
