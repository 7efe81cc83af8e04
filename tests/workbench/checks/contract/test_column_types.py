EQUALS = """
def reward(completions, answer, **kwargs):
    return [float(c[-1]["content"].rpartition(" ")[2] == a) for c, a in zip(completions, answer)]
"""


def rows(answers: list[object]) -> list[dict[str, object]]:
    return [
        {
            "prompt": [{"role": "user", "content": "p"}],
            "completion": [{"role": "assistant", "content": f"it is {n}"}],
            "answer": answer,
        }
        for n, answer in enumerate(answers)
    ]


def test_text_compared_with_integers_is_found(check):
    [finding] = check(EQUALS, "RW115", rows=rows([0, 7, 2]))
    assert finding.severity == "error"
    assert (
        "the column 'answer' holds int (0) and is compared with something else; as str ('0')"
        in finding.message
    )
    assert (finding.evidence.got, finding.evidence.expected) == (0.0, 1.0)


def test_constant_is_not_told_again_beside_its_reason(check):
    assert [finding.check for finding in check(EQUALS, "RW115 RW6", rows=rows([0, 7, 2]))] == ["RW115"]


def test_numbers_compared_with_text_are_found(check):
    source = EQUALS.replace('c[-1]["content"].rpartition(" ")[2]', 'int(c[-1]["content"].rpartition(" ")[2])')
    [finding] = check(source, "RW115", rows=rows(["0", "7", "2"]))
    assert "holds str ('0')" in finding.message


def test_comparison_of_like_with_like_is_left_alone(check):
    assert check(EQUALS, "RW115", rows=rows(["0", "7", "2"])) == []


def test_constant_for_another_reason_is_left_alone(check):
    source = "def reward(completions, answer, **kwargs): return [0.0 for _ in completions]"
    assert check(source, "RW115", rows=rows([0, 7, 2])) == []
