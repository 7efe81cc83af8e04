import pytest


def doing(statement: str) -> str:
    return f"""
import decimal, os, random, warnings
def reward(completions, **kwargs):
    {statement}
    return [1.0 for _ in completions]
"""


def test_seeding_the_global_generator_is_found(check):
    [finding] = check(doing("random.seed(0)"), "RW123")
    assert finding.severity == "warning"
    assert "seeds a global random generator" in finding.message
    assert "random.Random(seed)" in finding.advice


def test_drawing_from_the_global_generator_is_left_alone(check):
    assert check(doing("random.random()"), "RW123") == []


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("os.chdir('/')", "the current folder"),
        ("os.environ['SCORED'] = '1'", "the environment"),
        ("decimal.getcontext().prec = 5", "the decimal context"),
        ("warnings.simplefilter('ignore', ResourceWarning)", "the warning filters"),
        ("__import__('sys').setrecursionlimit(5000)", "the recursion limit"),
    ],
)
def test_other_state_that_stays_changed_is_found(check, statement, words):
    [finding] = check(doing(statement), "RW123")
    assert f"changes {words}" in finding.message


def test_calculation_that_raises_a_flag_of_the_decimal_context_is_left_alone(check):
    assert check(doing("decimal.Decimal(1) / 3"), "RW123") == []


def test_environment_is_reported_by_names_only(check):
    [finding] = check(doing("os.environ['SCORED'] = 'secret'"), "RW123")
    assert finding.evidence.got == "SCORED"


def test_generator_of_its_own_is_left_alone(check):
    assert check(doing("random.Random(0).random()"), "RW123") == []
