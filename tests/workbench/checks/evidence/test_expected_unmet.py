from tests.workbench.checks.signal.columns import VALUE, grouped


def expecting(values, wanted):
    rows = grouped([values])
    for row, expected in zip(rows, wanted, strict=True):
        if expected is not ...:
            row["expected"] = {"reward": expected}
    return rows


def test_score_that_is_not_the_expected_one_is_an_error(check):
    [finding] = check(VALUE, "RW703", rows=expecting([1.0, 0.0, 0.5], [1.0, 0.75, ...]))
    assert finding.severity == "error"
    assert "gives 0 to a completion that should get 0.75; 1 of 2 expected scores are met" in finding.message
    assert (finding.evidence.completion, finding.evidence.got) == ("text 1 of 0", 0.0)
    assert finding.evidence.expected == "0.75"


def test_expected_score_is_met_within_a_thousandth(check):
    assert check(VALUE, "RW703", rows=expecting([1 / 3, 1.0], [0.333, 1.0])) == []


def test_expected_abstention_is_judged_too(check):
    [finding] = check(VALUE, "RW703", rows=expecting([1.0, None], [None, None]))
    assert "gives 1 to a completion that should get None; 1 of 2" in finding.message


def test_failure_where_a_score_is_expected_is_told_with_its_error(check):
    source = "def reward(completions, value, **kwargs): return [1 / v for v in value]\n"
    [finding] = check(source, "RW703", rows=expecting([1.0, 0.0], [1.0, 1.0]))
    assert "fails on (ZeroDivisionError" in finding.message


def test_expected_score_of_another_reward_is_not_its_matter(check):
    rows = grouped([[1.0, 0.0]])
    rows[0]["expected"] = {"other": 0.0}
    assert check(VALUE, "RW703", rows=rows) == []
