from workbench.checks.subject import Source, spread_rows

TEXT = """import re
LIMIT = 3
WORDS = re.compile("a")


def helper(text):
    return WORDS.findall(text)


# a comment
@staticmethod
def reward(completions, **kwargs):
    return [
        float(len(helper(c)) > LIMIT)
        for c in completions
    ]


def other(completions):
    return [1.0]
"""


def test_rows_are_spread_over_the_groups_and_groups_stay_whole():
    groups = [f"g{row // 3}" for row in range(300)]
    rows = spread_rows(groups, 30)
    assert len(rows) == 30
    assert {groups[row] for row in rows} == {f"g{index}" for index in range(0, 100, 10)}


def test_few_rows_are_all_taken():
    assert spread_rows(["a", "a", "b"], 10) == [0, 1, 2]


def test_statement_is_the_innermost_one_without_its_layout():
    source = Source("rewards.py", TEXT)
    assert source.statement(14) == "return [float(len(helper(c)) > LIMIT) for c in completions]"
    assert source.statement(None) == ""


def test_lines_used_follow_helpers_and_constants():
    used = Source("rewards.py", TEXT).lines_used(12)
    assert {2, 3, 6, 7, 11, 12, 14} <= used
    assert not used & {18, 19, 20}


def test_line_of_an_error_is_only_read_in_the_rewards_own_file():
    source = Source("rewards.py", TEXT)
    assert source.line_of("ValueError: no (rewards.py:7)") == 7
    assert source.line_of("ValueError: no (other.py:7)") is None
    assert source.without_place("ValueError: f(x) (rewards.py:7)") == "ValueError: f(x)"


def test_file_that_is_no_python_has_no_lines():
    source = Source("rewards.py", "def (")
    assert source.statement(1) == ""
    assert Source.read(None) == Source()
