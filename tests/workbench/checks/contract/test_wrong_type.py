import pytest


def returning(expression: str) -> str:
    return f"def reward(completions, **kwargs): n = len(completions); return {expression}"


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("['0.5'] * n", "score is str '0.5', not a number"),
        ("[[1.0]] * n", "score is list [1.0], not a number"),
        ("{i: 1.0 for i in range(n)}", "returned a dict"),
        ("1.0", "returned a single float"),
        ("None", "returned None instead of a list"),
        ("[1j] * n", "score is complex"),
    ],
)
def test_what_is_no_list_of_numbers_is_found(check, expression, words):
    [finding] = check(returning(expression), "RW105")
    assert finding.severity == "error"
    assert words in finding.message
    assert finding.count == 8
    assert finding.evidence.completion is not None


@pytest.mark.parametrize(
    "expression",
    [
        "[True] * n",
        "[1] * n",
        "tuple([0.5] * n)",
        "__import__('numpy').ones(n)",
        "list(__import__('numpy').ones(n, dtype='float32'))",
        "__import__('numpy').ones((n, 1))",
        "(0.5 for _ in range(n))",
        "[__import__('fractions').Fraction(1, 2)] * n",
        "[None] * n",
    ],
)
def test_what_trl_reads_as_numbers_is_left_alone(check, expression):
    assert check(returning(expression), "RW105") == []


def test_one_wrong_row_among_numbers_is_named(check):
    source = """
    def reward(completions, **kwargs):
        return ["bad" if "know" in c[0]["content"] else 1.0 for c in completions]
    """
    [finding] = check(source, "RW105")
    assert finding.count == 2
    assert finding.evidence.completion[0]["content"] == "I do not know."
