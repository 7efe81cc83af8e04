ROWS = [{"prompt": "p", "completion": f"c{n}", "log_extra": "x", "answer": "4"} for n in range(3)]
SOURCE = "def reward(completions, **kwargs): return [1.0 for _ in completions]"


def test_column_that_trl_overwrites_is_a_warning(check):
    [finding] = check(SOURCE, "RW125", rows=ROWS)
    assert finding.severity == "warning"
    assert (
        finding.message
        == "The samples have a column 'log_extra': TRL replaces it by its own argument of that name."
    )


def test_ordinary_columns_are_left_alone(check, healthy):
    assert check(healthy, "RW125") == []
